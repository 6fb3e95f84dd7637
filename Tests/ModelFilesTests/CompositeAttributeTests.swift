import DaybookModelFiles
import DaybookObjectModel
import Testing

@Suite struct CompositeAttributeTests {
    @Test func `composite attributes of Xcode become attributes with paths`() throws {
        let reading = try ReadModel.fixture("Places.xcdatamodel")

        let guest = try #require(reading.model.entities.first)
        let attributes = Dictionary(
            uniqueKeysWithValues: guest.attributes.map { ($0.name, $0) })
        let address = ["city", "floor", "place.latitude", "place.longitude", "street"]
        #expect(
            Set(attributes.keys)
                == Set(
                    ["name", "seat.latitude", "seat.longitude"]
                        + address.flatMap { ["home.\($0)", "work.\($0)"] }))
        #expect(attributes["home.city"]?.isIndexed == true)
        #expect(attributes["work.city"]?.isIndexed == false)
        #expect(attributes["home.street"]?.isOptional == false)
        #expect(attributes["home.street"]?.rules.maximumLength == 80)
        #expect(attributes["home.floor"]?.defaultValue == .int(1))
        #expect(attributes["seat.latitude"]?.isOptional == true)
        #expect(attributes["work.place.latitude"]?.renamingIdentifier == "office.place.latitude")
        #expect(reading.remarks == [])
    }

    @Test func `a composite attribute that contains itself is refused`() {
        let error = #expect(throws: ModelFileError.self) {
            try ReadModel.entities(
                """
                <entity name="A"><attribute name="a" attributeType="Composite" elementName="X"/></entity>
                <composite name="X"><attribute name="b" attributeType="Composite" elementName="X"/>
                </composite>
                """)
        }
        #expect(error?.problems == ["'A.a.b' is a composite attribute that contains itself."])
    }

    @Test func `a composite attribute whose elements are unknown is left out and told`() throws {
        let reading = try ReadModel.entities(
            """
            <entity name="A"><attribute name="a" attributeType="Composite" elementName="Y"/>
            <attribute name="b" attributeType="Composite"/>
            <attribute name="c" attributeType="Composite" elementName="X" transient="YES"/></entity>
            <composite name="X"><attribute name="x" attributeType="String"/></composite>
            """)

        #expect(reading.model.entities.first?.attributes == [])
        #expect(
            reading.remarks == [
                "'A.a' is a composite attribute and is left out: the file does not say what "
                    + "elements it has.",
                "'A.b' is a composite attribute and is left out: the file does not say what "
                    + "elements it has.",
                "'A.c' is a composite attribute and is left out: here it cannot be transient.",
            ])
    }

    /// Kinds each of which has `width` attributes of the next, the last of them texts.
    private static func kinds(depth: Int, width: Int) -> String {
        let attribute =
            #"<entity name="E"><attribute name="a" attributeType="Composite" "#
            + #"elementName="K1"/></entity>"#
        return (1...depth).reduce(into: attribute) { text, level in
            let type =
                level == depth
                ? #"attributeType="String""#
                : #"attributeType="Composite" elementName="K\#(level + 1)""#
            let elements = (0..<width).map { #"<attribute name="e\#($0)" \#(type)/>"# }
            text += #"<composite name="K\#(level)">"# + elements.joined() + "</composite>"
        }
    }

    @Test func `kinds that multiply are refused before there are too many elements`() {
        let problems = ReadModel.problems {
            try ReadModel.entities(Self.kinds(depth: 9, width: 10))
        }

        #expect(problems.count == 1)
        #expect(
            problems.first?.hasSuffix("has too many elements, or lies too deep.") == true,
            "\(problems)")
    }

    @Test func `kinds that have few elements are read, and one level too many is refused`() throws {
        let reading = try ReadModel.entities(Self.kinds(depth: 3, width: 10))
        let deep = try ReadModel.entities(Self.kinds(depth: 15, width: 1))
        let problems = ReadModel.problems {
            try ReadModel.entities(Self.kinds(depth: 16, width: 1))
        }
        let hopeless = ReadModel.problems {
            try ReadModel.entities(Self.kinds(depth: 100, width: 1))
        }

        #expect(reading.model.entities.first?.attributes.count == 1_000)
        #expect(
            deep.model.entities.first?.attributes.map(\.name)
                == ["a" + String(repeating: ".e0", count: 15)])
        #expect(
            problems == [
                "'E.a\(String(repeating: ".e0", count: 16))' lies in more than 15 composite attributes."
            ])
        #expect(
            hopeless == [
                "'E.a\(String(repeating: ".e0", count: 16))' has too many elements, or lies too deep."
            ])
    }
}
