import DaybookObjectModel
import DaybookSnapshotStore

/// The rows of a table that become one entry.
///
/// A row may refer to objects of the store and to rows of the same entry, before or after it. A key
/// is looked up once for each entry.
///
/// Invariants:
/// - The values of every row fit the model, except for references, which are null until the entry is
///   saved.
/// - The keys of a row stand in the order of `references`.
final class RowBatch {
    /// What to save of an entry with refused rows.
    enum Scope {
        /// All rows or none.
        case whole
        /// The rows that are not refused.
        case rest
        /// Nothing, because a row is refused already; the others are only checked.
        case nothing
    }

    /// A column whose values refer to objects.
    private struct Reference {
        let column: ColumnMapping.Column
        let destination: SchemaEntity
        /// The place of the key in a row of this table, if such a row can be meant.
        let ownSlot: Int?
        /// The objects of the store by their keys; nil for a key that none has.
        var objects: [Value: ObjectID?] = [:]
        /// The rows of this entry by their keys.
        var rows: [Value: Int] = [:]
    }

    /// Where a key leads.
    private enum Target {
        case object(ObjectID)
        case row(Int)
    }

    private let store: Store
    private let mapping: ColumnMapping
    private let refuse: (RowRefusal) throws -> Void
    private var references: [Reference]
    private var rows: [RowReader.Row] = []

    /// - Parameters:
    ///   - mapping: What the columns are for.
    ///   - store: The store to save into.
    ///   - refuse: Called with each reason why a row cannot be saved.
    init(
        of mapping: ColumnMapping, in store: Store, refuse: @escaping (RowRefusal) throws -> Void
    ) {
        self.store = store
        self.mapping = mapping
        self.refuse = refuse
        references = mapping.columns.compactMap { column in
            guard let key = column.key, let end = column.property.end,
                let destination = store.schema.entity(end.destination)
            else { return nil }
            let own = mapping.columns.first { $0.property.number == key.number }
            return Reference(
                column: column, destination: destination,
                ownSlot: mapping.entity.isKind(of: destination) ? own?.slot : nil)
        }
    }

    func append(_ row: RowReader.Row) {
        rows.append(row)
    }

    /// Saves the rows as one entry and forgets them.
    ///
    /// - Parameters:
    ///   - header: The header of the entry.
    ///   - scope: What to save if there are refused rows; all of them are found in any case.
    /// - Returns: The entry and the number of its rows; nil if nothing was saved.
    /// - Throws: `StoreError` when the store fails.
    func save(_ header: EntryHeader, _ scope: Scope) throws -> (result: SaveResult, count: Int)? {
        defer { removeAll() }
        var scope = scope
        var taken: UInt64?
        while true {
            var refused = try refuseLostRows()
            if refused.isEmpty {
                guard !rows.isEmpty else { return nil }
                if taken == nil, scope != .nothing {
                    taken = try store.allocateObjectNumbers(rows.count)
                }
                let first = taken ?? Self.spareNumbers(rows.count)
                let request = SaveRequest(header: header, changes: changes(from: first))
                do {
                    guard scope == .nothing else {
                        return (try store.commit(request), rows.count)
                    }
                    _ = try store.preview(request)
                    return nil
                } catch let error as StoreError {
                    refused = try refuseRows(error, first)
                    guard !refused.isEmpty else { throw error }
                }
            }
            remove(refused)
            if scope == .whole { scope = .nothing }
        }
    }

    private func removeAll() {
        rows.removeAll(keepingCapacity: true)
        for index in references.indices { references[index].objects.removeAll() }
    }

    private func remove(_ refused: Set<Int>) {
        rows = rows.indices.lazy.filter { !refused.contains($0) }.map { self.rows[$0] }
    }

    // MARK: - Changes

    /// The first of the greatest possible numbers, for objects that will not be saved.
    private static func spareNumbers(_ count: Int) -> UInt64 {
        (1 << 48) - UInt64(count)
    }

    private func object(ofRow index: Int, from first: UInt64) -> ObjectID {
        ObjectID(entity: mapping.entity.number, number: first + UInt64(index))
    }

    /// An insert for each row.
    private func changes(from first: UInt64) -> [Change] {
        var changes: [Change] = []
        changes.reserveCapacity(rows.count)
        for index in rows.indices {
            for position in references.indices {
                let slot = references[position].column.slot
                switch target(of: rows[index].keys[position], references[position]) {
                case .object(let object): rows[index].values[slot] = .object(object)
                case .row(let other):
                    rows[index].values[slot] = .object(object(ofRow: other, from: first))
                case nil: rows[index].values[slot] = .null
                }
            }
            changes.append(
                Change(
                    object: object(ofRow: index, from: first),
                    kind: .insert(values: rows[index].values, members: [])))
        }
        return changes
    }

    // MARK: - References

    private func target(of key: Value, _ reference: Reference) -> Target? {
        if let row = reference.rows[key] { return .row(row) }
        return (reference.objects[key] ?? nil).map { .object($0) }
    }

    /// Refuses the rows that refer to nothing, and those that refer to such rows.
    ///
    /// - Returns: Their indexes.
    private func refuseLostRows() throws -> Set<Int> {
        var lost: Set<Int> = []
        for position in references.indices {
            try findTargets(position)
            let reference = references[position]
            let indexes = rows.indices.filter { index in
                let key = rows[index].keys[position]
                return !key.isNull && target(of: key, reference) == nil
            }
            try refuseLost(indexes, reference)
            lost.formUnion(indexes)
        }
        var refused = lost
        let links = lost.isEmpty ? [] : references.indices.map { self.links($0) }
        while !lost.isEmpty {
            lost = try refuseFollowers(of: lost, links, except: refused)
            refused.formUnion(lost)
        }
        return refused
    }

