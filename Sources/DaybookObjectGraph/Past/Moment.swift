public import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// A point in the past of a store.
public enum Moment: Sendable, Hashable {
    /// Just after an entry.
    case sequence(SequenceNumber)
    /// Just after the last entry of the journal that happened at or before a date.
    case date(Date)
    /// Just after the entry that has a name; see ``PersistentContainer/setTag(_:at:author:note:existing:)``.
    case tag(String)
    /// Just after the newest entry at the time of use.
    case head
}

extension PersistentStoreCoordinator {
    /// The last entry of each store that is seen at a moment, by the store's number.
    ///
    /// A number and a tag are of the first store; the other stores are seen as they were when that
    /// entry happened.
    ///
    /// - Throws: ``StoreError`` with code `noSuchStore` when there is no store; with `noSuchEntry` when
    ///   the journal does not reach that far; with `noSuchTag`.
    func sequences(at moment: Moment) throws -> [UInt32: SequenceNumber] {
        let stores = persistentStores
        guard let first = stores.first else { throw StoreError.noStore() }
        switch moment {
        case .sequence(let number):
            return try sequences(at: number, of: first, and: stores.dropFirst())
        case .tag(let name):
            return try sequences(
                at: first.tag(named: name).sequence, of: first, and: stores.dropFirst())
        case .date(let date):
            return try sequences(in: stores[...], atTime: date.microseconds)
        case .head:
            return try byNumber(stores[...]) { try $0.head() }
        }
    }

    private func sequences(
        at number: SequenceNumber, of first: PersistentStore,
        and others: ArraySlice<PersistentStore>
    ) throws -> [UInt32: SequenceNumber] {
        let head = try first.head()
        guard number <= head else { throw StoreError.noSuchMoment(number, head: head) }
        // Only other stores need the time, and the entry may be long.
        if others.isEmpty { return [first.number: number] }
        let time = number > .zero ? try first.store.heading(of: number).time : .min
        var sequences = try sequences(in: others, atTime: time)
        sequences[first.number] = number
        return sequences
    }

    private func sequences(
        in stores: ArraySlice<PersistentStore>, atTime time: Int64
    ) throws -> [UInt32: SequenceNumber] {
        try byNumber(stores) { try $0.store.sequence(atTime: time) }
    }

    private func byNumber(
        _ stores: ArraySlice<PersistentStore>,
        _ sequence: (PersistentStore) throws -> SequenceNumber
    ) rethrows -> [UInt32: SequenceNumber] {
        Dictionary(try stores.map { ($0.number, try sequence($0)) }) { first, _ in first }
    }
}

extension Date {
    /// Microseconds since 1970, rounded down.
    var microseconds: Int64 {
        Int64(clampingDouble: (timeIntervalSince1970 * 1_000_000).rounded(.down))
    }

    /// The date of microseconds since 1970.
    init(microseconds: Int64) {
        self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
}

extension Int64 {
    fileprivate init(clampingDouble number: Double) {
        if number.isNaN || number <= -0x1p63 {
            self = .min
        } else {
            self = number >= 0x1p63 ? .max : Int64(number)
        }
    }
}
