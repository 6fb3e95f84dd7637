import Daybook
import Foundation

/// The time from the beginning of another process's save to the entry in a loop that follows the store.
///
/// The other process is this program again. It writes down the time and saves, when it is told to.
struct Waking {
    /// The word that makes this program the other process.
    static let writer = "--waking-writer"
    /// The figure is the median of this many saves.
    private let saves: Int

    init(scaleName: String) {
        saves = scaleName == "tiny" ? 5 : 201
    }

    /// The times, in seconds.
    func run() throws -> [Double] {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let url = folder.url.appendingPathComponent("waking.daybook")
        let container = try Self.open(url)
        guard let store = container.persistentStoreCoordinator.persistentStores.first,
            let program = Bundle.main.executableURL
        else { return [] }
        let (child, orders, times) = (Process(), Pipe(), Pipe())
        child.executableURL = program
        child.arguments = [Self.writer, url.path]
        child.standardInput = orders
        child.standardOutput = times
        try child.run()
        let count = saves
        let measured = try Self.waiting {
            var entries = try store.changes(since: .head).makeAsyncIterator()
            var measured: [Double] = []
            for _ in 0..<count {
                try orders.fileHandleForWriting.write(contentsOf: Data([0]))
                _ = try await entries.next()
                let arrived = Self.now()
                let bytes = times.fileHandleForReading.readData(ofLength: 8)
                let begun = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                measured.append(Double(arrived - begun) / 1e9)
            }
            return measured
        }
        try orders.fileHandleForWriting.close()
        child.waitUntilExit()
        return measured
    }

    /// What the other process does: a save for each byte of its input.
    static func write(to path: String) throws {
        let container = try open(URL(fileURLWithPath: path))
        let context = container.newBackgroundContext()
        while !FileHandle.standardInput.readData(ofLength: 1).isEmpty {
            var begun: UInt64 = 0
            try context.performAndWait { () throws in
                Contact(context: context).name = "woken"
                begun = now()
                try context.save()
            }
            let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: begun >> ($0 * 8)) }
            FileHandle.standardOutput.write(Data(bytes))
        }
    }

    /// Saves do not wait for the disk, whose time is none of waking.
    private static func open(_ url: URL) throws -> PersistentContainer {
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        return try PersistentContainer(url, model: [Contact.self], options: options)
    }

    /// Nanoseconds of a clock that all processes share.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func waiting<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        let outcome = Outcome<Result>()
        let done = DispatchSemaphore(value: 0)
        Task {
            do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
            done.signal()
        }
        done.wait()
        return try outcome.get()
    }
}

/// The result of a task for which a thread waits.
private final class Outcome<Value: Sendable>: @unchecked Sendable {
    // @unchecked Sendable because a semaphore stands between setting and reading.
    private var result: Result<Value, any Error>?

    func set(_ result: Result<Value, any Error>) { self.result = result }

    func get() throws -> Value {
        guard let result else { throw CancellationError() }
        return try result.get()
    }
}
