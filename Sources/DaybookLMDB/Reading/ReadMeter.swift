internal import Synchronization

/// Counts what read transactions read for who asks, and ends reading that nobody wants any more.
///
/// Where nobody asks there is no meter, and each page and each walk costs one look at that. It may be used on
/// several threads at the same time.
package final class ReadMeter: Sendable {
    private let pages = Atomic(0)
    /// The records that were handed out, by the name of the table.
    private let records = Mutex<[String: Int]>([:])
    private let isStopped = Atomic(false)
    /// What is told of records as they are read.
    private let tell: (@Sendable (_ table: String, _ count: Int) -> Void)?

    /// A meter that has counted nothing.
    ///
    /// - Parameter tell: Is told of records while they are read, some at a time, on the threads that read.
    package init(telling tell: (@Sendable (_ table: String, _ count: Int) -> Void)? = nil) {
        self.tell = tell
    }

    /// How many pages were looked at, those of long values among them. One that was met twice counts twice.
    package var pageCount: Int { pages.load(ordering: .relaxed) }

    /// How many records of a table were handed out.
    package func recordCount(of table: String) -> Int { records.withLock { $0[table] ?? 0 } }

    /// Ends all that is read with this meter: soon it throws `CancellationError`.
    package func stop() { isStopped.store(true, ordering: .relaxed) }

    /// - Throws: `CancellationError` when reading is to end.
    package func checkStop() throws {
        if isStopped.load(ordering: .relaxed) { throw CancellationError() }
    }

    func readPages(_ count: Int) { pages.add(count, ordering: .relaxed) }

    /// Counts a record that was looked up.
    func readRecord(of table: Table) throws {
        try checkStop()
        add(1, to: table.name)
    }

    fileprivate func add(_ count: Int, to table: String) {
        guard count > 0 else { return }
        records.withLock { $0[table, default: 0] += count }
        tell?(table, count)
    }
}

/// The records that one walk hands out, which are counted some at a time.
final class WalkMeter {
    private let meter: ReadMeter
    private let table: String
    private var count = 0

    /// After so many it looks whether to go on.
    private static let recordsTogether = 128

    /// - Throws: `CancellationError` when reading is to end.
    init(_ meter: ReadMeter, of table: Table) throws {
        try meter.checkStop()
        self.meter = meter
        self.table = table.name
    }

    /// Counts a record that is handed out.
    ///
    /// - Throws: `CancellationError` when reading is to end.
    func readRecord() throws {
        count += 1
        guard count == Self.recordsTogether else { return }
        end()
        try meter.checkStop()
    }

    /// Takes the last ones into account.
    func end() {
        meter.add(count, to: table)
        count = 0
    }
}
