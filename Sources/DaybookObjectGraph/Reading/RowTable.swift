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

    /// By the words of the objects.
    private var table = ObjectTable<Kept>()
    /// When rows were read, by the words of their objects; none as long as the clock is not read.
    private var times: [UInt64: Int64] = [:]

    var count: Int { table.count }

    /// Where an object's row is, until a row is inserted or removed.
    struct Slot {
        fileprivate let place: Int
        fileprivate let word: UInt64
    }

    /// Where an object's row is; nil when there is none.
    func slot(of id: GraphID) -> Slot? {
        guard let place = table.slot(of: id.word), table[place]?.entity == id.object.entity
        else { return nil }
        return Slot(place: place, word: id.word)
    }

    /// The row in a slot; nil when it is not the last saved one.
    func row(at slot: Slot) -> EncodedRow? { table[slot.place]?.row }

    /// When the row in a slot was read; 0 when the clock was not read.
    func time(at slot: Slot) -> Int64 { times.isEmpty ? 0 : times[slot.word] ?? 0 }

    /// Keeps a row, in place of an older one.
    mutating func set(_ row: EncodedRow?, readAt time: Int64, at slot: Slot) {
        table[slot.place]?.row = row
        setTime(time, of: slot.word)
    }

    /// Drops a row that is older than one that was read.
    ///
    /// - Returns: Whether the one that was read is at least as late as the one kept, or none was kept.
    mutating func outdate(by row: EncodedRow, at slot: Slot) -> Bool {
        guard let kept = table[slot.place]?.row?.since else { return true }
        if kept < row.since { table[slot.place]?.row = nil }
        return kept <= row.since
    }

    /// Adds a holder of the row.
    mutating func addHolder(at slot: Slot) { table[slot.place]?.holders += 1 }

    /// Adds a row with its first holder.
    mutating func insert(_ row: EncodedRow?, readAt time: Int64, for id: GraphID) {
        table.makeRoom()
        let word = id.word
        table.put(
            Kept(row: row, entity: id.object.entity, holders: 1), for: word,
            at: table.home(of: word))
        setTime(time, of: word)
    }

    private mutating func setTime(_ time: Int64, of key: UInt64) {
        if time != 0 || !times.isEmpty { times[key] = time }
    }

    /// Removes a holder of a row; without holders the row is removed.
    mutating func removeHolder(of id: GraphID) {
        guard let slot = slot(of: id), let holders = table[slot.place]?.holders else { return }
        guard holders <= 1 else {
            table[slot.place]?.holders -= 1
            return
        }
        table.clear(slot.place)
        table.shrinkIfSparse()
        if !times.isEmpty { times[slot.word] = nil }
    }

    /// Drops the rows of a store, and keeps their holders.
    mutating func forgetAll(of store: UInt32) {
        var places: [Int] = []
        table.forEach { word, place in
            if GraphID.store(ofWord: word) == UInt64(store) { places.append(place) }
        }
        for place in places { table[place]?.row = nil }
    }

    /// Makes the next fault of an object read its row again.
    mutating func forget(_ id: GraphID) {
        if let slot = slot(of: id) { table[slot.place]?.row = nil }
    }
}
