import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// Folds a journal from its first entry and compares the result with the store.
struct Replay {
    /// A predicate that is tested after every entry.
    struct Condition {
        let text: String
        fileprivate let query: Query
        fileprivate let opposite: Query

        /// - Parameters:
        ///   - condition: The condition of the command line.
        ///   - option: The option it came from.
        ///   - schema: The model.
        /// - Throws: ``ToolError`` when it cannot be understood.
        init(_ condition: EntityCondition, _ option: String, _ schema: Schema) throws {
            let (entity, filter) = try condition.resolved(for: option, in: schema)
            text = "\(condition.entity):\(condition.predicate)"
            query = Query(entity, filter: filter, limit: 1)
            opposite = Query(entity, filter: .not(filter), limit: 1)
        }
    }

    /// Why a replay ended before its last entry.
    private struct Stop {
        let sequence: SequenceNumber
        let condition: String
        let object: String
        let isFailure: Bool

        var sentence: String {
            "Entry \(sequence): \(object) \(isFailure ? "does not meet" : "meets") '\(condition)'."
        }

        var document: JSONText {
            [
                "sequence": .unsigned(sequence.rawValue), "condition": .string(condition),
                "object": .string(object),
            ]
        }
    }

    /// The first entry that is shown and tested.
    var first = SequenceNumber(1)
    /// Ends the replay as soon as an object meets it.
    var until: Condition?
    /// Each ends the replay as soon as an object does not meet it.
    var assertions: [Condition] = []
    /// Shows each entry and waits.
    var stepper: Stepper?

    private let store: Store
    private let through: SequenceNumber

    init(of store: Store, through end: SequenceNumber) {
        self.store = store
        through = end
    }

    /// Replays into a new file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - console: Where the result is printed.
    ///   - finish: Called with the closed file before the result is printed.
    /// - Returns: The exit code.
    /// - Throws: `StoreError` when the journal cannot be read or the file written; what `finish` throws.
    mutating func run(
        into path: String, _ console: Console, finish: () throws -> Void = {}
    ) throws -> ExitCode {
        let (copy, stop) = try fold(into: path, console)
        let reached = try copy.head()
        let differences = try compare(with: copy, at: reached)
        let digest = try copy.headDigest()
        try copy.close()
        try finish()
        // After leaving a stepwise replay early, the user does not care about the rest.
        let isUnmet = until != nil && stop == nil && reached == through
        switch console.format {
        case .text:
            if let stop { try console.print(DisplayText.escaped(stop.sentence)) }
            if isUnmet, let until {
                try console.print(DisplayText.escaped("No entry meets '\(until.text)'."))
            }
            for difference in differences { try console.print(difference) }
            let entries = reached == SequenceNumber(1) ? "1 entry" : "\(reached) entries"
            try console.print(
                differences.isEmpty
                    ? "Replayed \(entries): the store holds exactly this."
                    : "Replayed \(entries): \(differences.count) "
                        + (differences.count == 1 ? "difference." : "differences."))
        case .json, .jsonl:
            try console.print(document(reached, digest, differences, stop))
        }
        return differences.isEmpty && stop?.isFailure != true && !isUnmet ? .success : .finding
    }

    private func document(
        _ reached: SequenceNumber, _ digest: Digest, _ differences: [String], _ stop: Stop?
    ) -> JSONText {
        var members = [
            JSONText.Member("sequence", .unsigned(reached.rawValue)),
            JSONText.Member("digest", .string(digest.description)),
            JSONText.Member("differences", .array(differences.map { .string($0) })),
        ]
        if until != nil {
            members.append(
                .init("stopped", stop.flatMap { $0.isFailure ? nil : $0.document } ?? .null))
        }
        if !assertions.isEmpty {
            members.append(
                .init("failed", stop.flatMap { $0.isFailure ? $0.document : nil } ?? .null))
        }
        return .object(members)
    }

    // MARK: - Folding

    /// Makes the new store; each entry must get its original digest.
    private mutating func fold(
        into path: String, _ console: Console
    ) throws -> (copy: Store, stop: Stop?) {
        let progress =
            stepper == nil
            ? console.progress("Replaying entry", of: Int(through.rawValue)) : nil
        defer { progress?.finish() }
        var options = StoreOptions()
        options.durability = .relaxed
        let entry = try store.entry(SequenceNumber(1))
        let copy = try Store.create(
            at: path, loading: entry, options: options, readLike: store)
        progress?.advance()
        var (stop, goesOn) = try look(at: entry, in: copy, console)
        guard goesOn else { return (copy, stop) }
        try store.entries(from: SequenceNumber(2), through: through) { entry in
            try copy.append(exported: entry, withDataOf: store)
            progress?.advance()
            (stop, goesOn) = try look(at: entry, in: copy, console)
            return goesOn ? .proceed : .stop
        }
        return (copy, stop)
    }

    /// Shows an entry that has just been folded, tests the conditions, and waits.
    private mutating func look(
        at entry: Entry, in copy: Store, _ console: Console
    ) throws -> (stop: Stop?, goesOn: Bool) {
        guard entry.sequence >= first else { return (nil, true) }
        try stepper?.show(AuditReader(store).record(of: entry))
        if let stop = try stop(after: entry.sequence, in: copy) { return (stop, false) }
        let isLast = entry.sequence == through
        return (nil, try isLast || stepper?.wait(after: entry.sequence, of: through) ?? true)
    }

    private func stop(after sequence: SequenceNumber, in copy: Store) throws -> Stop? {
        for assertion in assertions {
            guard let object = try first(assertion.opposite, in: copy) else { continue }
            return Stop(
                sequence: sequence, condition: assertion.text, object: object, isFailure: true)
        }
        guard let until, let object = try first(until.query, in: copy) else { return nil }
        return Stop(sequence: sequence, condition: until.text, object: object, isFailure: false)
    }

    /// The name of the first object that a query finds.
    private func first(_ query: Query, in copy: Store) throws -> String? {
        let objects = try copy.read { try $0.fetch(query) }
        return objects.first.map { copy.schema.name(of: $0) }
    }

    // MARK: - Comparing

    /// The differences between the store as of an entry and the replay up to it.
    private func compare(with copy: Store, at reached: SequenceNumber) throws -> [String] {
        try store.read(at: reached) { original in
            try copy.read { replayed in
                var differences: [String] = []
                let entities = store.schema.entities.map(\.number)
                try original.objects(of: entities) { object in
                    let state = try replayed.state(of: object)
                    if state != (try original.state(of: object)) {
                        let name = store.schema.name(of: object)
                        differences.append(
                            state == nil
                                ? "\(name) is in the store and not in the replay."
                                : "\(name) has other values in the store than in the replay.")
                    }
                    return .proceed
                }
                try replayed.objects(of: entities) { object in
                    if try !original.exists(object) {
                        differences.append(
                            "\(store.schema.name(of: object)) is in the replay and not in the store."
                        )
                    }
                    return .proceed
                }
                return differences + (try tableDifferences(with: copy, at: reached))
            }
        }
    }

    /// Compares the tables byte by byte if the whole journal was replayed.
    private func tableDifferences(
        with copy: Store, at reached: SequenceNumber
    ) throws -> [String] {
        guard try store.head() == reached else { return [] }
        let own = try store.projectionDigest()
        let other = try copy.projectionDigest()
        return own.keys.sorted().filter { own[$0] != other[$0] }
            .map { "The table '\($0)' differs from the replay." }
    }
}
