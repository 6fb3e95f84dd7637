/// Changes of many objects, one for each: the net result of any run of changes.
///
/// Invariants: no object has two changes, and none has an empty one.
package struct ChangeSet: Sendable {
    private var changes: [ObjectID: Change] = [:]

    /// Creates an empty set.
    package init() {}

    /// Whether nothing has changed.
    package var isEmpty: Bool {
        changes.isEmpty
    }

    /// The objects that have changed, in no order.
    package var objects: some Collection<ObjectID> {
        changes.keys
    }

    /// The net change of one object.
    package subscript(object: ObjectID) -> Change? {
        changes[object]
    }

    /// Adds a change after the existing ones.
    ///
    /// - Throws: ``ChangeMismatch`` when it does not start where they end.
    package mutating func append(
        _ change: Change, of entity: SchemaEntity
    ) throws(ChangeMismatch) {
        if let earlier = changes[change.object] {
            changes[change.object] = try earlier.followed(by: change, of: entity)
        } else if !change.isEmpty {
            changes[change.object] = change
        }
    }

    /// The changes in the order in which an entry keeps them (see ``Change/precedes(_:)``).
    package var ordered: [Change] {
        changes.values.sorted { $0.precedes($1) }
    }
}

extension [Change] {
    /// Brings changes into the order of an entry.
    ///
    /// - Complexity: O(*n*) when they are in that order, or in reverse, as after an undo; otherwise
    ///   O(*n* log *n*).
    package mutating func sortAsInEntry() {
        if isOrdered(by: { $0 < $1 }) { return }
        if isOrdered(by: { $1 < $0 }) { return reverse() }
        sort { $0.precedes($1) }
    }

    private func isOrdered(by areInOrder: (Change.SortKey, Change.SortKey) -> Bool) -> Bool {
        let changes = span
        guard var last = first?.sortKey else { return true }
        for index in changes.indices.dropFirst() {
            let key = changes[index].sortKey
            guard areInOrder(last, key) else { return false }
            last = key
        }
        return true
    }
}

extension Change {
    /// The order of the changes of an entry: inserts, then updates, then deletes, each by object.
    ///
    /// So a replay creates every object before references to it and deletes none too early, and
    /// equal sets of changes have equal bytes.
    package func precedes(_ other: Change) -> Bool {
        sortKey < other.sortKey
    }

    /// The key by which the changes of an entry are sorted.
    package var sortKey: SortKey {
        SortKey(rank: kind.rank, object: object)
    }

    /// The key by which the changes of an entry are sorted.
    package struct SortKey: Sendable, Comparable {
        /// Inserts 0, updates 1, deletes 2.
        package let rank: Int
        /// The object.
        package let object: ObjectID

        /// Orders by rank, then by object.
        package static func < (left: SortKey, right: SortKey) -> Bool {
            left.rank != right.rank ? left.rank < right.rank : left.object < right.object
        }
    }
}

extension Change.Kind {
    fileprivate var rank: Int {
        switch self {
        case .insert: 0
        case .update: 1
        case .delete: 2
        }
    }
}
