import DaybookLMDB
import Dispatch
import Foundation
import Synchronization

extension String {
    var bytes: [UInt8] { Array(utf8) }
}

extension RawSpan {
    var text: String {
        withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    var array: [UInt8] {
        withUnsafeBytes { Array($0) }
    }
}

/// Runs `body` on a thread of its own and waits for it.
func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let box = ErrorBox(failure)
    let done = DispatchSemaphore(value: 0)
    Thread {
        do { try body() } catch { box.value.withLock { $0 = error } }
        done.signal()
    }.start()
    done.wait()
    if let error = box.value.withLock({ $0 }) { throw error }
}

/// Waits in `body`, on a thread of its own: the threads that run tests are few, and what is waited for may
/// need them.
func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { done in
        Thread {
            body()
            done.resume()
        }.start()
    }
}

/// Runs `body` on several threads concurrently and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void) throws {
    let box = ErrorBox(Mutex(nil))
    let done = DispatchGroup()
    for index in 0..<count {
        done.enter()
        Thread {
            do { try body(index) } catch { box.value.withLock { $0 = error } }
            done.leave()
        }.start()
    }
    done.wait()
    if let error = box.value.withLock({ $0 }) { throw error }
}

private final class ErrorBox: Sendable {
    let value: Mutex<(any Error)?>

    init(_ value: consuming Mutex<(any Error)?>) {
        self.value = value
    }
}
