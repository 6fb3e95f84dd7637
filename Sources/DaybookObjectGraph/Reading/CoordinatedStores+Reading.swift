import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
import Foundation

extension CoordinatedStores: RowFinder {
    var sharedRows: RowCache? { rows }
    var rowFinder: (any RowFinder)? { self }

    // MARK: - Rows

    func row(of id: GraphID, within interval: Double) throws -> Row? {
        if !isHeld, let row = rows.row(id, within: interval, isHeld: false) {
            return Row(row)
        }
        return try storedRow(of: id).map { Row($0) }
    }

    func row(
        for object: ManagedObject, from source: ReadSource, within interval: Double
    ) throws -> Row? {
        let id = object.graphID
        guard !isHeld else { return try storedRow(of: id).map { Row($0) } }
        let rows = rows
        let isNewHolder = !object.status.holdsRow && object.rowPage == nil
        if source == .anywhere, let row = rows.row(id, within: interval, isHeld: isNewHolder) {
            if isNewHolder { object.holdRow() }
            return Row(row)
        }
        let ticket = rows.ticket()
        guard let row = try storedRow(of: id) else { return nil }
        rows.hold(row, of: id, ticket, isNewHolder: !object.status.holdsRow)
        object.holdRow()
        return Row(row)
    }

    /// An object's row as the store has it.
    private func storedRow(of id: GraphID) throws -> EncodedRow? {
        let store = try store(of: id)
        guard !isWatched, !isHeld else { return try read(store) { try $0.packedRow(id.object) } }
        return try store.row(of: id.object)
    }

    func exists(_ id: GraphID) throws -> Bool { try storedRow(of: id) != nil }

    func isFound(_ id: GraphID) throws -> Bool { try exists(id) }

    func isUnsaved(_ id: GraphID) throws -> Bool { false }

    func absence(of id: GraphID) throws -> StoreError {
        let store = try store(of: id)
        return try store.disappearance(of: id.object, at: position(toRead: store))
    }

    func changesOfDelete(of id: GraphID) throws -> [Change] {
        let store = try store(of: id)
        guard let deletion = try read(store, { try $0.deletion(of: id.object) }) else { return [] }
        // A program with another model may have saved it.
        let schema = store.store.schema
        return try store.store.entry(deletion).changes.compactMap { $0.shown(by: schema) }
    }

    // MARK: - Values, members and queries

    func members(of property: SchemaProperty, in id: GraphID) throws -> RelationMembers {
        let store = try store(of: id)
        return try read(store) {
            RelationMembers(read: try $0.members(of: property, in: id.object))
        }
    }

    func freshMembers(of property: SchemaProperty, in id: GraphID) throws -> RelationMembers {
        try members(of: property, in: id)
    }

    func value(of property: SchemaProperty, in id: GraphID) throws -> Value {
        let store = try store(of: id)
        return try read(store) {
            try $0.value(of: property, in: id.object)
        }
    }

    func find(_ query: Query, in store: PersistentStore) throws -> [ObjectID] {
        try read(store) { try $0.fetch(query) }
    }

    func count(_ query: Query, in store: PersistentStore) throws -> Int {
        try read(store) { try $0.count(query) }
    }

    func count(
        _ query: Query, without others: [ObjectID], in store: PersistentStore
    ) throws -> Int {
        var all = query
        all.offset = 0
        all.limit = nil
        return try read(store) { snapshot in
            let count = try snapshot.count(all)
            if others.isEmpty { return count }
            let named = FilterValues(others.map { .object($0) })
            all.filter = .and([.membership(.object, named, []), all.filter])
            return count - (try snapshot.count(all))
        }
    }

    func explanation(of query: Query, in store: PersistentStore) throws -> String {
        try read(store) { try $0.explanation(of: query) }
    }

    func forEachRows(
        of query: Query, in store: PersistentStore, _ body: (EncodedRows) throws -> Void
    ) throws {
        try read(store) { try $0.forEachRows(of: query, body) }
    }

    func aggregate(
        _ aggregation: inout Aggregation, of property: SchemaProperty, _ query: Query,
        in store: PersistentStore
    ) throws {
        try read(store) {
            try $0.aggregate(&aggregation, of: property, query)
        }
    }

    func group(
        _ table: inout GroupTable, by grouping: Grouping, _ query: Query, in store: PersistentStore
    ) throws {
        try read(store) {
            try $0.group(&table, by: grouping, query)
        }
    }

