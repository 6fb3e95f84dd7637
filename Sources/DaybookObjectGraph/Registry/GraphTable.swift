import DaybookObjectModel

/// Indices in a list by object identifier.
struct GraphTable {
    private var table = ObjectTable<Int32>()

    var count: Int { table.count }

    /// The index of an object.
    subscript(id: GraphID) -> Int? {
        table.slot(of: id.word).flatMap { table[$0] }.map(Int.init)
    }

    /// Sets the index of an object.
    mutating func set(_ id: GraphID, to index: Int) {
        table.makeRoom()
        table.put(Int32(index), for: id.word, at: table.home(of: id.word))
    }

    /// Sets the index of an object, unless it has one.
    ///
    /// - Returns: The index that it has already; nil when it had none.
    mutating func insert(_ id: GraphID, at index: Int) -> Int? {
        table.makeRoom()
        let key = id.word
        let home = table.home(of: key)
        if let known = table[home] { return Int(known) }
        table.put(Int32(index), for: key, at: home)
        return nil
    }

    /// Forgets an object.
    ///
    /// - Returns: Its index; nil when it had none.
    mutating func remove(_ id: GraphID) -> Int? {
        guard let home = table.slot(of: id.word), let known = table[home] else { return nil }
        table.clear(home)
        return Int(known)
    }

    /// Makes room for a number of additional keys.
    mutating func reserve(_ more: Int) { table.makeRoom(for: more) }
}
