import DaybookObjectModel
import DaybookSnapshotStore

/// What a prefetch has read, before objects are made from it.
private struct Prefetched {
    /// A row, and those that are shared with other contexts together with it.
    typealias Found = (id: GraphID, row: Row, page: RowPage?)

    private(set) var rows: [Found] = []
    /// Where the row of each object is, by the words of the objects.
    private var places = ObjectTable<Int>()
    var members: [RelationKey: RelationMembers] = [:]
    /// The relationships that were followed.
    var steps: [(owner: GraphID, property: SchemaProperty)] = []

    /// The row of an object; nil when it was not read.
    func row(of id: GraphID) -> Row? {
        places.slot(of: id.word).flatMap { places[$0] }.map { rows[$0].row }
    }

    mutating func add(_ found: Found) {
        places.makeRoom()
        places.put(rows.count, for: found.id.word, at: places.home(of: found.id.word))
        rows.append(found)
    }
}

extension ManagedObjectContext {
    /// Realizes objects and the objects that relationships lead to.
    ///
    /// Everything is read first, in one read of each store, and handed out after that, since objects
    /// may do anything as they awake.
    ///
    /// - Parameters:
    ///   - paths: Relationships to follow, one after the other.
    ///   - objects: Where to begin.
    /// - Throws: ``StoreError`` when a store cannot be read; nothing has been handed out then.
    func prefetch(_ paths: [[String]], from objects: [ManagedObject]) throws {
        guard !objects.isEmpty, !paths.isEmpty else { return }
        let ticket = coordinator.rows.ticket()
        var found: [Prefetched] = []
        try parentStore.readTogether(objects) { objects, rows, members in
            found.append(
                try follow(paths, from: objects.map(\.graphID), rows: rows, members: members))
        }
        for found in found { handOut(found, ticket) }
    }

    private func follow(
        _ paths: [[String]], from ids: [GraphID], rows: ReadingOfRows,
        members: (SchemaProperty, GraphID) throws -> RelationMembers
    ) throws -> Prefetched {
        var found = Prefetched()
        for path in paths {
            var current = ids
            try readRows(of: current, into: &found, rows)
            for name in path {
                var next: [GraphID] = []
                for id in current {
                    for object in try step(name, from: id, into: &found, members) {
                        next.append(GraphID(store: id.store, object: object))
                    }
                }
                current = next.inOrderOnce
                try readRows(of: current, into: &found, rows)
            }
        }
        return found
    }

    private func readRows(
        of ids: [GraphID], into found: inout Prefetched, _ rows: ReadingOfRows
    ) throws {
        let wanted = ids.filter {
            found.row(of: $0) == nil && registry[$0]?.status.isFault != false
        }
        try rows(wanted) { id, row, page in found.add((id, row, page)) }
    }

    /// Where a relationship leads from an object, as this context sees it.
    private func step(
        _ name: String, from id: GraphID, into found: inout Prefetched,
        _ members: (SchemaProperty, GraphID) throws -> RelationMembers
    ) throws -> [ObjectID] {
        guard let property = binding(id.object.entity).schema.property(named: name),
            property.relationship != nil
        else { return [] }
        let owner = registry[id]
        found.steps.append((id, property))
        if let slot = property.slot {
            let value =
                owner.flatMap { $0.status.isFault ? nil : $0.value(inSlot: slot) }
                ?? found.row(of: id)?.value(inSlot: slot)
            return (value?.reference).map { [$0] } ?? []
        }
        if case .many(let list)? = owner?.relations[property.number] { return list.sorted }
        let key = RelationKey(owner: id, property: property.number)
        if let known = found.members[key] { return known.sorted }
        var read = try underlyingMembers(of: property, in: id, members)
        journal.overlay(key, on: &read)
        found.members[key] = read
        return read.sorted
    }

    private func handOut(_ found: Prefetched, _ ticket: RowCache.Ticket) {
        let objects = take(found.rows, ticket)
        for (key, members) in found.members {
            let owner = object(key.owner)
            if owner.relations[key.property] == nil {
                owner.relations[key.property] = .many(MemberList(members))
            }
        }
        // From now on every object holds those it leads to.
        for step in found.steps { _ = object(step.owner).destinations(of: step.property) }
        withExtendedLifetime(objects) {}
    }

    private func take(
        _ rows: [Prefetched.Found], _ ticket: RowCache.Ticket
    ) -> [ManagedObject] {
        registry.reserve(rows.count)
        var last: RowPage?
        return rows.map { found in
            let object = object(found.id)
            if object.status.isFault {
                share(found.row, found.page, of: object, ticket, &last)
                install(found.row, in: object)
            }
            return object
        }
    }
}

extension [GraphID] {
    /// Each once, in the order of the rows in a store: neighbours lie on the same pages.
    fileprivate var inOrderOnce: [GraphID] {
        var sorted = sorted { $0.object < $1.object }
        var count = 0
        for index in sorted.indices where count == 0 || sorted[index] != sorted[count - 1] {
            sorted[count] = sorted[index]
            count += 1
        }
        sorted.removeLast(sorted.count - count)
        return sorted
    }
}
