import DaybookTestSupport
import Foundation
import Testing

/// Who may read and write the files that the tool makes, whatever the mask allows.
struct FileModeTests {
    private static func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    @Test func `files that hold values are their owner's alone`() throws {
        let library = try LibraryStore()
        let folder = library.folder
        _ = try library.run(["export", "library.daybook", "-f", "jsonl", "--into", "e.jsonl"])
        let export = try String(
            contentsOfFile: folder.url.appending(path: "e.jsonl").path, encoding: .utf8)
        let makers: [(words: [String], file: String)] = [
            (["backup", "library.daybook", "b.daybook"], "b.daybook"),
            (["compact", "library.daybook", "--into", "c.daybook"], "c.daybook"),
            (["recover", "library.daybook", "--into", "r.daybook"], "r.daybook"),
            (["replay", "library.daybook", "--into", "p.daybook"], "p.daybook"),
            (["load", "l.daybook"], "l.daybook"),
            (["export", "library.daybook", "-f", "html", "--into", "e.html"], "e.html"),
            (["export", "library.daybook", "-f", "sqlite", "--into", "e.db"], "e.db"),
            (["keygen", "example.org/x", "--into", "x.key"], "x.key"),
        ]
        for (words, file) in makers {
            let made = try Tool.shell(
                "umask 0; cd '\(folder.url.path)'; \"$DAYBOOK\" \(words.joined(separator: " ")) <e.jsonl"
            )
            #expect(made.status == 0, "\(words): \(made.talk)")
            #expect(try Self.mode(folder.url.appending(path: file).path) == 0o600, "\(file)")
        }
        #expect(!export.isEmpty)
        for file in ["library.daybook", "library.daybook-lock", "e.jsonl"] {
            #expect(try Self.mode(folder.url.appending(path: file).path) == 0o600, "\(file)")
        }
    }

    @Test func `whoever may use a store may use its lock file`() throws {
        let library = try LibraryStore()
        let store = library.folder.url.appending(path: "library.daybook").path
        for hasLockFile in [true, false] {
            if !hasLockFile { try FileManager.default.removeItem(atPath: store + "-lock") }
            let mode = hasLockFile ? 0o660 : 0o664
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: store)

            let ran = try Tool.shell("umask 077; \"$DAYBOOK\" log '\(store)'")

            #expect(ran.status == 0, "\(ran.talk)")
            #expect(try Self.mode(store + "-lock") == mode)
        }
    }
}
