import DaybookModelFiles
import DaybookTestSupport
import Foundation

/// Reads one of the fixtures, or a text, as the command does.
enum ReadModel {
    static func fixture(_ name: String, version: String? = nil) throws -> ModelReading {
        let url = Fixture.folder.appending(path: "models-from-xcode/\(name)")
        return try ModelFile(at: url.path).read(version: version)
    }

    /// Reads entities that stand in a model file.
    static func entities(_ entities: String) throws -> ModelReading {
        try file("<?xml version=\"1.0\" encoding=\"UTF-8\"?><model>\(entities)</model>")
    }

    static func file(_ content: String) throws -> ModelReading {
        try file(Data(content.utf8))
    }

    static func file(_ content: Data) throws -> ModelReading {
        let folder = try TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        let url = folder.url.appending(path: "contents")
        try content.write(to: url)
        return try ModelFile(at: url.path).read()
    }

    /// The reasons for which a file is refused; none when it is read.
    static func problems(_ read: () throws -> ModelReading) -> [String] {
        do {
            _ = try read()
            return []
        } catch let error as ModelFileError {
            return error.problems
        } catch {
            return ["\(error)"]
        }
    }
}
