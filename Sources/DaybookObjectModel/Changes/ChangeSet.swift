/// Changes of many objects, one for each: the net of any run of changes.
///
/// Invariants: no object has two changes, and none has an empty one.
package struct ChangeSet: Sendable {
    private var changes: [ObjectID: Change] = [:]

    /// Starts empty.
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

    /// Adds a change after those that are there.
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

    /// The changes in the one order in which an entry keeps them (see ``Change/precedes(_:)``).
    package var ordered: [Change] {
        changes.values.sorted { $0.precedes($1) }
    }
}

extension [Change] {
    /// Brings changes into the order of an entry.
    ///
    /// - Complexity: O(*n*) where they are in that order, or in the opposite one as what undo has taken
    ///   back; else O(*n* log *n*).
    package mutating func sortAsInEntry() {
        if isOrdered(by: { $0 < $1 }) { return }
        if isOrdered(by: { $1 < $0 }) { return reverse() }
        sort { $0.precedes($1) }
    }

    private func isOrdered(by areInOrder: (Change.Place, Change.Place) -> Bool) -> Bool {
        let changes = span
        guard var last = first?.place else { return true }
        for index in changes.indices.dropFirst() {
            let place = changes[index].place
            guard areInOrder(last, place) else { return false }
            last = place
        }
        return true
    }
}

extension Change {
    /// The order of the changes of an entry: inserts, then updates, then deletes, each by object.
    ///
    /// So a replay meets every object before the references to it and loses none too early, and
    /// equal sets of changes have equal bytes.
    package func precedes(_ other: Change) -> Bool {
        place < other.place
    }

    /// Where the change stands among those of an entry.
    package var place: Place {
        Place(rank: kind.rank, object: object)
    }

    /// What puts the changes of an entry in order.
    package struct Place: Sendable, Comparable {
        /// Inserts 0, updates 1, deletes 2.
        package let rank: Int
        /// The object.
        package let object: ObjectID

        /// Orders changes.
        package static func < (left: Place, right: Place) -> Bool {
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
