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

/// SplitMix64: the same numbers for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
