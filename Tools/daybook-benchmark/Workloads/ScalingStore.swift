import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// A store of a given number of changes, and the way to ask it.
struct ScalingStore {
    let store: Store
    /// How long it took to make it.
    let seconds: Double
    private let entries: Int
    private let first: ObjectID
    private let label: SchemaProperty

    /// What every entry does: so many inserts, updates of any objects, and updates of the same ten.
    private let inserts: Int
    private let updates: Int
    private static let favourites = 10
    /// More entries than these are not made, and where there would be more, an entry updates
    /// neighbours: updates scattered over a large file write most of its pages anew each time.
    private static let entriesMaximum = 10_000
    private static let changesOfEntry = 100
    /// The median of so many askings is the figure.
    private static let askings = 2_001
    private static let openings = 21

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item",
            attributes: [
                AttributeDescription(name: "label", type: .string),
                AttributeDescription(name: "count", type: .int64),
                AttributeDescription(name: "remark", type: .string),
            ])
    ])

    init(at path: String, changes: Int) throws {
        entries = min(changes / Self.changesOfEntry, Self.entriesMaximum)
        inserts = changes / entries / 2
        updates = changes / entries - inserts - Self.favourites
        let store = try Store.create(
            at: path, model: Self.model, options: StoreOptions(durability: .relaxed))
        self.store = store
        guard let entity = store.schema.entity(named: "Item"),
            let label = entity.property(named: "label"),
            let count = entity.property(named: "count")
        else { preconditionFailure("The model has what it was given.") }
        self.label = label
        first = ObjectID(entity: entity.number, number: try store.allocateObjectNumber())
        let started = ContinuousClock.now
        let isScattered = changes / Self.changesOfEntry <= Self.entriesMaximum
        var filler = ScalingFiller(entity, count, first: first, isScattered: isScattered)
        for _ in 0..<entries {
            let header = EntryHeader(author: "benchmark")
            let changes = try filler.changes(inserts, updates, Self.favourites) {
                try store.allocateObjectNumber()
            }
            try store.commit(SaveRequest(header: header, changes: changes))
        }
        seconds = Stopwatch.seconds(started.duration(to: .now))
    }

    /// The times that answers take, in microseconds.
    func times(of question: Scaling.Question, at path: String) throws -> [Double] {
        if question == .opening { return try timesOfOpening(path) }
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        var generator = ReadingOrder(seed: 7)
        var times: [Double] = []
        // Once to bring the pages into memory, and once to measure.
        for isMeasured in [false, true] {
            for _ in 0..<Self.askings {
                let place = Int.random(in: 1...entries, using: &generator)
                let object = Int.random(in: 0..<place * inserts, using: &generator)
                let sequence = SequenceNumber(UInt64(place + 1))
                let id = ObjectID(entity: first.entity, number: first.number + UInt64(object))
                let started = ContinuousClock.now
                try ask(question, store, id, sequence)
                if isMeasured { times.append(Stopwatch.seconds(started.duration(to: .now)) * 1e6) }
            }
        }
        try store.close()
        return times
    }

    private func ask(
        _ question: Scaling.Question, _ store: Store, _ object: ObjectID,
        _ sequence: SequenceNumber
    ) throws {
        let isAnswered: Bool
        switch question {
        case .pointRead: isAnswered = try store.row(of: object, at: nil) != nil
        case .pastRead: isAnswered = try store.row(of: object, at: sequence) != nil
        case .blame:
            let blame = try store.blame(of: label, in: first, at: sequence)
            isAnswered = blame?.sequence == SequenceNumber(2)
        case .proof:
            let proof = try store.inclusionProof(
                of: sequence, amongFirst: UInt64(entries + 1))
            isAnswered = proof.index == sequence.rawValue - 1
        case .checkpoint:
            isAnswered =
                try store.checkpoint(origin: "benchmark", at: sequence).size == sequence.rawValue
        case .opening: isAnswered = true
        }
        guard isAnswered else {
            throw WrongResult(DaybookContender.name, question.rawValue, expected: 1, found: 0)
        }
    }

    private func timesOfOpening(_ path: String) throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<Self.openings {
            let started = ContinuousClock.now
            let store = try Store.open(at: path)
            times.append(Stopwatch.seconds(started.duration(to: .now)) * 1e6)
            let head = try store.head()
            guard head.rawValue == UInt64(entries + 1) else {
                throw WrongResult(
                    DaybookContender.name, "the head", expected: entries + 1,
                    found: Int(head.rawValue))
            }
            try store.close()
        }
        return times
    }
}

/// Makes the changes of one entry after the other.
private struct ScalingFiller {
    private let entity: SchemaEntity
    private let count: SchemaProperty
    private let first: ObjectID
    /// How often each object was updated, by number from the first on.
    private var counts: [Int64] = []
    private var generator = ReadingOrder(seed: 3)
    /// Whether the objects that an entry updates are any, and not neighbours.
    private let isScattered: Bool

    init(
        _ entity: SchemaEntity, _ count: SchemaProperty, first: ObjectID, isScattered: Bool
    ) {
        self.isScattered = isScattered
        self.entity = entity
        self.count = count
        self.first = first
    }

    mutating func changes(
        _ inserts: Int, _ updates: Int, _ favourites: Int, newNumber: () throws -> UInt64
    ) throws -> [Change] {
        var changes: [Change] = []
        var updated: Set<Int> = []
        // Nobody updates what the same entry inserts, so the first entry only inserts.
        let older = counts.count
        for _ in 0..<inserts {
            let place = counts.count
            // The first number was taken to know where numbers begin.
            let number = place == 0 ? first.number : try newNumber()
            precondition(number == first.number + UInt64(place), "Numbers follow on one another.")
            var values = [Value](repeating: .null, count: entity.storedSlotCount)
            for property in entity.slots {
                guard let slot = property.slot else { continue }
                values[slot] = property === count ? .int(0) : .string("\(property.name) \(place)")
            }
            changes.append(
                Change(
                    object: ObjectID(entity: first.entity, number: number),
                    kind: .insert(values: values, members: [])))
            counts.append(0)
        }
        guard older > favourites else { return changes }
        updated.formUnion(0..<favourites)
        var place = Int.random(in: 0..<older, using: &generator)
        while updated.count < min(older, favourites + updates) {
            updated.insert(place)
            place =
                isScattered
                ? Int.random(in: 0..<older, using: &generator) : (place + 1) % older
        }
        for place in updated.sorted() {
            let edit = Edit(
                property: count.number, old: .int(counts[place]), new: .int(counts[place] + 1))
            counts[place] += 1
            changes.append(
                Change(
                    object: ObjectID(
                        entity: first.entity, number: first.number + UInt64(place)),
                    kind: .update(edits: [edit], members: [])))
        }
        return changes
    }
}
