import Daybook
import DaybookModelFiles
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// The classes that are written for models of Xcode, in use.
///
/// The files `GamesClasses.swift`, `EverythingClasses.swift` and `PlacesClasses.swift` of this folder are
/// what is written, to the letter, after one line for the formatter.
@Suite struct ModelFileClassesTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    private static let classes: [String: [ManagedObject.Type]] = [
        "Games": [
            AnyCollection.self, GLFolder.self, GLGame.self, Picture.self, GLSmartCollection.self,
        ],
        "Everything": [Base.self, Thing.self], "Places": [Guest.self],
    ]

    @Test(arguments: ["Games", "Everything", "Places"])
    func `the classes that are written declare the model that was read`(name: String) throws {
        let path = Fixture.folder.appending(path: "models-from-xcode/\(name).xcdatamodel").path
        let reading = try ModelFile(at: path).read()

        let written = try SwiftClasses(reading).text
        let file = Self.folder.appending(path: "\(name)Classes.swift")
        #expect(
            try String(contentsOf: file, encoding: .utf8) == "// swift-format-ignore-file\n"
                + written)

        let declared = try PersistentStoreCoordinator(classes: #require(Self.classes[name]))
        var expected = reading.model
        expected.configurations = [:]
        #expect(declared.managedObjectModel.canonical == expected.canonical)
    }

    @Test func `a store is kept with them`() throws {
        let folder = try TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        let container = try PersistentContainer(
            folder.url.appending(path: "games.daybook"), model: #require(Self.classes["Games"]))
        let context = container.newBackgroundContext()

        let title = try context.performAndWait {
            let outer = GLFolder(context: context)
            let inner = GLSmartCollection(context: context)
            inner.title = "Unplayed"
            inner.folder = outer
            try context.save()
            context.reset()
            return try context.fetch(FetchRequest<GLFolder>()).first?.parts.first?.title
        }

        #expect(title == "Unplayed")
    }
}
