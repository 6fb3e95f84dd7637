import DaybookObjectModel
import DaybookSnapshotStore

/// Rows by object, with how many hold each: what a ``RowCache`` keeps under its lock.
struct RowTable {
    private struct Kept {
        /// Nil when somebody has saved a newer one: the next object to fire brings it.
        var row: EncodedRow?
        /// Detects an identifier that names another entity for the same number.
        let entity: EntityNumber
        var holders: Int32
    }

    private var table = ObjectTable<Kept>()
    /// When rows were read, by the words of their objects; none as long as the clock is not read.
    private var times: [UInt64: Int64] = [:]

    var count: Int { table.count }

    /// The slot of an object's row; nil when there is none.
    func slot(of id: GraphID) -> Int? {
        guard let slot = table.slot(of: id.word), table[slot]?.entity == id.object.entity else {
            return nil
        }
        return slot
    }

    /// The row in a slot; nil when it is not the last saved one.
    func row(at slot: Int) -> EncodedRow? { table[slot]?.row }

    /// When the row in a slot was read; 0 when the clock was not read.
    func time(at slot: Int) -> Int64 { times.isEmpty ? 0 : times[table.key(at: slot)] ?? 0 }

    /// Keeps a row, in place of an older one.
    mutating func set(_ row: EncodedRow?, readAt time: Int64, at slot: Int) {
        table[slot]?.row = row
        setTime(time, of: table.key(at: slot))
    }

    /// Drops a row that is older than one that was read.
    ///
    /// - Returns: Whether the one that was read is at least as late as the one kept, or none was kept.
    mutating func outdate(by row: EncodedRow, at slot: Int) -> Bool {
        guard let kept = table[slot]?.row?.since else { return true }
        if kept < row.since { table[slot]?.row = nil }
        return kept <= row.since
    }

    /// Adds a holder of the row.
    mutating func addHolder(at slot: Int) { table[slot]?.holders += 1 }

    /// Adds a row with its first holder.
    mutating func insert(_ row: EncodedRow?, readAt time: Int64, for id: GraphID) {
        table.makeRoom()
        let kept = Kept(row: row, entity: id.object.entity, holders: 1)
        table.put(kept, for: id.word, at: table.home(of: id.word))
        setTime(time, of: id.word)
    }

    private mutating func setTime(_ time: Int64, of key: UInt64) {
        if time != 0 || !times.isEmpty { times[key] = time }
    }

    /// Removes a holder of a row; without holders the row is removed.
    mutating func removeHolder(of id: GraphID) {
        guard let slot = slot(of: id) else { return }
        table[slot]?.holders -= 1
        guard let holders = table[slot]?.holders, holders <= 0 else { return }
        table.clear(slot)
        if !times.isEmpty { times[id.word] = nil }
    }

    /// Drops the rows of a store, and keeps their holders.
    mutating func forgetAll(of store: UInt32) {
        var slots: [Int] = []
        table.forEach { key, slot in
            if GraphID.store(ofWord: key) == UInt64(store) { slots.append(slot) }
        }
        for slot in slots { table[slot]?.row = nil }
    }

    /// Makes the next fault of an object read its row again.
    mutating func forget(_ id: GraphID) {
        if let slot = slot(of: id) { table[slot]?.row = nil }
    }
}
