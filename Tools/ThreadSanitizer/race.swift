// Two threads add to one number without a lock: what Thread Sanitizer must still see.
import Dispatch
import Foundation
import Synchronization

final class Counter: @unchecked Sendable {
    // @unchecked Sendable although it is not: that is the point.
    var value = 0
}

/// How many threads have begun. Relaxed, so that it puts nothing in order.
let begun = Atomic(0)
let counter = Counter()
let threads = DispatchGroup()
for number in 1...2 {
    threads.enter()
    Thread.detachNewThread {
        // Both must be there: a thread that has ended leaves its place to the next one, and what is
        // done in one place is no race. Dispatch may give all rounds to one thread, so these are ours.
        begun.wrappingAdd(1, ordering: .relaxed)
        while begun.load(ordering: .relaxed) < 2 {}
        DispatchQueue(label: "Daybook.race\(number)").sync {
            for _ in 0..<1_000 { counter.value += 1 }
        }
        threads.leave()
    }
}
threads.wait()
print(counter.value > 0 ? "done" : "nothing was counted")
