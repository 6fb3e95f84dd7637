internal import DaybookLMDB
internal import DaybookObjectModel
internal import Synchronization

/// The object numbers that this store may give out without asking the file.
///
/// Invariants: every number in a block was taken from the file in a durable write, by this store
/// alone, and is given out once; unless they are imagined, for objects that are never saved. A copy of the file that is
/// made in between has taken them as well; where that shows, all that are left are given up.
final class ObjectNumbers: Sendable {
    private let blocks = Mutex<[Range<UInt64>]>([])
    private let greatestBound = Atomic<UInt64>(0)
    private let hasImagined = Atomic(false)
    private let countTaken = Mutex(StoreLayout.numberBlockSize / 2)

    /// The end of the last block taken: in the file, all numbers below it are taken. Only unused
    /// numbers are given back when the store is closed.
    var bound: UInt64 { greatestBound.load(ordering: .relaxed) }

    /// How many numbers to take when none is left: twice as many as last time, because each time
    /// costs a durable write.
    func countToTake() -> UInt64 {
        countTaken.withLock { count in
            count = min(count * 2, StoreLayout.numberBlockSizeMaximum)
            return count
        }
    }

    /// The next number; nil when a block has to be taken first.
    func next() -> UInt64? {
        blocks.withLock { blocks in
            guard let first = blocks.first else { return nil }
            if first.count == 1 {
                blocks.removeFirst()
            } else {
                blocks[0] = (first.lowerBound + 1)..<first.upperBound
            }
            return first.lowerBound
        }
    }

    /// Whether the next save should also take a block. A store that has given out no numbers needs
    /// none.
    var isLow: Bool {
        blocks.withLock { blocks in
            !blocks.isEmpty
                && blocks.reduce(0) { $0 + UInt64($1.count) } < StoreLayout.numberBlockLow
        }
    }

    /// Adds a block taken from the file.
    func add(_ block: Range<UInt64>) {
        greatestBound.max(block.upperBound, ordering: .relaxed)
        blocks.withLock { blocks in
            if let last = blocks.last, last.upperBound == block.lowerBound {
                blocks[blocks.count - 1] = last.lowerBound..<block.upperBound
            } else {
                blocks.append(block)
            }
        }
    }

    /// Whether numbers are given out that nobody has taken.
    var areImagined: Bool { hasImagined.load(ordering: .relaxed) }

    /// Gives out numbers from one on that nobody has taken, and none that were.
    func imagine(from first: UInt64) {
        hasImagined.store(true, ordering: .relaxed)
        blocks.withLock { $0 = [first..<first + 1 << 32] }
    }

    /// Forgets the numbers that are left: somebody else gives them out, too.
    func giveUp() {
        guard !areImagined else { return }
        blocks.withLock { $0 = [] }
    }

    /// Removes the last block, to give it back to the file.
    func removeLast() -> Range<UInt64>? {
        blocks.withLock { $0.popLast() }
    }

    /// Extends the reservation over the numbers of inserts that came from elsewhere.
    ///
    /// - Parameters:
    ///   - changes: The changes that are saved.
    ///   - taken: All numbers below are known to be taken.
    ///   - meta: The table with the reservation.
    ///   - transaction: The write transaction.
    /// - Throws: ``StoreError`` when the reservation cannot be read or written.
    static func cover(
        _ changes: [Change], from taken: UInt64 = 0, _ meta: Table,
        in transaction: borrowing WriteTransaction
    ) throws {
        let greatest = maximum(in: changes)
        guard greatest >= taken else { return }
        try cover(greatest, meta, in: transaction)
    }

    /// Extends the reservation over a number that came from elsewhere.
    static func cover(
        _ number: UInt64, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        guard number > 0, try number >= StoreMetadata.reserved(meta, in: transaction)
        else { return }
        try StoreMetadata.setReserved(number + 1, meta, in: transaction)
    }

    /// The greatest number of the new objects; 0 without any.
    static func maximum(in changes: [Change]) -> UInt64 {
        var greatest: UInt64 = 0
        for change in changes where change.isInsert {
            greatest = max(greatest, change.object.number)
        }
        return greatest
    }

    /// Extends the reservation over a block that came from a shared journal: the numbers of a file's objects are taken,
    /// whoever gave them.
    static func cover(
        _ block: Range<UInt64>, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        guard try StoreMetadata.reserved(meta, in: transaction) < block.upperBound else { return }
        try StoreMetadata.setReserved(block.upperBound, meta, in: transaction)
    }

    /// Takes a block from the file.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/full`` when too few numbers are left.
    static func reserve(
        _ meta: Table, count: UInt64 = StoreLayout.numberBlockSize,
        in transaction: borrowing WriteTransaction
    ) throws -> Range<UInt64> {
        let first = try StoreMetadata.reserved(meta, in: transaction)
        guard count <= StoreLayout.objectNumberMaximum + 1 - first else {
            throw StoreError(
                .full,
                "Fewer than \(count) of \(StoreLayout.objectNumberMaximum) object numbers are left."
            )
        }
        let end = first + count
        try StoreMetadata.setReserved(end, meta, in: transaction)
        return first..<end
    }
}
