import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport

/// A store with a random history of objects with confidential texts, which differ from all other
/// text.
struct SecretHistory {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Patient",
            attributes: [
                AttributeDescription(name: "name", type: .string, isConfidential: true),
                AttributeDescription(name: "diagnosis", type: .string, isConfidential: true),
                AttributeDescription(name: "ward", type: .string),
            ],
            relationships: [
                RelationshipDescription(name: "doctor", destinationName: "Patient"),
                RelationshipDescription(
                    name: "visitors", destinationName: "Patient", isToMany: true, isOrdered: true),
            ])
    ])

    let temporary: TemporaryStore
    /// Every confidential text of the history.
    private(set) var secrets: Set<String> = []
    /// A text that is not confidential.
    let open = "Eastwing"

    private var generator: SeededGenerator
    private var values: [ObjectID: [String: String]] = [:]

    /// Writes a history.
    init(seed: UInt64, entries: Int) throws {
        temporary = try TemporaryStore(Self.model)
        generator = SeededGenerator(seed: seed)
        try insert()
        for _ in 1..<entries { try step() }
    }

    private mutating func step() throws {
        let present = values.keys.sorted()
        guard let object = present.randomElement(using: &generator) else { return try insert() }
        switch Int.random(in: 0...5, using: &generator) {
        case 0, 1: try insert()
        case 2 where present.count > 2: try delete(object)
        default: try change(object)
        }
    }

    private mutating func secret() -> String {
        let text = "classified\(secrets.count)\("xyz".randomElement(using: &generator) ?? "x")"
        secrets.insert(text)
        return text
    }

    private mutating func insert() throws {
        let store = temporary.store
        let object = try store.newObject("Patient")
        let texts = ["name": secret(), "diagnosis": secret(), "ward": open]
        values[object] = texts
        try save([store.insert(object, texts.mapValues { .string($0) })])
    }

    private mutating func change(_ object: ObjectID) throws {
        let name = Bool.random(using: &generator) ? "name" : "diagnosis"
        let old = values[object]?[name].map { Value.string($0) } ?? .null
        let text = secret()
        values[object]?[name] = text
        try save([temporary.store.update(object, name, from: old, to: .string(text))])
    }

    private mutating func delete(_ object: ObjectID) throws {
        values[object] = nil
        try save([try temporary.store.delete(object)])
    }

    private func save(_ changes: [Change]) throws {
        let store = temporary.store
        let header = EntryHeader(author: "registry", base: try store.head())
        try store.commit(SaveRequest(header: header, changes: changes))
    }
}
