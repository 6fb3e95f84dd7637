import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

/// A small store with every feature, and everything that can be read from it.
enum DamageSample {
    /// Makes the store: inserts, updates, deletes, moved relationships, an undo, values that are
    /// unique, indexed, null, and long enough for pages of their own.
    ///
    /// It has at least `entries` entries, those above 8 being small updates: from 64 on their times
    /// are in a table.
    static func make(at path: String, entries: UInt64 = 8) throws {
        let store = try Store.create(
            at: path, model: .sample, options: .counting(durability: .relaxed))
        let ada = try store.newObject("Person")
        let grace = try store.newObject("Person")
        let company = try store.newObject("Company")
        let sailing = try store.newObject("Skill")
        let long = String(repeating: "A long name. ", count: 400)
        func member(_ object: ObjectID, _ order: Double = 0) -> Member {
            Member(object: object, order: order)
        }
        func save(_ note: String, at time: Int64?, _ changes: [Change]) throws {
            let header = EntryHeader(
                author: "registrar", note: note, context: "view", occurredAt: time)
            try store.commit(SaveRequest(header: header, changes: changes))
        }
        let morning: Int64 = 1_600_000_000_000_000
        try save(
            "found", at: morning,
            [
                store.insert(ada, ["code": .string("A"), "name": .string("Ada"), "age": .int(36)]),
                store.insert(
                    grace, ["code": .string("G"), "name": .string(long), "score": .double(1.5)]),
                store.insert(
                    company,
                    ["code": .string("C"), "founded": .date(Date(timeIntervalSince1970: 9))],
                    members: ["board": [member(ada, 1), member(grace, 2)]]),
                store.insert(sailing, ["title": .string("Sailing")]),
            ])
        try save(
            "hire", at: morning + 5,
            [
                store.update(ada, "employer", from: .null, to: .object(company)),
                store.update(grace, "employer", from: .null, to: .object(company)),
            ])
        try save(
            "rename", at: nil,
            [
                store.update(ada, "name", from: .string("Ada"), to: .string("Augusta")),
                store.update(grace, "name", from: .string(long), to: .string("Grace")),
            ])
        try save("teach", at: nil, [store.update(ada, "skills", adding: [member(sailing)])])
        try save(
            "leave", at: morning + 9,
            [
                store.update(grace, "employer", from: .object(company), to: .null),
                store.update(company, "board", removing: [member(grace, 2)]),
            ])
        try save("delete", at: nil, [try store.delete(grace)])
        try store.commit(try store.undoRequest(of: SequenceNumber(5)))
        var title = "Sailing"
        for next in try store.head().rawValue + 1..<max(entries, 8) + 1 {
            let other = "Sailing \(next)"
            try save(
                "practise", at: next % 3 == 0 ? morning + Int64(next) : nil,
                [store.update(sailing, "title", from: .string(title), to: .string(other))])
            title = other
        }
        try store.close()
    }

    /// The output of all reading commands, line by line.
    static func read(_ path: String) throws -> String {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        let counts = try store.statistics()
        try store.close()
        return try readContent(path) + """
            \(counts.objects.sorted { $0.key < $1.key }) \(counts.mapSize) \(counts.pageSize)
            \(counts.pagesUsed) \(counts.pagesFree) \(counts.tables)
            """
    }

    /// The same without details that depend on the layout of pages.
    static func readContent(_ path: String) throws -> String {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        var text = "\(store.uuid) \(store.createdAt)\n"
        let head = try store.head()
        text += "\(head) \(try store.headDigest().hexadecimal)\n"
        try store.entries { entry in
            text += "\(entry.sequence) \(entry.recordedAt) \(entry.digest) \(entry.header) "
            text += "\(entry.changes) \(entry.model.map { "\($0)" } ?? "")\n"
            return .proceed
        }
        var objects: Set<ObjectID> = []
        for number in 0...head.rawValue {
            let sequence = SequenceNumber(number)
            if isRead(number, head) {
                try store.read(at: sequence) { snapshot in
                    text += "at \(number)\n" + (try describe(snapshot, &objects))
                }
            }
            if number > 0 {
                let time = try store.entry(sequence).time
                text += "time \(try store.sequence(atTime: time)) "
                text += "\(try store.sequence(atTime: time - 1))\n"
            }
        }
        for object in objects.sorted(by: { $0.number < $1.number }) {
            for version in try store.history(of: object) {
                text += "\(object) entry \(version.sequence): \(describe(version.before)) -> "
                text += "\(describe(version.after))\n"
            }
        }
        for number in 2...head.rawValue where isRead(number, head) {
            do {
                text += "undo \(try store.undoRequest(of: SequenceNumber(number)).changes)\n"
            } catch let error as StoreError where error.code == .undoBlocked {
                text += "undo \(error)\n"
            }
        }
        try store.close()
        return text
    }

    /// Whether the state after an entry, and its undo, are read: for many small updates a sample
    /// suffices.
    private static func isRead(_ number: UInt64, _ head: SequenceNumber) -> Bool {
        number <= 8 || number % 32 == 0 || number == head.rawValue
    }

    /// A state as text; the members are sorted, so that the same state gives the same text.
    private static func describe(_ state: ObjectState?) -> String {
        guard let state else { return "nothing" }
        let members = state.members.sorted { $0.key < $1.key }.map { property, members in
            let list = members.map { "\($0.key) \($0.value)" }.sorted()
            return "\(property) \(list)"
        }
        return "\(state.values) \(members)"
    }

    /// One state of the store: by walking, by index, and along the relationships.
    private static func describe(
        _ snapshot: borrowing Snapshot, _ objects: inout Set<ObjectID>
    ) throws -> String {
        var text = ""
        for entity in snapshot.schema.entities {
            let found = try snapshot.fetch(Query(entity))
            objects.formUnion(found)
            text += "\(entity.name) \(found) \(try snapshot.count(Query(entity)))\n"
            for object in found where object.entity == entity.number {
                text += try describe(object, of: entity, in: snapshot)
            }
            for property in entity.properties where property.isIndexed {
                text += try describe(property, of: entity, in: snapshot)
            }
        }
        for object in objects.sorted(by: { $0.number < $1.number }) {
            text += "\(object) deleted \(try snapshot.deletion(of: object) ?? .zero)\n"
        }
        return text
    }

    private static func describe(
        _ object: ObjectID, of entity: SchemaEntity, in snapshot: borrowing Snapshot
    ) throws -> String {
        let row = try snapshot.row(object)
        var text = "\(object) since \(row?.since ?? .zero) \(row?.values ?? [])\n"
        for property in entity.properties where property.relationship != nil {
            let members: [Member] = try snapshot.members(of: property, in: object)
            text += "  \(property.name) \(members)\n"
        }
        return text
    }

    private static func describe(
        _ property: SchemaProperty, of entity: SchemaEntity, in snapshot: borrowing Snapshot
    ) throws -> String {
        let path = FilterPath([property])
        let text = try indexedValues.map { value in
            let filter = Filter.comparison(FilterComparison(.path(path), .equal, .constant(value)))
            return "\(property.name) \(try snapshot.fetch(Query(entity, filter: filter)))\n"
        }
        let sorted = Query(entity, sortings: [Sorting(path)], limit: 3)
        return text.joined() + "\(property.name) sorted \(try snapshot.fetch(sorted))\n"
    }

    private static let indexedValues: [Value] = [
        .string("A"), .string("G"), .string("C"), .string("Ada"), .string("Augusta"),
        .string("Grace"), .int(36), .null,
    ]
}
