import DaybookNewFiles
import DaybookTestSupport
import Foundation
import Testing

/// Folders with files that are not complete.
struct UnfinishedFolderTests {
    @Test func `a folder that somebody needs stays when another of its name is made`() throws {
        let directory = try TemporaryDirectory()
        let first = try DraftFile(for: directory.path("copy"))
        defer { first.discard() }
        try first.makeEmpty()

        let second = try DraftFile(for: directory.path("copy"))
        second.discard()

        #expect(FileManager.default.fileExists(atPath: first.path))
    }

    @Test func `a folder that nobody needs goes when another of its name is made, and no other`()
        throws
    {
        let directory = try TemporaryDirectory()
        let names = [
            "copy.0123456789ab", "copy.0123456789a", "copy.0123456789ag", "other.0123456789ab",
        ]
        for name in names {
            let folder = directory.url.appending(path: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try Data("content".utf8).write(to: folder.appending(path: "copy"))
        }
        let kept = directory.url.appending(path: "copy.0123456789ac")
        try Data("a file of that name".utf8).write(to: kept)
        let link = directory.path("copy.0123456789ad")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: directory.path("other.0123456789ab"))

        try DraftFile(for: directory.path("copy")).discard()

        let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(
            Set(left) == Set(names.dropFirst() + ["copy.0123456789ac", "copy.0123456789ad"]))
        #expect(FileManager.default.fileExists(atPath: directory.path("other.0123456789ab/copy")))
    }
}
