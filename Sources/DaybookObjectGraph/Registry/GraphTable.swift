import DaybookObjectModel

/// Places in a list by object identifier.
struct GraphTable {
    private var table = ObjectTable<Int32>()

    var count: Int { table.count }

    /// The place noted for an object.
    subscript(id: GraphID) -> Int? {
        table.place(of: id.word).flatMap { table[$0] }.map(Int.init)
    }

    /// Notes the place of an object.
    mutating func set(_ id: GraphID, to place: Int) {
        table.makeRoom()
        table.put(Int32(place), for: id.word, at: table.home(of: id.word))
    }

    /// Notes the place of an object, unless one is noted.
    ///
    /// - Returns: The place that was noted; nil when there was none.
    mutating func insert(_ id: GraphID, at place: Int) -> Int? {
        table.makeRoom()
        let key = id.word
        let home = table.home(of: key)
        if let known = table[home] { return Int(known) }
        table.put(Int32(place), for: key, at: home)
        return nil
    }

    /// Forgets an object.
    ///
    /// - Returns: Its place; nil when none was noted.
    mutating func remove(_ id: GraphID) -> Int? {
        guard let home = table.place(of: id.word), let known = table[home] else { return nil }
        table.clear(home)
        return Int(known)
    }

    /// Makes room for so many more.
    mutating func reserve(_ more: Int) { table.makeRoom(for: more) }
}
