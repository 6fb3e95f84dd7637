import DaybookObjectModel
import DaybookSnapshotStore

/// Rows by object, with how many hold each: what a ``RowCache`` keeps under its lock.
struct RowTable {
    struct Kept {
        /// Nil when somebody has saved a newer one: the next object to fire brings it.
        fileprivate(set) var row: EncodedRow?
        /// Detects an identifier that names another entity for the same number.
        fileprivate let entity: EntityNumber
        fileprivate var holders: Int32
    }

    /// By the words of the objects.
    private var table: [UInt64: Kept] = [:]
    /// When rows were read, by the words of their objects; none as long as the clock is not read.
    private var times: [UInt64: Int64] = [:]

    var count: Int { table.count }

    /// Where an object's row is, until a row is inserted or removed.
    typealias Slot = Dictionary<UInt64, Kept>.Index

    /// Where an object's row is; nil when there is none.
    func slot(of id: GraphID) -> Slot? {
        guard let slot = table.index(forKey: id.word),
            table.values[slot].entity == id.object.entity
        else { return nil }
        return slot
    }

    /// The row in a slot; nil when it is not the last saved one.
    func row(at slot: Slot) -> EncodedRow? { table.values[slot].row }

    /// When the row in a slot was read; 0 when the clock was not read.
    func time(at slot: Slot) -> Int64 { times.isEmpty ? 0 : times[table[slot].key] ?? 0 }

    /// Keeps a row, in place of an older one.
    mutating func set(_ row: EncodedRow?, readAt time: Int64, at slot: Slot) {
        table.values[slot].row = row
        setTime(time, of: table[slot].key)
    }

    /// Drops a row that is older than one that was read.
    ///
    /// - Returns: Whether the one that was read is at least as late as the one kept, or none was kept.
    mutating func outdate(by row: EncodedRow, at slot: Slot) -> Bool {
        guard let kept = table.values[slot].row?.since else { return true }
        if kept < row.since { table.values[slot].row = nil }
        return kept <= row.since
    }

    /// Adds a holder of the row.
    mutating func addHolder(at slot: Slot) { table.values[slot].holders += 1 }

    /// Adds a row with its first holder.
    mutating func insert(_ row: EncodedRow?, readAt time: Int64, for id: GraphID) {
        table[id.word] = Kept(row: row, entity: id.object.entity, holders: 1)
        setTime(time, of: id.word)
    }

    private mutating func setTime(_ time: Int64, of key: UInt64) {
        if time != 0 || !times.isEmpty { times[key] = time }
    }

    /// Removes a holder of a row; without holders the row is removed.
    mutating func removeHolder(of id: GraphID) {
        guard let slot = slot(of: id) else { return }
        table.values[slot].holders -= 1
        guard table.values[slot].holders <= 0 else { return }
        table.remove(at: slot)
        if !times.isEmpty { times[id.word] = nil }
    }

    /// Drops the rows of a store, and keeps their holders.
    mutating func forgetAll(of store: UInt32) {
        let slots = table.indices.filter {
            GraphID.store(ofWord: table[$0].key) == UInt64(store)
        }
        for slot in slots { table.values[slot].row = nil }
    }

    /// Makes the next fault of an object read its row again.
    mutating func forget(_ id: GraphID) {
        if let slot = slot(of: id) { table.values[slot].row = nil }
    }
}
