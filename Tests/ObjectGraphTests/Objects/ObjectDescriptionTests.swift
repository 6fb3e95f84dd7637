import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@Suite struct ObjectDescriptionTests {
    enum Kind: Int, AttributeValue { case small = 1, large }

    final class Tram: ManagedObject {
        @Attribute var line: String = ""
        @Attribute var kind: Kind = .small
        @Attribute var tags: [String] = []
        @Attribute var price: Decimal?
        @Attribute(.confidential) var code: String?
        @Relationship(inverse: .itself) var coupled: Set<Tram>
    }

    final class Named: ManagedObject, CustomStringConvertible {
        @Attribute var name: String = ""
        var description: String { "the one called \(name)" }
    }

    @Test func `an object is printed with its name, its state and the values that it has`() throws {
        try ClassStore([Tram.self]).inContext { context in
            let tram = Tram(context: context)
            tram.line = "12\n"
            tram.kind = .large
            tram.tags = ["a"]
            tram.code = "secret"
            let values = #": code: …, kind: 2, line: "12\n", tags: ["a"]"#

            #expect("\(tram)" == "Tram/1 (inserted)" + values)
            try context.save()
            #expect("\(tram)" == "Tram/1" + values)
            tram.price = 3
            #expect("\(tram)".hasPrefix("Tram/1 (updated): "))
            #expect("\(tram)".contains("price: 3"))
            context.delete(tram)
            #expect("\(tram)".hasPrefix("Tram/1 (deleted): "))
        }
    }

    @Test func `printing a fault leaves it one`() throws {
        try ClassStore([Tram.self]).inContext { context in
            let tram = Tram(context: context)
            try context.save()
            context.refresh(tram, mergeChanges: false)

            #expect("\(tram)" == "Tram/1 (fault)")
            #expect(tram.isFault)
        }
    }

    @Test func `an object whose context has forgotten it says so`() throws {
        try ClassStore([Tram.self]).inContext { context in
            let tram = Tram(context: context)
            tram.line = "12"
            context.rollback()

            #expect("\(tram)".contains("without context"))
        }
    }

    @Test func `a class may say how its objects are printed`() throws {
        try ClassStore([Named.self]).inContext { context in
            let named = Named(context: context)
            named.name = "Bob"

            #expect("\(named)" == "the one called Bob")
            #expect(named.debugDescription.contains(#"name: "Bob""#))
        }
    }
}
