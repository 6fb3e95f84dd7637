import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// The first version of a program that counts.
enum FirstVersion {
    final class Tally: ManagedObject {
        @Attribute(.unique) var label: String
        @Attribute(merge: .sum) var count: Int = 0
        @Attribute var note: String?
    }

    final class Slip: ManagedObject {
        @Attribute var number: Int = 0
        @Relationship var tally: Tally?
    }

    static func model() throws -> ManagedObjectModel {
        try PersistentStoreCoordinator(classes: [Tally.self, Slip.self]).managedObjectModel
    }
}

/// The second one: other names, more attributes, an index, one more entity.
enum SecondVersion {
    final class Counter: ManagedObject {
        @Attribute(.unique) var title: String
        @Attribute(merge: .sum) var count: Int = 0
        @Attribute var note: String?
        @Attribute var unit: String = "piece"
        @Attribute var remark: String?
    }

    final class Slip: ManagedObject {
        @Attribute(.indexed) var number: Int = 0
        @Relationship var counter: Counter?
    }

    final class Batch: ManagedObject {
        @Attribute var size: Int = 1
    }

    static func model() throws -> ManagedObjectModel {
        var model = try PersistentStoreCoordinator(
            classes: [Counter.self, Slip.self, Batch.self]
        ).managedObjectModel
        for index in model.entities.indices {
            switch model.entities[index].name {
            case "Counter":
                model.entities[index].renamingIdentifier = "Tally"
                for place in model.entities[index].attributes.indices
                where model.entities[index].attributes[place].name == "title" {
                    model.entities[index].attributes[place].renamingIdentifier = "label"
                }
            case "Slip":
                model.entities[index].relationships[0].renamingIdentifier = "tally"
            default: continue
            }
        }
        return model
    }

    /// A third version, in which programs of the others can no longer save.
    static func modelWithoutNotes() throws -> ManagedObjectModel {
        var model = try model()
        for index in model.entities.indices {
            model.entities[index].attributes.removeAll { $0.name == "note" }
        }
        return model
    }
}

/// A program of either version at work on one store: with each save it counts one up, on the counter of all
/// and on its own, and inserts a slip.
protocol TallyProgram {
    init(at url: URL) throws

    var container: PersistentContainer { get }
    var context: ManagedObjectContext { get }

    /// Counts one up, for all and for itself, and inserts a slip with that number; without saving.
    func count(as name: String) throws

    /// The counters, by their names, as this version reads them.
    func counts() throws -> [String: Int]

    /// How many slips a counter has, their numbers added up, and whether all other values are as they
    /// were given.
    func slips(of name: String) throws -> (count: Int, sum: Int, areWhole: Bool)
}

struct FirstProgram: TallyProgram {
    typealias Tally = FirstVersion.Tally
    typealias Slip = FirstVersion.Slip

    let container: PersistentContainer
    let context: ManagedObjectContext

    init(at url: URL) throws {
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        container = try PersistentContainer(
            url, managedObjectModel: FirstVersion.model(), classes: [Tally.self, Slip.self],
            options: options)
        context = container.newBackgroundContext()
    }

    func make(_ names: [String]) throws {
        try context.performAndWait { () throws in
            for name in names {
                let tally = Tally(context: context)
                tally.label = name
                tally.note = "for \(name)"
            }
            try context.save(author: "first")
        }
    }

    func count(as name: String) throws {
        let own = try tally(name)
        own.count += 1
        try tally("all").count += 1
        let slip = Slip(context: context)
        slip.number = own.count
        slip.tally = own
    }

    func counts() throws -> [String: Int] {
        let tallies = try context.fetch(FetchRequest<Tally>())
        return Dictionary(uniqueKeysWithValues: tallies.map { ($0.label, $0.count) })
    }

    func slips(of name: String) throws -> (count: Int, sum: Int, areWhole: Bool) {
        let own = try tally(name)
        let slips = try context.fetch(FetchRequest<Slip>()).filter { $0.tally === own }
        return (
            slips.count, slips.reduce(0) { $0 + $1.number }, own.note == "for \(name)"
        )
    }

    private func tally(_ name: String) throws -> Tally {
        let found = try context.fetch(FetchRequest<Tally>(where: \Tally.label == name))
        guard let tally = found.first else { throw NoSuchTally(name: name) }
        return tally
    }
}

struct SecondProgram: TallyProgram {
    typealias Counter = SecondVersion.Counter
    typealias Slip = SecondVersion.Slip

    let container: PersistentContainer
    let context: ManagedObjectContext

    init(at url: URL) throws {
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        container = try PersistentContainer(
            url, managedObjectModel: SecondVersion.model(),
            classes: [Counter.self, Slip.self, SecondVersion.Batch.self], options: options)
        context = container.newBackgroundContext()
    }

    func count(as name: String) throws {
        let own = try counter(name)
        own.count += 1
        own.remark = "at \(own.count)"
        try counter("all").count += 1
        let slip = Slip(context: context)
        slip.number = own.count
        slip.counter = own
        _ = SecondVersion.Batch(context: context)
    }

    func counts() throws -> [String: Int] {
        let counters = try context.fetch(FetchRequest<Counter>())
        return Dictionary(uniqueKeysWithValues: counters.map { ($0.title, $0.count) })
    }

    func slips(of name: String) throws -> (count: Int, sum: Int, areWhole: Bool) {
        let own = try counter(name)
        let slips = try context.fetch(FetchRequest<Slip>()).filter { $0.counter === own }
        let remark = name == "second" ? "at \(own.count)" : nil
        return (
            slips.count, slips.reduce(0) { $0 + $1.number },
            own.unit == "piece" && own.remark == remark
        )
    }

    private func counter(_ name: String) throws -> Counter {
        let found = try context.fetch(FetchRequest<Counter>(where: \Counter.title == name))
        guard let counter = found.first else { throw NoSuchTally(name: name) }
        return counter
    }
}

/// A program does not find a counter, or finds something else than was saved.
struct NoSuchTally: Error {
    let name: String
}
