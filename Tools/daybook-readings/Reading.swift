import Daybook
import Foundation

/// A country of the store, as the model in 'Tools/damage' describes it.
final class Country: ManagedObject {
    @Attribute(.unique) var code: String
    @Attribute([.indexed, .required]) var name: String
    @Attribute var text: String?
    @Attribute var picture: Data?
    @Relationship(.cascade, inverse: \Town.country) var towns: Set<Town>
}

/// A town of a country.
final class Town: ManagedObject {
    @Attribute(.indexed) var number: Int?
    @Relationship var country: Country?
}

/// A way of reading.
enum Reading: CaseIterable {
    case scan, order, range, faults, batches, toOne, toMany, aggregates, largeData, past,
        pastByIndex
    case history, differences, tags, checkpoint, verification

    /// Opens the store, reads, and adds up what was read.
    func sum(_ path: String, checkpoint: String, key: String) throws -> String {
        let container = try PersistentContainer(
            URL(fileURLWithPath: path), model: [Country.self, Town.self])
        let context = try context(of: container)
        return try context.performAndWait {
            var failure: (any Error)?
            context.inaccessibleFaultHandler = { failure = $1 }
            var sum = Sum()
            switch self {
            case .checkpoint, .verification:
                try verify(container, against: checkpoint, key, into: &sum)
            case .differences:
                for difference in try container.differences(
                    from: .sequence(SequenceNumber(4)), to: .head)
                {
                    sum.add(difference.objectID.uriRepresentation().path)
                    sum.add(difference.changes.map { "\($0.name) \($0.old) \($0.new)" })
                }
            case .tags: sum.add(try container.tags().map { "\($0.name) \($0.sequence)" })
            default: try read(context, into: &sum)
            }
            if let failure { throw failure }
            return sum.description
        }
    }

    private func context(of container: PersistentContainer) throws -> ManagedObjectContext {
        switch self {
        case .past, .pastByIndex: try container.context(at: .sequence(SequenceNumber(9)))
        default: container.newBackgroundContext()
        }
    }

    private func read(_ context: ManagedObjectContext, into sum: inout Sum) throws {
        var countries = FetchRequest<Country>()
        var towns = FetchRequest<Town>()
        switch self {
        case .scan, .past:
            countries.condition = Condition("text CONTAINS 'long' AND name != 'name 7'")
            countries.returnsObjectsAsFaults = false
            for country in try context.fetch(countries) { sum.add(country) }
        case .order:
            countries.order = [.descending(\.name)]
            countries.limit = 30
            for country in try context.fetch(countries) { sum.add(country) }
        case .range, .pastByIndex:
            towns.condition = \Town.number >= 40 && \Town.number < 140
            for town in try context.fetch(towns) { sum.add(town) }
        case .faults:
            for town in try context.fetch(towns) { sum.add(town) }
        case .batches:
            towns.fetchBatchSize = 50
            for town in try context.fetch(towns) { sum.add(town) }
        case .toOne:
            towns.condition = Condition("country.name BEGINSWITH 'new'")
            for town in try context.fetch(towns) { sum.add(town.country?.code ?? "none") }
        case .toMany:
            for country in try context.fetch(countries) {
                sum.add(country.code)
                for number in country.towns.map({ $0.number ?? -1 }).sorted() { sum.add(number) }
            }
        case .aggregates:
            sum.add(try context.fetch(.sum(\Town.number), of: towns))
            sum.add(try context.count(FetchRequest<Town>(where: \.number > 40)))
        case .largeData:
            countries.condition = Condition("picture != nil")
            for country in try context.fetch(countries) {
                sum.add(country.picture?.base64EncodedString() ?? "none")
            }
        default:
            for country in try context.fetch(countries).prefix(5) {
                for revision in try context.history(of: country.objectID) {
                    sum.add(
                        "\(revision.sequence) \(revision.changes.map { "\($0.old) \($0.new)" })")
                }
                for blame in try context.blame(of: country.objectID) {
                    sum.add("\(blame.name) \(blame.sequence) \(blame.value)")
                }
            }
        }
    }

    private func verify(
        _ container: PersistentContainer, against checkpoint: String, _ key: String,
        into sum: inout Sum
    ) throws {
        let store = container.persistentStoreCoordinator.persistentStores[0]
        let note = try SignedNote(String(contentsOfFile: checkpoint, encoding: .utf8))
        let key = try VerifierKey(
            String(contentsOfFile: key, encoding: .utf8).trimmingCharacters(in: .newlines))
        guard self == .checkpoint else {
            return sum.add("\(try store.verify(against: note, signedBy: key).size)")
        }
        for number in [SequenceNumber(1), SequenceNumber(40)] {
            let entry = try store.proof(of: number, in: note)
            try entry.verify(with: key)
            sum.add("\(number)")
        }
    }
}

/// A sum that the order matters to (FNV-1a).
struct Sum: CustomStringConvertible {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325
    private var count = 0

    mutating func add(_ text: String) {
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        value = (value ^ 0xff) &* 0x100_0000_01b3
        count += 1
    }

    mutating func add(_ texts: [String]) {
        for text in texts { add(text) }
    }

    mutating func add(_ number: Int) {
        add("\(number)")
    }

    mutating func add(_ country: Country) {
        add([country.code, country.name, country.text ?? "none"])
    }

    mutating func add(_ town: Town) {
        add(town.number ?? -1)
    }

    var description: String { "\(count) values, \(String(value, radix: 16))" }
}
