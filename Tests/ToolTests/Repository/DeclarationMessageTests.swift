import DaybookTestSupport
import Foundation
import Testing

/// The compiler's messages for declarations that beginners write.
///
/// All lines with mistakes are in one file, which is checked once; each has its expected message
/// after `// error:`.
@Suite struct DeclarationMessageTests {
    private static let source = #"""
        import Daybook
        import Foundation

        enum Mood: String, Codable { case happy }
        enum Weather: String { case sunny }
        struct Place: Codable { var city = "" }

        struct Spot: CompositeAttribute {
            var x = 0
            static let elements: [CompositeElement<Spot>] = [CompositeElement(\.x)]
        }

        final class Map: ManagedObject {
            @Attribute var spot = Spot()  // error: a CompositeAttribute is declared with @Composite
        }

        final class Person: ManagedObject {
            @Attribute var level: Int  // error: a mandatory attribute needs a default value
        }
        final class Diary: ManagedObject {
            @Attribute var mood: Mood = .happy  // error: conform the type to AttributeValue
        }
        final class Page: ManagedObject {
            @Attribute var weather: Weather = .sunny  // error: conform the type to AttributeValue
        }
        final class Photo: ManagedObject {
            @Attribute var place: Place = Place()  // error: conform the type to CodableAttributeValue
        }
        final class Album: ManagedObject {
            @Attribute var place: Place?  // error: conform the type to CodableAttributeValue
        }
        final class Song: ManagedObject {
            @Attribute var mood: Mood?  // error: conform the type to CodableAttributeValue
        }
        final class Sky: ManagedObject {
            @Attribute var weather: Weather?  // error: conform the type to AttributeValue
        }
        final class Dog: ManagedObject {
            @Relationship var owner: Person  // error: a to-one relationship may lead to nothing: make it optional
        }
        final class Cat: ManagedObject {
            @Attribute var owner: Person?  // error: a property that leads to an object is a @Relationship
        }
        final class Cow: ManagedObject {
            @Relationship var calves: Set<Cow> = []  // error: the relationships of a new object are empty
        }
        struct Loose {
            @Attribute var count: Int = 1  // error: only a property of a ManagedObject can be an @Attribute
        }
        final class Left: ManagedObject {
            @Relationship(inverse: \Right.left) var right: Right?  // error: name the inverse on one side only
        }
        final class Right: ManagedObject {
            @Relationship(inverse: \Left.right) var left: Left?
        }

        // None of these is a mistake.
        final class Fine: ManagedObject {
            @Attribute var id: UUID = UUID()
            @Attribute(.unique) var code: String
            @Attribute(.required) var level: Int
            @Attribute(default: .distantPast) var due: Date
            @Attribute([.indexed, .confidential]) var name: String = ""
            @Attribute(rules: [.minimum(0)]) var price: Decimal?
            @Transient var shown: String
            @Relationship(inverseName: "friends") var friends: Set<Fine>
            @Relationship([.deny, .renamed("mates")], inverse: .itself) var peers: Set<Fine>
            @Attribute(.renamed("tag")) var label = ""
            @Relationship(isOptional: false) var owner: Person?
            @Relationship var parent: Fine?
            @Relationship(.cascade, inverse: \Fine.parent) var children: [Fine]

            convenience init(code: String, context: ManagedObjectContext) {
                self.init(context: context)
                self.code = code
            }
        }
        """#

    @Test func `each mistake of a declaration has a sentence that says what to write`() throws {
        let talk = try SwiftCompiler.talk(about: Self.source)

        let lines = Self.source.split(separator: "\n", omittingEmptySubsequences: false)
        var expected = 0
        for (index, line) in lines.enumerated() {
            guard let mark = line.range(of: "// error: ") else { continue }
            let sentence = line[mark.upperBound...]
            let said = talk.split(separator: "\n").filter {
                $0.contains("Declarations.swift:\(index + 1):") && $0.contains(" error: ")
            }
            #expect(said.contains { $0.contains(sentence) }, "\(line)\n\(said)")
            expected += 1
        }
        #expect(expected == 13)
        let fine = lines.firstIndex { $0.contains("None of these") } ?? lines.endIndex
        for (index, line) in lines.enumerated() where index > fine {
            #expect(!talk.contains("Declarations.swift:\(index + 1):"), "\(line)")
        }
    }

    @Test func `a merge whose conflicts nobody looks at is warned of`() throws {
        let talk = try SwiftCompiler.talk(
            about: """
                import Daybook
                import Foundation

                func merge(_ context: ManagedObjectContext, _ save: Notification) throws {
                    try context.mergeChanges()
                    try context.mergeChanges(fromContextDidSave: save)
                    let conflicts = try context.mergeChanges()
                    guard conflicts.isEmpty else { return }
                    _ = try context.mergeChanges(fromContextDidSave: save)
                }
                """)

        let warned = talk.split(separator: "\n").filter { $0.contains(" warning: ") }
        #expect(warned.count == 2, "\(talk)")
        for (line, call) in [
            (5, "mergeChanges(through:)"), (6, "mergeChanges(fromContextDidSave:)"),
        ] {
            #expect(
                warned.contains {
                    $0.contains("swift:\(line):") && $0.contains("'\(call)' is unused")
                })
        }
    }
}
