package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
internal import Foundation

/// A condition on what others have saved, without which a request is not carried out.
///
/// It is judged inside the transaction that writes, on the objects that entries have changed since, so
/// nothing can come between. Old and new values are held against the filter: an object counts if it met the
/// filter before or meets it now.
package struct SaveCondition: Sendable {
    /// What is demanded of the objects that have changed.
    package enum Demand: Sendable, Hashable {
        /// None of them met the filter before or meets it now, unless it is again as it was.
        case unchanged
        /// None of them meets the filter now.
        case none
    }

    let demand: Demand
    /// The entities of the objects; nil for all.
    let entities: Set<EntityNumber>?
    let filter: Filter
    let since: SequenceNumber
    /// An entry that does not count: that of the save itself, which is made again.
    let own: SequenceNumber?

    /// A condition on what a query finds, whatever its limit.
    ///
    /// Where the filter looks at other objects, any change of any object since counts.
    ///
    /// - Parameters:
    ///   - demand: What is demanded.
    ///   - query: The entities and the filter.
    ///   - since: The last entry that the caller has seen.
    ///   - own: An entry after it that does not count.
    package init(
        _ demand: Demand, _ query: Query, since: SequenceNumber, besides own: SequenceNumber? = nil
    ) {
        // With a limit the order, too, decides what a query finds.
        let isLimited = query.limit != nil || query.offset > 0
        let isOfRow =
            !query.filter.crossesRelationships
            && (!isLimited || query.sortings.allSatisfy(\.isOfRow))
        self.demand = demand
        entities = isOfRow ? Set(query.entities) : nil
        filter = isOfRow ? query.filter : .constant(true)
        self.since = since
        self.own = own
    }
}

extension Sorting {
    /// Whether only the values of the object itself count.
    fileprivate var isOfRow: Bool {
        path.steps.count <= 1 && path.steps.allSatisfy { $0.slot != nil }
    }
}

/// Judges the conditions of a request.
struct ConditionCheck {
    private let parts: StoreParts
    private let head: SequenceNumber

    /// So many objects in the way tell as much as all of them.
    private static let obstaclesMaximum = 100

    init(_ parts: StoreParts, at head: SequenceNumber) {
        self.parts = parts
        self.head = head
    }

    /// - Throws: ``StoreError`` with ``StoreError/Code/conditionFailed`` and every object in the way; with
    ///   ``StoreError/Code/noSuchEntry`` for a condition since an entry that there is not.
    /// - Complexity: O(*e* + *k* log *n*) page reads, *e* the size of the entries since, *k* the number of
    ///   objects that they changed.
    func check(
        _ conditions: [SaveCondition], in transaction: borrowing some Reading & ~Copyable
    ) throws {
        for condition in conditions where condition.since != head {
            guard condition.since < head else {
                throw StoreError.noSuchEntry(condition.since, head: head)
            }
            let obstacles = try obstacles(to: condition, in: transaction)
            guard obstacles.isEmpty else { throw StoreError.conditionFailed(obstacles) }
        }
    }

    private func obstacles(
        to condition: SaveCondition, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UndoObstacle] {
        let projection = parts.projection
        let changed = try changedObjects(condition, in: transaction)
        var obstacles: [UndoObstacle] = []
        for (object, entry) in changed.sorted(by: { $0.key < $1.key }) {
            let before = try projection.state(of: object, at: condition.since, in: transaction)
            let now = try projection.state(of: object, at: .latest, in: transaction)
            let isInTheWay =
                switch condition.demand {
                case .unchanged:
                    try before != now
                        && (matches(object, before, condition) || matches(object, now, condition))
                case .none: try matches(object, now, condition)
                }
            guard isInTheWay else { continue }
            let verb = before == nil ? "made" : now == nil ? "deleted" : "changed"
            obstacles.append(try obstacle(object, entry, verb, in: transaction))
            if obstacles.count == Self.obstaclesMaximum { break }
        }
        return obstacles
    }

