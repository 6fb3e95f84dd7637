import DaybookModelFiles
import DaybookObjectModel
import Testing

@Suite struct DerivedAttributeTests {
    private static let derived = [
        ("headcount", "Integer 64", "people.@count"), ("pay", "Integer 32", "people.pay.@sum"),
        ("sortName", "String", "canonical:(name)"), ("loud", "String", "uppercase:(name)"),
        ("now", "Date", "now()"), ("mean", "Double", "people.pay.@avg"),
        ("rich", "Double", "people.pay.@sum"),
    ]

    private static func reading() throws -> ModelReading {
        let attributes = derived.map { name, type, expression in
            "<attribute name=\"\(name)\" attributeType=\"\(type)\" derived=\"YES\" "
                + "derivationExpression=\"\(expression)\" optional=\"YES\"/>"
        }.joined()
        return try ReadModel.entities(
            "<entity name=\"Team\"><attribute name=\"name\" attributeType=\"String\" "
                + "optional=\"YES\"/>\(attributes)<relationship name=\"people\" toMany=\"YES\" "
                + "optional=\"YES\" deletionRule=\"Nullify\" destinationEntity=\"Person\" "
                + "inverseName=\"team\"/></entity><entity name=\"Person\"><attribute name=\"pay\" "
                + "attributeType=\"Integer 32\" optional=\"YES\"/><relationship name=\"team\" "
                + "maxCount=\"1\" optional=\"YES\" deletionRule=\"Nullify\" "
                + "destinationEntity=\"Team\" inverseName=\"people\"/></entity>")
    }

    @Test func `derived attributes of Xcode are derived here as far as a store can`() throws {
        let reading = try Self.reading()

        let team = try #require(reading.model.entities.first { $0.name == "Team" })
        let found = Dictionary(
            uniqueKeysWithValues: team.attributes.map { ($0.name, $0.derivation?.description) })
        #expect(
            found == [
                "name": nil, "headcount": "people.@count", "pay": "people.pay.@sum",
                "sortName": "canonical:(name)", "loud": "uppercase:(name)",
            ])
        #expect(reading.remarks.count == 3)
        #expect(reading.remarks.contains { $0.hasPrefix("'Team.now' is derived from 'now()'") })
        #expect(reading.remarks.contains { $0.hasPrefix("'Team.mean' is derived from") })
        #expect(
            reading.remarks.contains {
                $0.hasPrefix("'Team.rich' of type 'double' cannot be derived from 'pay'")
            })
    }

    @Test func `an index on a derived attribute that is left out is left out with it`() throws {
        let reading = try ReadModel.entities(
            "<entity name=\"Team\"><attribute name=\"name\" attributeType=\"String\" "
                + "optional=\"YES\"/><attribute name=\"rich\" attributeType=\"Double\" "
                + "derived=\"YES\" derivationExpression=\"people.pay.@sum\" optional=\"YES\"/>"
                + "<relationship name=\"people\" toMany=\"YES\" optional=\"YES\" "
                + "deletionRule=\"Nullify\" destinationEntity=\"Person\" inverseName=\"team\"/>"
                + Self.index("both", on: ["name", "rich"]) + Self.index("one", on: ["rich"])
                + "</entity><entity name=\"Person\"><attribute name=\"pay\" "
                + "attributeType=\"Integer 32\" optional=\"YES\"/><relationship name=\"team\" "
                + "maxCount=\"1\" optional=\"YES\" deletionRule=\"Nullify\" "
                + "destinationEntity=\"Team\" inverseName=\"people\"/></entity>")

        let team = try #require(reading.model.entities.first { $0.name == "Team" })
        #expect(team.attributes.map(\.name) == ["name"])
        #expect(team.indexes.isEmpty)
        for name in ["both", "one"] {
            #expect(
                reading.remarks.contains {
                    $0.hasPrefix("The index '\(name)' of 'Team' is left out")
                }, "\(reading.remarks)")
        }
    }

    private static func index(_ name: String, on properties: [String]) -> String {
        "<fetchIndex name=\"\(name)\">"
            + properties.map {
                "<fetchIndexElement property=\"\($0)\" type=\"Binary\" order=\"ascending\"/>"
            }.joined() + "</fetchIndex>"
    }

    @Test func `classes say what is derived, and let only the store set it`() throws {
        let text = try SwiftClasses(Self.reading()).text

        #expect(
            text.contains(
                "@Attribute(.derived(\"people.@count\")) private(set) var headcount: Int64?"))
        #expect(
            text.contains(
                "@Attribute(.derived(\"canonical:(name)\")) private(set) var sortName: String?"))
    }
}
