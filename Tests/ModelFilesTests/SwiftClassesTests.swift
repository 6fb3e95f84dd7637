import DaybookModelFiles
import DaybookObjectModel
import Foundation
import Testing

/// The classes that declare a model. That a compiler takes them and makes the same model of them is
/// tested with the command.
@Suite struct SwiftClassesTests {
    @Test func `classes are written as people write them`() throws {
        let classes = try SwiftClasses(ReadModel.fixture("Games.xcdatamodel"))

        #expect(
            classes.text == #"""
                import Daybook
                import Foundation

                class AnyCollection: ManagedObject {
                    @Attribute var title: String?
                    @Relationship var folder: GLFolder?

                    override class var isAbstractEntity: Bool { self == AnyCollection.self }
                }

                final class GLFolder: AnyCollection {
                    @Relationship(.cascade, inverse: \AnyCollection.folder) var parts: Set<AnyCollection>

                    override class var entityName: String { "Folder" }
                }

                final class GLGame: ManagedObject {
                    @Attribute var digest: Data?
                    @Attribute var height: Float? = 0.0
                    @Attribute(rules: [.minimum(0)]) var index: Int16?
                    @Attribute(rules: [.minimum(0), .maximum(5)]) var rating: Int16? = 0
                    @Attribute([.indexed, .required]) var title: String
                    @Relationship(.cascade, inverse: \Picture.Box) var cover: Picture?

                    override class var entityName: String { "Game" }
                }

                final class Picture: ManagedObject {
                    @Relationship var Box: GLGame?
                }

                final class GLSmartCollection: AnyCollection {
                    @Attribute var ascending: Bool = true
                    @Attribute var limit: Int64?

                    override class var entityName: String { "SmartCollection" }
                }

                """#)
        #expect(classes.remarks.isEmpty)
    }

    @Test func `entities with names of Swift get classes with other names`() throws {
        let classes = try SwiftClasses(
            ReadModel.entities(
                """
                <entity name="Set" representedClassName="Shared"><relationship name="default" \
                destinationEntity="Data" deletionRule="Nullify"/></entity>
                <entity name="Data" representedClassName="Shared"/>
                <entity name="class" representedClassName="a b"/>
                """))

        #expect(
            classes.text == """
                import Daybook
                import Foundation

                final class SetObject: ManagedObject {
                    @Relationship(isOptional: false) var `default`: DataObject?

                    override class var entityName: String { "Set" }
                }

                final class DataObject: ManagedObject {
                    override class var entityName: String { "Data" }
                }

                final class classObject: ManagedObject {
                    override class var entityName: String { "class" }
                }

                """)
    }

    @Test func `what classes cannot say is told, and what they cannot have is refused at once`()
        throws
    {
        let told = try SwiftClasses(
            ReadModel.entities(
                """
                <entity name="A" isAbstract="YES" elementID="B"><attribute name="link" \
                attributeType="URI" versionHashModifier="2"/></entity>
                <configuration name="Local"><memberEntity name="A"/></configuration>
                """))
        let refused = ReadModel.problems {
            let reading = try ReadModel.entities(
                """
                <entity name="A"><attribute name="isDeleted" attributeType="Boolean"/>\
                <attribute name="objectID" attributeType="String"/>\
                <attribute name="half½" attributeType="String"/></entity>
                """)
            _ = try SwiftClasses(reading)
            return reading
        }

        #expect(
            told.remarks.map { String($0.prefix { $0 != "," && $0 != ":" }) } == [
                "'A.link' is a mandatory URL without a default value",
                "'A' is abstract and nothing inherits from it",
                "Classes cannot declare the configuration 'Local'",
            ])
        #expect(
            refused.map { String($0.prefix { $0 != " " }) }
                == ["'A.isDeleted'", "'A.objectID'", "'A.half½'"])
    }

    @Test func `classes say earlier names, modifiers, user information and own inverses`() throws {
        let classes = try SwiftClasses(
            ReadModel.entities(
                """
                <entity name="A" elementID="B" versionHashModifier="3">\
                <attribute name="link" optional="YES" attributeType="String" elementID="url" \
                versionHashModifier="2"><userInfo><entry key="k" value="a &quot;b&quot;"/>\
                </userInfo></attribute>\
                <relationship name="friends" optional="YES" toMany="YES" deletionRule="Deny" \
                destinationEntity="A" inverseName="friends" inverseEntity="A" elementID="peers"/>\
                <userInfo><entry key="x" value="1"/><entry key="w" value="2"/></userInfo></entity>
                """))

        #expect(classes.remarks == [])
        #expect(
            classes.text == #"""
                import Daybook
                import Foundation

                final class A: ManagedObject {
                    @Attribute([.renamed("url"), .versionHashModifier("2"), .userInfo(["k": "a \"b\""])])
                    var link: String?
                    @Relationship([.deny, .renamed("peers")], inverse: .itself) var friends: Set<A>

                    override class var renamingIdentifier: String? { "B" }
                    override class var versionHashModifier: String? { "3" }
                    override class var userInfo: [String: String] { ["w": "2", "x": "1"] }
                }

                """#)
    }
}