    /// The objects that entries have changed since, each with the last of these entries.
    private func changedObjects(
        _ condition: SaveCondition, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID: SequenceNumber] {
        var objects: [ObjectID: SequenceNumber] = [:]
        var change = EncodedChange()
        try parts.journal.entries(
            from: condition.since.next, through: head, in: transaction
        ) { entry in
            if entry.sequence == condition.own { return .proceed }
            let payload = try EntryPayload.Encoded(entry)
            let bytes = payload.bytes.span.bytes
            var offset = payload.changesOffset
            do {
                for _ in 0..<payload.changesCount {
                    try change.read(bytes, at: &offset)
                    if condition.entities?.contains(change.object.entity) != false {
                        objects[change.object] = entry.sequence
                    }
                }
            } catch {
                throw StoreError.entryUnreadable(entry.sequence, cause: error)
            }
            return .proceed
        }
        return objects
    }

    private func matches(
        _ object: ObjectID, _ state: ObjectState?, _ condition: SaveCondition
    ) throws -> Bool {
        guard let state else { return false }
        let entity = parts.projection.schema.entity(object.entity)
        return try condition.filter.matches(
            object, in: StateOfObject(object: object, entity: entity, values: state.values))
    }

    private func obstacle(
        _ object: ObjectID, _ entry: SequenceNumber, _ verb: String,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> UndoObstacle {
        let heading = try parts.heading(of: entry, in: transaction)
        return UndoObstacle(
            object: object, parts.projection.schema, entry: entry, heading, verb: verb)
    }
}

extension Store {
    /// The condition that a query finds nothing.
    ///
    /// - Parameters:
    ///   - query: The query, which looks at single objects.
    ///   - own: Objects that it may find: the save that is made has put them there already.
    /// - Returns: The condition on what will be saved by others, since now it finds nothing.
    /// - Throws: ``StoreError`` with ``StoreError/Code/conditionFailed`` and an object that it finds.
    /// - Complexity: As of fetching one object.
    package func condition(
        noneOf query: Query, besides own: Set<ObjectID> = []
    ) throws -> SaveCondition {
        var query = query
        query.limit = own.count + 1
        return try readWithSequence { snapshot, base in
            guard let object = try snapshot.fetch(query).first(where: { !own.contains($0) }) else {
                return SaveCondition(.none, query, since: base)
            }
            let since = try snapshot.row(object)?.since ?? base
            let heading = try parts.heading(of: since, in: snapshot.transaction)
            throw StoreError.conditionFailed([
                UndoObstacle(
                    object: object, schema, entry: since, heading, verb: "made or last changed")
            ])
        }
    }
}

/// One object alone, for filters that look at no other.
private struct StateOfObject: FilterSource {
    let object: ObjectID
    let entity: SchemaEntity?
    let values: [Value]

    func value(of property: SchemaProperty, in object: ObjectID) -> Value {
        guard object == self.object, let slot = entity?.slot(of: property.number),
            slot < values.count
        else { return .null }
        return values[slot]
    }

    func members(of property: SchemaProperty, in object: ObjectID) -> [ObjectID] { [] }
}

extension UndoObstacle {
    /// An object whose last change is in the way of a conditional save.
    fileprivate init(
        object: ObjectID, _ schema: Schema, entry: SequenceNumber, _ heading: EntryHeading?,
        verb: String
    ) {
        let name = schema.name(of: object)
        let by = heading?.author.map { " by \($0)" } ?? ""
        let at = heading.map { " at \(DateText.text(microseconds: $0.time))" } ?? ""
        self.init(
            entry: entry, author: heading?.author,
            date: heading.map { Date(timeIntervalSince1970: Double($0.time) / 1_000_000) },
            object: object, objectName: name, propertyName: nil,
            description: "Entry \(entry)\(by)\(at) \(verb) \(name).")
    }
}

extension StoreError {
    /// Refuses a conditional save.
    fileprivate static func conditionFailed(_ obstacles: [UndoObstacle]) -> StoreError {
        StoreError(
            .conditionFailed,
            "Nothing was saved: \(obstacles.count == 1 ? "an object" : "\(obstacles.count) objects") "
                + "that the save depends on changed meanwhile. Read again, decide again, and save again.",
            obstacles: obstacles, details: obstacles.map(\.description))
    }
}
