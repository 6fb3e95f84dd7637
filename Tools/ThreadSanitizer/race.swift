// Two threads add to one number without a lock: what Thread Sanitizer must still see.
import Dispatch

final class Counter: @unchecked Sendable {
    // @unchecked Sendable although it is not: that is the point.
    var value = 0
}

let counter = Counter()
DispatchQueue.concurrentPerform(iterations: 4) { _ in
    for _ in 0..<2_000_000 { counter.value += 1 }
}
print(counter.value > 0 ? "done" : "nothing was counted")
