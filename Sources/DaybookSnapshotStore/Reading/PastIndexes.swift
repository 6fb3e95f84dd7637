internal import DaybookJournalLog
internal import DaybookObjectModel
internal import Synchronization

/// What is known of the indexes of some moments in the past, for the next question about the same moment.
///
/// It holds nothing that the tables do not have, and drops what was asked for longest ago.
final class PastIndexes: Sendable {
    /// What is known of the index of a property at a moment.
    enum Knowledge: Sendable {
        case records(FormerRecords)
        /// So many objects have changed that all of them are read instead.
        case tooMany
    }

    /// The index of a property at a moment.
    struct Place: Hashable, Sendable {
        let property: PropertyNumber
        let moment: SequenceNumber
        /// How often the journal had been cut off: after that other entries follow the moment.
        let rewinds: UInt64
    }

    private struct Item {
        let place: Place
        var knowledge: Knowledge
        var lastUse: UInt64

        var count: Int {
            if case .records(let records) = knowledge { records.count } else { 0 }
        }
    }

    private struct State {
        var items: [Item] = []
        var uses: UInt64 = 0

        var count: Int { items.reduce(0) { $0 + $1.count } }
    }

    private let state = Mutex(State())
    private let countMaximum: Int

    /// How many moments and properties are remembered at most.
    private static let itemsMaximum = 16

    /// - Parameter count: How many records are remembered at most, over all moments and properties.
    init(countMaximum count: Int = 1 << 19) {
        countMaximum = count
    }

    /// What is known of the index of a property at a moment; nil for nothing.
    func knowledge(of place: Place) -> Knowledge? {
        state.withLock { state in
            guard let found = state.items.firstIndex(where: { $0.place == place }) else {
                return nil
            }
            state.uses += 1
            state.items[found].lastUse = state.uses
            return state.items[found].knowledge
        }
    }

    /// Remembers the index of a property at a moment, if there is room for it.
    ///
    /// - Returns: Whether there is.
    func remember(_ records: FormerRecords, of place: Place) -> Bool {
        let hasRoom = hasRoom(for: records.count)
        remember(hasRoom ? .records(records) : .tooMany, of: place)
        return hasRoom
    }

    /// Remembers that too many objects have changed since a moment.
    func rememberTooMany(of place: Place) { remember(.tooMany, of: place) }

    private func remember(_ knowledge: Knowledge, of place: Place) {
        state.withLock { state in
            state.items.removeAll { $0.place == place }
            state.uses += 1
            state.items.append(Item(place: place, knowledge: knowledge, lastUse: state.uses))
            while state.items.count > Self.itemsMaximum || state.count > countMaximum,
                let oldest = state.items.indices.min(by: {
                    state.items[$0].lastUse < state.items[$1].lastUse
                })
            {
                state.items.remove(at: oldest)
            }
        }
    }

    /// Whether so many records of one property may be remembered.
    func hasRoom(for count: Int) -> Bool { count <= countMaximum }
}
