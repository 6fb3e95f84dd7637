import DaybookObjectModel
import DaybookSnapshotStore

/// Rows by object, with how many hold each: what a ``RowCache`` keeps under its lock.
struct RowTable {
    private struct Kept {
        /// Nil when somebody has saved another since: the next object to fire brings it.
        var row: EncodedRow?
        /// Tells an identifier that names another entity for the same number.
        let entity: EntityNumber
        var holders: Int32
    }

    private var table = ObjectTable<Kept>()
    /// When rows were read, by the words of their objects; none as long as nobody looks at the clock.
    private var times: [UInt64: Int64] = [:]

    var count: Int { table.count }

    /// Where an object's row is kept; nil when none is.
    func place(of id: GraphID) -> Int? {
        guard let place = table.place(of: id.word), table[place]?.entity == id.object.entity else {
            return nil
        }
        return place
    }

    /// The row at a place; nil when it is not what was saved last.
    func row(at place: Int) -> EncodedRow? { table[place]?.row }

    /// When the row at a place was read; 0 when nobody looked at the clock.
    func time(at place: Int) -> Int64 { times.isEmpty ? 0 : times[table.key(at: place)] ?? 0 }

    /// Keeps a row, in place of an older one.
    mutating func set(_ row: EncodedRow?, readAt time: Int64, at place: Int) {
        table[place]?.row = row
        note(time, of: table.key(at: place))
    }

    /// Has a row brought anew where it is older than one that was read.
    ///
    /// - Returns: Whether the one that was read is as late as the one kept; as it is when none is.
    mutating func outdate(by row: EncodedRow, at place: Int) -> Bool {
        guard let kept = table[place]?.row?.since else { return true }
        if kept < row.since { table[place]?.row = nil }
        return kept <= row.since
    }

    /// One more holds the row.
    mutating func addHolder(at place: Int) { table[place]?.holders += 1 }

    /// Takes in a row with its first holder.
    mutating func insert(_ row: EncodedRow?, readAt time: Int64, for id: GraphID) {
        table.makeRoom()
        let kept = Kept(row: row, entity: id.object.entity, holders: 1)
        table.put(kept, for: id.word, at: table.home(of: id.word))
        note(time, of: id.word)
    }

    private mutating func note(_ time: Int64, of key: UInt64) {
        if time != 0 || !times.isEmpty { times[key] = time }
    }

    /// One less holds a row; the last one takes it out.
    mutating func removeHolder(of id: GraphID) {
        guard let place = place(of: id) else { return }
        table[place]?.holders -= 1
        guard let holders = table[place]?.holders, holders <= 0 else { return }
        table.clear(place)
        if !times.isEmpty { times[id.word] = nil }
    }

    /// Has the rows of a store brought anew, and keeps their holders.
    mutating func forgetAll(of store: UInt32) {
        var places: [Int] = []
        table.forEach { key, place in
            if GraphID.store(ofWord: key) == UInt64(store) { places.append(place) }
        }
        for place in places { table[place]?.row = nil }
    }

    /// Has a row brought anew.
    mutating func forget(_ id: GraphID) {
        if let place = place(of: id) { table[place]?.row = nil }
    }
}
