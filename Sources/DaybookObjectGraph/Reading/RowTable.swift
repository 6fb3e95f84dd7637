import DaybookObjectModel
import DaybookSnapshotStore

/// Rows by object, with how many hold each: what a ``RowCache`` keeps under its lock.
///
/// Open addressing, at most four fifths full, see ``LocalityHash``; a slot is empty when its key
/// is 0.
struct RowTable {
    private struct Slot {
        var key: UInt64
        /// Nil when somebody has saved another since: the next object to fire brings it.
        var row: EncodedRow?
        /// Tells an identifier that names another entity for the same number.
        var entity: EntityNumber
        var holders: Int32

        static let empty = Slot(
            key: 0, row: nil, entity: EntityNumber(rawValue: 0), holders: 0)

        /// What stands here, to be put elsewhere: the row goes along, which costs less than if it were
        /// held twice for a moment.
        mutating func moved() -> Slot {
            Slot(key: key, row: row.take(), entity: entity, holders: holders)
        }
    }

    private var slots: ContiguousArray<Slot> = []
    /// When each row was read; without any as long as nobody asks for ages.
    private var times: ContiguousArray<Int64> = []
    private(set) var count = 0

    /// Where an object's row is kept; nil when none is.
    func place(of id: GraphID) -> Int? {
        guard count > 0 else { return nil }
        let place = place(of: id.word)
        guard slots[place].key != 0, slots[place].entity == id.object.entity else { return nil }
        return place
    }

    /// The row at a place; nil when it is not what was saved last.
    func row(at place: Int) -> EncodedRow? { slots[place].row }

    /// When the row at a place was read; 0 when nobody looked at the clock.
    func time(at place: Int) -> Int64 { times.isEmpty ? 0 : times[place] }

    /// Keeps a row, in place of an older one.
    mutating func set(_ row: EncodedRow?, readAt time: Int64, at place: Int) {
        slots[place].row = row
        note(time, at: place)
    }

    /// Has a row brought anew where it is older than one that was read.
    ///
    /// - Returns: Whether the one that was read is as late as the one kept; as it is when none is.
    mutating func outdate(by row: EncodedRow, at place: Int) -> Bool {
        guard let kept = slots[place].row?.since else { return true }
        if kept < row.since { slots[place].row = nil }
        return kept <= row.since
    }

    /// One more holds the row.
    mutating func addHolder(at place: Int) { slots[place].holders += 1 }

    /// Takes in a row with its first holder.
    mutating func insert(_ row: EncodedRow?, readAt time: Int64, for id: GraphID) {
        if (count + 1) * 5 > slots.count * 4 { grow() }
        let place = place(of: id.word)
        slots[place] = Slot(key: id.word, row: row, entity: id.object.entity, holders: 1)
        note(time, at: place)
        count += 1
    }

    /// One less holds a row; the last one takes it out.
    mutating func removeHolder(of id: GraphID) {
        guard var hole = place(of: id) else { return }
        slots[hole].holders -= 1
        guard slots[hole].holders <= 0 else { return }
        count -= 1
        // The run behind is moved up, so that no probe stops short at the hole.
        var next = LocalityHash.next(hole, mask)
        while slots[next].key != 0 {
            let home = LocalityHash.home(of: slots[next].key, mask)
            if LocalityHash.steps(from: home, to: next, mask)
                >= LocalityHash.steps(from: hole, to: next, mask)
            {
                slots[hole] = slots[next].moved()
                if !times.isEmpty { times[hole] = times[next] }
                hole = next
            }
            next = LocalityHash.next(next, mask)
        }
        slots[hole] = .empty
    }

    /// Has the rows of a store brought anew, and keeps their holders.
    mutating func forgetAll(of store: UInt32) {
        for place in slots.indices where slots[place].key >> 48 == UInt64(store) {
            slots[place].row = nil
        }
    }

    /// Has a row brought anew.
    mutating func forget(_ id: GraphID) {
        if let place = place(of: id) { slots[place].row = nil }
    }

    private mutating func note(_ time: Int64, at place: Int) {
        if time != 0, times.isEmpty {
            times = ContiguousArray(repeating: 0, count: slots.count)
        }
        if !times.isEmpty { times[place] = time }
    }

    private mutating func grow() {
        var oldSlots: ContiguousArray<Slot> = []
        swap(&oldSlots, &slots)
        let oldTimes = times
        let capacity = max(64, oldSlots.count * 2)
        slots = ContiguousArray(repeating: .empty, count: capacity)
        if !times.isEmpty { times = ContiguousArray(repeating: 0, count: capacity) }
        for old in oldSlots.indices where oldSlots[old].key != 0 {
            let place = place(of: oldSlots[old].key)
            slots[place] = oldSlots[old].moved()
            if !oldTimes.isEmpty { times[place] = oldTimes[old] }
        }
    }

    private var mask: Int { slots.count - 1 }

    /// Where a key stands, or the empty slot where it would.
    private func place(of key: UInt64) -> Int {
        let mask = mask
        var place = LocalityHash.home(of: key, mask)
        while slots[place].key != 0, slots[place].key != key {
            place = LocalityHash.next(place, mask)
        }
        return place
    }
}
