import DaybookJournalLog
import Synchronization

/// What clients have not taken yet, however slow they are: once for all that are at the same entry, and no more bytes
/// than a limit.
///
/// Invariants:
/// - One page and one part of the events at a time is made.
/// - Either is made only while what is kept has fewer bytes than the limit.
final class BytesForClients: Sendable {
    /// What has bytes.
    enum Kind: Hashable {
        /// A page up to an entry.
        case page
        /// Events after an entry.
        case events
    }

    /// An entry; the numbers of a journal that was cut off are those of other entries.
    private struct Place: Equatable {
        let sequence: SequenceNumber
        let rewinds: UInt64
    }

    private struct Latest {
        var place: Place?
        weak var bytes: KeptBytes?
    }

    /// As many bytes as a few reports of ten thousand entries.
    private static let bytesMaximum = 256 << 20

    private let pages = Mutex(Latest())
    private let events = Mutex(Latest())
    private let count = KeptBytes.Count()

    /// The bytes at an entry.
    ///
    /// - Parameters:
    ///   - kind: What has them.
    ///   - sequence: The entry.
    ///   - rewinds: How often the journal had been cut off.
    ///   - make: Makes them, and tells the last entry that they are about, while other clients wait.
    /// - Returns: The bytes; nil while clients keep too many others.
    /// - Throws: What `make` throws.
    func bytes(
        of kind: Kind, at sequence: SequenceNumber, _ rewinds: UInt64,
        make: () throws -> (bytes: [UInt8], reached: SequenceNumber)
    ) throws -> KeptBytes? {
        switch kind {
        case .page: try bytes(in: pages, Place(sequence: sequence, rewinds: rewinds), make)
        case .events: try bytes(in: events, Place(sequence: sequence, rewinds: rewinds), make)
        }
    }

    private func bytes(
        in mutex: borrowing Mutex<Latest>, _ place: Place,
        _ make: () throws -> (bytes: [UInt8], reached: SequenceNumber)
    ) throws -> KeptBytes? {
        try mutex.withLock { latest in
            if let bytes = latest.bytes, latest.place == place { return bytes }
            guard count.bytes < Self.bytesMaximum else { return nil }
            let made = try make()
            let bytes = KeptBytes(made.bytes, reached: made.reached, countedIn: count)
            (latest.place, latest.bytes) = (place, bytes)
            return bytes
        }
    }
}

/// Bytes that are kept for as long as a client takes them.
final class KeptBytes: Sendable {
    /// How many bytes there are in all.
    final class Count: Sendable {
        private let number = Atomic(0)

        var bytes: Int { number.load(ordering: .acquiring) }

        fileprivate func add(_ bytes: Int) {
            number.add(bytes, ordering: .acquiringAndReleasing)
        }
    }

    let bytes: [UInt8]
    /// The last entry that they are about.
    let reached: SequenceNumber
    private let count: Count?

    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - reached: The last entry that they are about.
    ///   - count: What they are counted in; nil for few.
    init(_ bytes: [UInt8], reached: SequenceNumber, countedIn count: Count? = nil) {
        self.bytes = bytes
        self.reached = reached
        self.count = count
        count?.add(bytes.count)
    }

    deinit { count?.add(-bytes.count) }
}
