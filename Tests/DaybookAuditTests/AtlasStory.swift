import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

/// A short history with every kind of change: the source of the exports in `Fixtures`.
enum AtlasStory {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Country",
            attributes: [
                AttributeDescription(
                    name: "alpha2", type: .string, isOptional: false, isUnique: true),
                AttributeDescription(
                    name: "name", type: .string, isOptional: false, isIndexed: true),
                AttributeDescription(name: "motto", type: .string),
                AttributeDescription(name: "callingCode", type: .int16),
                AttributeDescription(name: "founded", type: .date),
            ],
            relationships: [
                RelationshipDescription(
                    name: "subdivisions", destinationName: "Subdivision", inverseName: "country",
                    isToMany: true, deleteRule: .cascade)
            ]),
        EntityDescription(
            name: "Subdivision",
            attributes: [
                AttributeDescription(
                    name: "code", type: .string, isOptional: false, isUnique: true),
                AttributeDescription(name: "name", type: .string),
            ],
            relationships: [
                RelationshipDescription(
                    name: "country", destinationName: "Country", inverseName: "subdivisions")
            ]),
        EntityDescription(
            name: "Union",
            attributes: [AttributeDescription(name: "name", type: .string, isOptional: false)],
            relationships: [
                RelationshipDescription(
                    name: "members", destinationName: "Country", isToMany: true, isOrdered: true)
            ]),
    ])

    /// Writes the story; recording times begin at noon on 2024-01-02 and advance by a minute.
    static func write() throws -> TemporaryStore {
        var options = StoreOptions.counting()
        let clock = Counter(1_704_196_800_000_000, step: 60_000_000)
        options.clock = { clock.next() }
        let temporary = try TemporaryStore(model, options: options)
        var writer = StoryWriter(store: temporary.store)
        try writer.write()
        return temporary
    }
}

private struct StoryWriter {
    let store: Store

    mutating func write() throws {
        let france = try store.newObject("Country")
        let turkey = try store.newObject("Country")
        let antilles = try store.newObject("Country")
        let paris = try store.newObject("Subdivision")
        let lyon = try store.newObject("Subdivision")
        let curacao = try store.newObject("Subdivision")
        try save(
            [
                store.insert(
                    france,
                    [
                        "alpha2": .string("FR"), "name": .string("France"),
                        "motto": .string("Liberté, \"égalité\",\nfraternité"),
                        "callingCode": .int(33),
                    ]),
                store.insert(
                    turkey,
                    ["alpha2": .string("TR"), "name": .string("Turkey"), "motto": .string("")]),
                store.insert(
                    antilles,
                    [
                        "alpha2": .string("AN"), "name": .string("Netherlands Antilles"),
                        "founded": .date(Date(timeIntervalSince1970: -474_854_400)),
                    ]),
            ], author: "registry", note: "First edition", at: 156_297_600_000_000)
        try save(
            [
                store.insert(
                    paris,
                    [
                        "code": .string("FR-75"), "name": .string("Paris"),
                        "country": .object(france),
                    ]
                ),
                store.insert(lyon, ["code": .string("FR-69"), "country": .object(france)]),
                store.insert(
                    curacao,
                    [
                        "code": .string("AN-C"), "name": .string("Curaçao"),
                        "country": .object(antilles),
                    ]),
            ], author: "registry", context: "import")
        try save(
            [store.update(lyon, "name", from: .null, to: .string("Rhône"))], author: "Ada",
            note: "A name that was missing\n\nThe department, not the metropolis.")
        try withdraw(antilles, with: curacao)
        try save(
            [renaming(turkey)], author: "registry", note: "Its own spelling",
            at: 1_657_497_600_000_000)
        try unite(france, turkey)
        try save(
            [store.update(france, "callingCode", from: .int(33), to: .int(-1))],
            author: "=cmd")
        _ = try store.commit(
            try store.undoRequest(
                of: SequenceNumber(9), author: "Ada", note: "That was a joke",
                info: ["request": "77", "reason": "A \"joke\", they say"]))
    }

    private func renaming(_ country: ObjectID) -> Change {
        let edits = [
            Edit(
                property: store.property("motto", of: country).number, old: .string(""),
                new: .null),
            Edit(
                property: store.property("name", of: country).number, old: .string("Turkey"),
                new: .string("Türkiye")),
        ]
        return Change(object: country, kind: .update(edits: edits, members: []))
    }

    private func withdraw(_ country: ObjectID, with subdivision: ObjectID) throws {
        var cascaded = try store.delete(subdivision)
        cascaded.cause = country
        try save(
            [try store.delete(country), cascaded], author: "registry", note: "Newsletter VI-8",
            at: 1_323_907_200_000_000)
    }

    private func unite(_ first: ObjectID, _ second: ObjectID) throws {
        let union = try store.newObject("Union")
        let places = [Member(object: first, order: 1), Member(object: second, order: 2)]
        try save([store.insert(union, ["name": .string("Pair")], members: ["members": places])])
        try save(
            [
                store.update(
                    union, "members", adding: [Member(object: first, order: 2.5)],
                    removing: [Member(object: first, order: 1)])
            ], kind: .batch)
    }

    private func save(
        _ changes: [Change], author: String? = nil, note: String? = nil, context: String? = nil,
        at time: Int64? = nil, kind: EntryKind = .save
    ) throws {
        let header = EntryHeader(
            kind: kind, author: author, note: note, context: context, occurredAt: time,
            base: try store.head())
        _ = try store.commit(SaveRequest(header: header, changes: changes))
    }
}
