internal import Dispatch
internal import Foundation

/// The cores besides the one that a caller runs on, and how work gets to them.
package struct OtherCores: Sendable {
    /// How many there are.
    package let count: Int
    private let begin: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Cores of a number, to which work gets in a way of its own.
    ///
    /// - Parameters:
    ///   - count: How many there are.
    ///   - begin: Has work done soon, late or not at all.
    package init(
        count: Int, begin: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        (self.count, self.begin) = (count, begin)
    }

    /// All of the processor's, through the threads that everybody shares.
    package static let all = OtherCores(
        count: ProcessInfo.processInfo.activeProcessorCount - 1
    ) { work in DispatchQueue.global().async(execute: work) }

    /// None.
    package static let none = OtherCores(count: 0) { _ in }

    /// Has work done, perhaps late, when threads are free again. Nobody may wait for its beginning.
    func run(_ work: @escaping @Sendable () -> Void) { begin(work) }
}