    func values(
        at paths: [FilterPath], of query: Query, in store: PersistentStore
    ) throws -> [[Value]] {
        try read(store) { try $0.values(at: paths, of: query) }
    }

    func readTogether(_ objects: [ManagedObject], _ body: CommonReading) throws {
        // Relationships stay in their store.
        for objects in Dictionary(grouping: objects, by: \.graphID.store).values {
            guard let first = objects.first else { continue }
            let store = try store(of: first.graphID)
            try read(store) { snapshot in
                try body(
                    objects,
                    { ids, take in
                        try snapshot.forEachRows(of: ids.map(\.object)) { rows in
                            let page = page(of: rows, in: store)
                            rows.forEach { object, row in
                                take(GraphID(store: store.number, object: object), Row(row), page)
                            }
                        }
                    },
                    { RelationMembers(read: try snapshot.members(of: $0, in: $1.object)) })
            }
        }
    }

    /// Rows that are shared with other contexts together; nil for few ones, and where nothing is shared.
    func page(of rows: EncodedRows, in store: PersistentStore) -> RowPage? {
        isHeld || rows.count < RowPage.leastCount
            ? nil : RowPage(rows, in: store.number, for: self.rows)
    }

    func hasPlaces(_ query: Query, in store: PersistentStore) throws -> Bool {
        try read(store) { try $0.hasPlaces(query) }
    }

    func inOneTurn<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    func stateToRead() throws -> ReadState {
        var sequences: [UInt32: SequenceNumber] = [:]
        for store in stores {
            sequences[store.number] = try position(toRead: store) ?? store.head()
        }
        return ReadState(sequences: sequences)
    }

    // MARK: - History

    func holds(_ question: FilterPast, of id: GraphID) throws -> Bool {
        let store = try store(of: id)
        return try read(store) { try $0.holds(question, of: id.object) }
    }

    func changes(
        meeting questions: [FilterChange], of objects: [ObjectID], in store: PersistentStore
    ) throws -> [FoundChange] {
        try read(store) { snapshot in
            var found: [FoundChange] = []
            var groups: [EntityNumber: IdentifierGroup] = [:]
            try snapshot.forEachChange(meeting: questions, of: objects) { object, change, heading in
                let group = groups[object.entity] ?? store.names.group(of: object.entity)
                groups[object.entity] = group
                let id = ManagedObjectID(group, number: object.number)
                found.append(FoundChange(change, of: id, heading, in: store))
            }
            return found
        }
    }

    func history(of id: ManagedObjectID) throws -> [ObjectRevision] {
        let (object, store) = try locate(id)
        let end = try position(toRead: store) ?? store.head()
        return try store.store.history(of: object).filter { $0.sequence <= end }.compactMap {
            guard let kind = ObjectChangeKind(from: $0.before, to: $0.after) else { return nil }
            let heading = try store.store.heading(of: $0.sequence)
            return ObjectRevision(
                sequence: $0.sequence, author: heading.author, note: heading.note,
                info: heading.info,
                time: Date(microseconds: heading.time), kind: kind,
                changes: store.propertyChanges(of: object, from: $0.before, to: $0.after))
        }
    }

    func blame(of id: ManagedObjectID) throws -> [PropertyBlame] {
        let (object, store) = try locate(id)
        let answers = try store.store.blame(of: object, at: position(toRead: store))
        guard let answers else { throw StoreError.noSuchObject(id.description) }
        return answers.map { PropertyBlame($0, in: store) }
    }

    func blame(of id: ManagedObjectID, property: String) throws -> PropertyBlame {
        let (object, store) = try locate(id)
        guard let asked = store.store.schema.entity(object.entity)?.property(named: property),
            asked.isPersistent
        else {
            stop("Only a property that the entity has, and keeps, is in an entry.")
        }
        let answer = try store.store.blame(of: asked, in: object, at: position(toRead: store))
        guard let answer else { throw StoreError.noSuchObject(id.description) }
        return PropertyBlame(answer, in: store)
    }

    /// Where an identifier leads.
    private func locate(_ id: ManagedObjectID) throws -> (ObjectID, PersistentStore) {
        guard let graphID = graphID(of: id) else {
            throw StoreError.noSuchObject(id.description)
        }
        return (graphID.object, try store(of: graphID))
    }
}
