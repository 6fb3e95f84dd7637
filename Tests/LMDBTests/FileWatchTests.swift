import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// Telling that a file may have been written, whoever writes.
@Suite struct FileWatchTests {
    private let folder: TemporaryDirectory
    /// One that looks at nothing by itself, so that only the kernel's notices wake it.
    private let watcher = FileWatcher(
        FileWatcher.Waits(told: .seconds(86_400), untold: .seconds(86_400)))
    private var path: String { folder.path("file") }

    init() throws {
        folder = try TemporaryDirectory()
        try Data("one".utf8).write(to: URL(fileURLWithPath: path))
    }

    /// The looks at a file, from now on.
    private func looks(
        at path: String, by watcher: FileWatcher? = nil
    ) -> (watch: FileWatch, looks: AsyncStream<Void>) {
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        return (FileWatch(path, by: watcher ?? self.watcher) { look.yield() }, looks)
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

    @Test func `what this process writes is told, and looked at together`() async throws {
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        let count = Mutex(0)
        let watch = FileWatch(path, by: watcher, isWriting: { true }) {
            count.withLock { $0 += 1 }
            look.yield()
        }
        let begin = ContinuousClock.now

        for number in 0..<500 { try append("\(number)", to: path) }

        for await _ in looks { break }
        let counted = count.withLock { $0 }
        let passed = ContinuousClock.now - begin
        #expect(Double(counted) <= 1 + passed / .milliseconds(2))
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
            let first = FileWatch(path, by: watcher) { count.withLock { $0 += 1 } }
            withExtendedLifetime(first) {}
        }
        let before = count.withLock { $0 }

        for number in 0..<5 {
            try append("\(number)", to: path)
            for await _ in looks { break }
        }

        #expect(count.withLock { $0 } == before)
        withExtendedLifetime(second) {}
    }

    @Test func `a file that is not there is looked at now and then`() async throws {
        let (watch, looks) = looks(at: folder.path("none"), by: .shared)

        for await _ in looks { break }
        withExtendedLifetime(watch) {}
    }

    @Test func `a file that comes later is told of`() async throws {
        let later = folder.path("later")
        let waits = FileWatcher.Waits(told: .seconds(86_400), untold: .milliseconds(1))
        let (watch, looks) = looks(at: later, by: FileWatcher(waits))
        try Data("one".utf8).write(to: URL(fileURLWithPath: later))

        for number in 0..<20 {
            try append("\(number)", to: later)
            for await _ in looks { break }
        }

        withExtendedLifetime(watch) {}
    }

    @Test func `what is written to a file before the kernel tells of it is looked at`() async throws
    {
        let later = folder.path("later")
        let waits = FileWatcher.Waits(told: .seconds(86_400), untold: .milliseconds(1))
        let (looks, look) = AsyncStream.makeStream(of: Bool.self)
        let watch = FileWatch(later, by: FileWatcher(waits)) {
            let isThere = FileManager.default.fileExists(atPath: later)
            if !isThere {
                _ = FileManager.default.createFile(atPath: later, contents: Data("one".utf8))
            }
            look.yield(isThere)
        }

        for await isThere in looks where isThere { break }

        withExtendedLifetime(watch) {}
    }

    @Test func `the end waits for a look that is under way`() async throws {
        let (path, watcher) = (path, watcher)
        let order = Mutex<[String]>([])
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let watch = Mutex<FileWatch?>(
            FileWatch(path, by: watcher) {
                entered.signal()
                leave.wait()
                order.withLock { $0.append("looked") }
            })
        try append("two", to: path)

        await onThread {
            entered.wait()
            Thread.detachNewThread { leave.signal() }
            withExtendedLifetime(watch.withLock { $0.take() }) {}
            order.withLock { $0.append("ended") }
        }

        #expect(order.withLock { $0 } == ["looked", "ended"])
    }

    @Test func `a look may end its own watch`() async throws {
        let watch = Mutex<FileWatch?>(nil)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let made = FileWatch(path, by: watcher) {
            withExtendedLifetime(watch.withLock { $0.take() }) {}
            end.yield()
        }
        watch.withLock { $0 = made }

        try append("two", to: path)

        for await _ in ends { break }
    }
}
