import DaybookObjectModel
import DaybookSnapshotStore

/// What a prefetch has read, before objects are made from it.
private struct Prefetched {
    var rows: [GraphID: Row] = [:]
    var members: [RelationKey: [ObjectID: Double]] = [:]
    /// The relationships that were followed.
    var steps: [(owner: GraphID, property: SchemaProperty)] = []
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
        try parentStore.readTogether(objects) { objects, row, members in
            found.append(
                try follow(paths, from: objects.map(\.graphID), row: row, members: members))
        }
        for found in found { handOut(found, ticket) }
    }

    private func follow(
        _ paths: [[String]], from ids: [GraphID], row: (GraphID) throws -> Row?,
        members: (SchemaProperty, GraphID) throws -> [ObjectID: Double]
    ) throws -> Prefetched {
        var found = Prefetched()
        for path in paths {
            var current = ids
            try readRows(of: current, into: &found, row)
            for name in path {
                var next: Set<GraphID> = []
                for id in current {
                    let destinations = try step(name, from: id, into: &found, members)
                    next.formUnion(destinations.map { GraphID(store: id.store, object: $0) })
                }
                // Neighbours lie on the same pages.
                current = next.sorted { $0.object < $1.object }
                try readRows(of: current, into: &found, row)
            }
        }
        return found
    }

    private func readRows(
        of ids: [GraphID], into found: inout Prefetched, _ row: (GraphID) throws -> Row?
    ) throws {
        found.rows.reserveCapacity(found.rows.count + ids.count)
        for id in ids where found.rows[id] == nil && registry[id]?.isFault != false {
            found.rows[id] = try row(id)
        }
    }

    /// Where a relationship leads from an object, as this context sees it.
    private func step(
        _ name: String, from id: GraphID, into found: inout Prefetched,
        _ members: (SchemaProperty, GraphID) throws -> [ObjectID: Double]
    ) throws -> [ObjectID] {
        guard let property = binding(id.object.entity).schema.property(named: name),
            property.relationship != nil
        else { return [] }
        let owner = registry[id]
        found.steps.append((id, property))
        if let slot = property.slot {
            let values = owner.flatMap { $0.isFault ? nil : $0.values } ?? found.rows[id]?.values
            return (values?[slot].reference).map { [$0] } ?? []
        }
        if case .many(let list)? = owner?.relations[property.number] {
            return Array(list.orders.keys)
        }
        let key = RelationKey(owner: id, property: property.number)
        if let known = found.members[key] { return Array(known.keys) }
        var orders = try underlyingMembers(of: property, in: id, members)
        journal.overlay(key, on: &orders)
        found.members[key] = orders
        return Array(orders.keys)
    }

    private func handOut(_ found: Prefetched, _ ticket: RowCache.Ticket) {
        let objects = found.rows.map { id, row in
            let object = object(id)
            if object.isFault { take(row, ticket, for: object) }
            return object
        }
        for (key, orders) in found.members {
            let owner = object(key.owner)
            if owner.relations[key.property] == nil {
                owner.relations[key.property] = .many(MemberList(orders))
            }
        }
        // From now on every object holds those it leads to.
        for step in found.steps { _ = object(step.owner).destinations(of: step.property) }
        withExtendedLifetime(objects) {}
    }

    private func take(_ row: Row, _ ticket: RowCache.Ticket, for object: ManagedObject) {
        if let packed = row.packed { share(packed, of: object, ticket) }
        install(row, in: object)
    }
}