    private func refuseLost(_ indexes: [Int], _ reference: Reference) throws {
        for index in indexes {
            try refuse(
                RowRefusal(
                    line: rows[index].line, column: reference.column.name,
                    reason: "There is no '\(reference.destination.name)' with such a "
                        + "'\(reference.column.key?.name ?? "")'."))
        }
    }

    /// How the rows of this entry refer to one another.
    private struct Links {
        /// The rows that refer to a row, by its key.
        var followers: [Value: [Int]] = [:]
        /// How many rows have a key.
        var owners: [Value: Int] = [:]
    }

    private func links(_ position: Int) -> Links {
        var links = Links()
        guard let slot = references[position].ownSlot else { return links }
        for (index, row) in rows.enumerated() {
            if !row.values[slot].isNull { links.owners[row.values[slot], default: 0] += 1 }
            if references[position].rows[row.keys[position]] != nil {
                links.followers[row.keys[position], default: []].append(index)
            }
        }
        return links
    }

    /// Refuses the rows that refer to lost ones by keys that nothing else has. Where another row has the key, that one
    /// is found when all rows are looked at again.
    ///
    /// - Returns: Their indexes.
    private func refuseFollowers(
        of lost: Set<Int>, _ links: [Links], except refused: Set<Int>
    ) throws -> Set<Int> {
        var followers: Set<Int> = []
        for (position, reference) in references.enumerated() {
            guard let slot = reference.ownSlot else { continue }
            let keys = lost.map { rows[$0].values[slot] }.filter { key in
                links[position].followers[key] != nil && links[position].owners[key] == 1
            }
            guard !keys.isEmpty else { continue }
            let gone = try store.read { snapshot in
                try keys.filter { try object(by: $0, reference, in: snapshot) == nil }
            }
            let indexes = gone.flatMap { links[position].followers[$0] ?? [] }
                .filter { !refused.contains($0) }.sorted()
            try refuseLost(indexes, reference)
            followers.formUnion(indexes)
        }
        return followers
    }

    private func findTargets(_ position: Int) throws {
        references[position].rows.removeAll()
        if let slot = references[position].ownSlot {
            for (index, row) in rows.enumerated() where !row.values[slot].isNull {
                if references[position].rows[row.values[slot]] == nil {
                    references[position].rows[row.values[slot]] = index
                }
            }
        }
        let reference = references[position]
        references[position].objects = try store.read { snapshot in
            var objects = reference.objects
            for row in rows {
                let value = row.keys[position]
                guard !value.isNull, reference.rows[value] == nil, objects[value] == nil else {
                    continue
                }
                objects.updateValue(
                    try object(by: value, reference, in: snapshot), forKey: value)
            }
            return objects
        }
    }

    /// The object of the store that has a key.
    private func object(
        by value: Value, _ reference: Reference, in snapshot: borrowing Snapshot
    ) throws -> ObjectID? {
        guard let key = reference.column.key else { return nil }
        let filter = Filter.comparison(
            FilterComparison(.path(FilterPath([key])), .equal, .constant(value)))
        // A filter compares numbers of different widths; a key is the exact value.
        return try snapshot.fetch(Query(reference.destination, filter: filter))
            .first { try snapshot.value(of: key, in: $0) == value }
    }

    // MARK: - Refusals of the store

    /// Refuses the rows that an error of the store is about.
    ///
    /// - Returns: Their indexes; none if the rows are not at fault.
    private func refuseRows(_ error: StoreError, _ first: UInt64) throws -> Set<Int> {
        var refused: Set<Int> = []
        func refuse(_ object: ObjectID, _ property: String?, _ reason: String) throws {
            guard object.entity == mapping.entity.number, object.number >= first,
                object.number - first < UInt64(rows.count)
            else { return }
            let index = Int(object.number - first)
            refused.insert(index)
            try self.refuse(
                RowRefusal(
                    line: rows[index].line, column: property.flatMap(mapping.column),
                    reason: reason))
        }
        for failure in error.failures {
            guard let object = failure.object else { continue }
            let name = store.schema.name(of: object)
            try refuse(
                object, failure.property, failure.message.replacing(name, with: "the row"))
        }
        for conflict in error.constraintConflicts {
            try refuseDuplicates(conflict, first, refuse)
        }
        for conflict in error.conflicts {
            try refuse(
                conflict.object, conflict.propertyName,
                "'\(conflict.propertyName ?? "It")' leads to an object that is gone, or that "
                    + "another object holds where only one can.")
        }
        return refused
    }

    /// Refuses all rows with values that an object of the store has, and of those that only rows
    /// have all but the first.
    private func refuseDuplicates(
        _ conflict: ConstraintConflict, _ first: UInt64,
        _ refuse: (ObjectID, String?, String) throws -> Void
    ) throws {
        let names = conflict.properties.map { "'\($0)'" }.joined(separator: " and ")
        let property = conflict.properties.count == 1 ? conflict.properties[0] : nil
        var objects = conflict.objects.sorted { $0.number < $1.number }[...]
        let holder: String
        if let owner = conflict.owner {
            holder = store.schema.name(of: owner)
        } else {
            guard let kept = objects.popFirst(), kept.number >= first,
                kept.number - first < UInt64(rows.count)
            else { return }
            holder = "line \(rows[Int(kept.number - first)].line)"
        }
        for object in objects {
            try refuse(
                object, property, "\(names) must be unique, and \(holder) has the same value.")
        }
    }
}
