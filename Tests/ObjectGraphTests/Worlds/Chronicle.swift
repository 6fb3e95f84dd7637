import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

@testable import DaybookObjectGraph

/// A random history with all its states, and a stack on the same file.
struct Chronicle {
    let history: RandomHistory
    let container: PersistentContainer

    var reference: ReferenceModel { history.reference }
    var schema: Schema { history.store.schema }
    var store: PersistentStore { container.persistentStoreCoordinator.persistentStores[0] }

    init(seed: UInt64, entries: Int) throws {
        history = try RandomHistory(seed: seed, entries: entries)
        container = try TestContainer.make(
            URL(fileURLWithPath: history.store.path), managedObjectModel: .sample)
    }

    /// Some entries, including the first and last ones.
    func someSequences() -> [UInt64] {
        let head = history.reference.head.rawValue
        return [0, 1, 2, head / 3, head / 2, head - 1, head]
    }
}

/// The result for a state, computed by examining every object.
struct PlainWorld {
    let states: ReferenceModel.World
    let schema: Schema

    func objects(_ entities: String...) -> [ObjectID] {
        states.keys.filter { entities.contains(schema.entity($0.entity)?.name ?? "") }.sorted()
    }

    func value(_ name: String, _ object: ObjectID) -> Value {
        guard let property = property(name, object), let slot = property.slot else {
            return .null
        }
        return states[object]?.values[slot] ?? .null
    }

    func related(_ name: String, _ object: ObjectID) -> [ObjectID] {
        guard let property = property(name, object) else { return [] }
        if property.slot != nil { return value(name, object).reference.map { [$0] } ?? [] }
        if property.isStoredToMany {
            let members = states[object]?.members[property.number] ?? [:]
            return members.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
        }
        guard let number = property.end?.inverse, let inverse = schema.property(number) else {
            return []
        }
        return ReferenceModel.referrers(to: object, inverse, in: states, schema)
    }

    func age(_ object: ObjectID) -> Int64? {
        if case .int(let age) = value("age", object) { age } else { nil }
    }

    func text(_ name: String, _ object: ObjectID) -> String? {
        if case .string(let text) = value(name, object) { text } else { nil }
    }

    private func property(_ name: String, _ object: ObjectID) -> SchemaProperty? {
        schema.entity(object.entity)?.property(named: name)
    }

    func persons(_ condition: (ObjectID) -> Bool) -> [ObjectID] {
        objects("Person").filter(condition)
    }

    func companies(_ condition: (ObjectID) -> Bool) -> [ObjectID] {
        objects("Company").filter(condition)
    }

    /// Conditions in the predicate language with their meanings.
    var questions: [(entity: String, text: String, answer: [ObjectID])] {
        [
            ("Person", "age > 2", persons { age($0).map { $0 > 2 } ?? false }),
            ("Person", "age == nil", persons { age($0) == nil }),
            ("Person", "age BETWEEN {-3, 3}", persons { (-3...3).contains(age($0) ?? 99) }),
            ("Person", "age IN {1, 2, 3}", persons { [1, 2, 3].contains(age($0)) }),
            (
                "Person", "name BEGINSWITH 'nn'",
                persons { text("name", $0)?.hasPrefix("nn") ?? false }
            ),
            (
                "Person", "employer.name CONTAINS '1'",
                persons {
                    related("employer", $0).contains { text("name", $0)?.contains("1") ?? false }
                }
            ),
            ("Person", "employer == nil", persons { related("employer", $0).isEmpty }),
            (
                "Person", "employer != nil AND NOT (age > 0)",
                persons {
                    !related("employer", $0).isEmpty && !(age($0).map { $0 > 0 } ?? false)
                }
            ),
            (
                "Person", "ANY skills.title CONTAINS '2'",
                persons {
                    related("skills", $0).contains { text("title", $0)?.contains("2") ?? false }
                }
            ),
            ("Person", "skills.@count >= 2", persons { related("skills", $0).count >= 2 }),
            (
                "Person", "friend.friend.age > 0",
                persons {
                    related("friend", $0).flatMap { related("friend", $0) }
                        .contains { age($0).map { $0 > 0 } ?? false }
                }
            ),
            (
                "Company", "ANY employees.age > 3",
                companies {
                    related("employees", $0).contains { age($0).map { $0 > 3 } ?? false }
                }
            ),
            (
                "Company", "NONE employees.age > 3",
                companies {
                    !related("employees", $0).contains { age($0).map { $0 > 3 } ?? false }
                }
            ),
            ("Company", "employees.@count > 1", companies { related("employees", $0).count > 1 }),
            (
                "Company", "employees.@sum.age > 2",
                companies { related("employees", $0).compactMap(age).reduce(0, +) > 2 }
            ),
            ("Company", "board.@count > 0", companies { !related("board", $0).isEmpty }),
            (
                "Party", "code != nil",
                objects("Person", "Company").filter { text("code", $0) != nil }
            ),
            (
                "Skill", "ANY people.employer.name CONTAINS '0'",
                objects("Skill").filter {
                    related("people", $0).flatMap { related("employer", $0) }
                        .contains { text("name", $0)?.contains("0") ?? false }
                }
            ),
        ]
    }
}
