import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// Telling that a file may have been written, whoever writes.
@Suite(.timeLimit(.minutes(5)))
struct FileWatchTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.path("file") }

    init() throws {
        folder = try TemporaryDirectory()
        try Data("one".utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The looks at a file, from now on.
    private func looks(at path: String) -> (watch: FileWatch, looks: AsyncStream<Void>) {
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        return (FileWatch(path) { look.yield() }, looks)
    }

    private func append(_ text: String, to path: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    @Test func `a write is told to everybody who watches the file`() async throws {
        let (first, firstLooks) = looks(at: path)
        let (second, secondLooks) = looks(at: path)

        try append("two", to: path)

        for await _ in firstLooks { break }
        for await _ in secondLooks { break }
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a write by another name of the file is told`() async throws {
        let other = folder.path("other")
        try FileManager.default.linkItem(atPath: path, toPath: other)
        let (watch, looks) = looks(at: path)

        try append("two", to: other)

        for await _ in looks { break }
        withExtendedLifetime(watch) {}
    }

    @Test func `another file under the name is told`() async throws {
        let other = folder.path("other")
        try Data("new".utf8).write(to: URL(fileURLWithPath: other))
        let (watch, looks) = looks(at: path)

        #expect(rename(other, path) == 0)

        for await _ in looks { break }
        withExtendedLifetime(watch) {}
    }

    @Test func `one that ends leaves another one of the same file in peace`() async throws {
        let count = Mutex(0)
        let (second, looks) = looks(at: path)
        do {
            let first = FileWatch(path) { count.withLock { $0 += 1 } }
            withExtendedLifetime(first) {}
        }
        let before = count.withLock { $0 }

        for number in 0..<5 {
            try append("\(number)", to: path)
            for await _ in looks { break }
        }

        // A look that had begun may be counted.
        #expect(count.withLock { $0 } <= before + 1)
        withExtendedLifetime(second) {}
    }

    @Test func `a file that is not there is looked at now and then`() async throws {
        let (watch, looks) = looks(at: folder.path("none"))

        for await _ in looks { break }
        withExtendedLifetime(watch) {}
    }
}
