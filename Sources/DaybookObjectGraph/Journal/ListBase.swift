/// Where the cursor of a list of steps stood at the last save.
///
/// That is one position for all stores, until one of several refuses a save. The stores that were saved
/// before it then have a base of their own, until everything is saved.
struct ListBase {
    /// A position in the list.
    struct Mark {
        /// Where the cursor stood.
        fileprivate(set) var cursor = 0
        /// How many steps there were; others' values overtake what is in these.
        fileprivate(set) var count = 0
    }

    private var common = Mark()
    /// By the number of the store.
    private var own: [UInt32: Mark] = [:]

    /// Whether the base is the same for all stores.
    var isCommon: Bool { own.isEmpty }

    /// The base of a store.
    subscript(store: UInt32) -> Mark { own.isEmpty ? common : own[store] ?? common }

    /// The steps over which the cursor has moved since the last save of a store, one way or the other.
    func stepsMovedOver(inStore store: UInt32, to cursor: Int) -> Range<Int> {
        self[store].steps(to: cursor)
    }

    /// The steps over which the cursor has moved since the last save of any store.
    func stepsMovedOver(to cursor: Int) -> Range<Int> {
        own.values.reduce(common.steps(to: cursor)) { range, mark in
            let steps = mark.steps(to: cursor)
            return min(range.lowerBound, steps.lowerBound)..<max(range.upperBound, steps.upperBound)
        }
    }

    /// Moves the base to the cursor: that of some stores, or of all.
    mutating func move(to cursor: Int, of count: Int, inStores stores: Set<UInt32>? = nil) {
        let mark = Mark(cursor: cursor, count: count)
        guard let stores else {
            common = mark
            own = [:]
            return
        }
        for store in stores { own[store] = mark }
    }

    /// Follows steps that come and go to the positions that they have now.
    mutating func follow(_ position: (Int) -> Int) {
        common.follow(position)
        guard !own.isEmpty else { return }
        own = own.mapValues { mark in
            var mark = mark
            mark.follow(position)
            return mark
        }
    }
}

extension ListBase.Mark {
    fileprivate func steps(to other: Int) -> Range<Int> { min(cursor, other)..<max(cursor, other) }

    fileprivate mutating func follow(_ position: (Int) -> Int) {
        cursor = position(cursor)
        count = position(count)
    }
}
