import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// A store of a given number of changes, with its queries.
struct ScalingStore {
    let store: Store
    /// The time to make it.
    let seconds: Double
    private let entries: Int
    private let first: ObjectID
    private let label: SchemaProperty

    /// The work of every entry: inserts, updates of random objects, and updates of the same ten.
    private let inserts: Int
    private let updates: Int
    private static let favourites = 10
    /// The maximal number of entries. Where there would be more, an entry updates neighbours,
    /// because updates scattered over a large file rewrite most of its pages each time.
    private static let entriesMaximum = 10_000
    private static let changesOfEntry = 100
    /// The figure is the median of this many queries.
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

    /// The times of queries, in microseconds.
    func times(of question: Scaling.Question, at path: String) throws -> [Double] {
        if question == .opening { return try timesOfOpening(path) }
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        var generator = ReadingOrder(seed: 7)
        var times: [Double] = []
        // Once to bring the pages into memory, and once to measure.
        for isMeasured in [false, true] {
            for _ in 0..<Self.askings {
                let index = Int.random(in: 1...entries, using: &generator)
                let object = Int.random(in: 0..<index * inserts, using: &generator)
                let sequence = SequenceNumber(UInt64(index + 1))
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

/// Makes the changes entry by entry.
private struct ScalingFiller {
    private let entity: SchemaEntity
    private let count: SchemaProperty
    private let first: ObjectID
    /// The number of updates of each object, by number from the first on.
    private var counts: [Int64] = []
    private var generator = ReadingOrder(seed: 3)
    /// Whether an entry updates random objects instead of neighbours.
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
        // No entry updates its own inserts, so the first entry only inserts.
        let older = counts.count
        for _ in 0..<inserts {
            let index = counts.count
            // The first number was reserved to find out where numbers begin.
            let number = index == 0 ? first.number : try newNumber()
            precondition(number == first.number + UInt64(index), "Numbers follow on one another.")
            var values = [Value](repeating: .null, count: entity.storedSlotCount)
            for property in entity.slots {
                guard let slot = property.slot else { continue }
                values[slot] = property === count ? .int(0) : .string("\(property.name) \(index)")
            }
            changes.append(
                Change(
                    object: ObjectID(entity: first.entity, number: number),
                    kind: .insert(values: values, members: [])))
            counts.append(0)
        }
        guard older > favourites else { return changes }
        updated.formUnion(0..<favourites)
        var index = Int.random(in: 0..<older, using: &generator)
        while updated.count < min(older, favourites + updates) {
            updated.insert(index)
            index =
                isScattered
                ? Int.random(in: 0..<older, using: &generator) : (index + 1) % older
        }
        for index in updated.sorted() {
            let edit = Edit(
                property: count.number, old: .int(counts[index]), new: .int(counts[index] + 1))
            counts[index] += 1
            changes.append(
                Change(
                    object: ObjectID(
                        entity: first.entity, number: first.number + UInt64(index)),
                    kind: .update(edits: [edit], members: [])))
        }
        return changes
    }
}
