import Foundation

/// This program again, as one of several processes.
final class Child {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ words: [String]) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = words
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// The next line that it prints.
    func line() throws -> String {
        var bytes = Data()
        while true {
            let byte = output.fileHandleForReading.readData(ofLength: 1)
            if byte.isEmpty || byte == Data("\n".utf8) {
                return String(decoding: bytes, as: UTF8.self)
            }
            bytes += byte
        }
    }

    func go() throws { try input.fileHandleForWriting.write(contentsOf: Data([0])) }

    func wait() { process.waitUntilExit() }
}

/// Waits on this thread for a task.
func waiting<Result: Sendable>(
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

private final class Outcome<Value: Sendable>: @unchecked Sendable {
    // @unchecked Sendable because a semaphore stands between setting and reading.
    private var result: Result<Value, any Error>?

    func set(_ result: Result<Value, any Error>) { self.result = result }

    func get() throws -> Value {
        guard let result else { throw CancellationError() }
        return try result.get()
    }
}

/// Runs `body` on so many threads at once, and waits for all. Dispatch would run as many at a time as there are cores,
/// and these wait for servers most of the time.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let running = DispatchGroup()
    for index in 0..<count {
        running.enter()
        Thread {
            body(index)
            running.leave()
        }.start()
    }
    running.wait()
}
