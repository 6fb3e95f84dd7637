internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Brings a store and the model of the program that opens it together.
struct ModelMigration {
    private let model: ManagedObjectModel
    private let wanted: ManagedObjectModel
    private let options: StoreOptions
    private let path: String
    private let author: String?
    private let note: String?
    private let origin: ManagedObjectModel?

    /// - Parameters:
    ///   - model: The program's model.
    ///   - options: Which steps are allowed, and what has other names.
    ///   - path: The store.
    ///   - author: The author of the entry.
    ///   - note: Its note.
    ///   - origin: The only model to start from, as a version keeps it; nil for any.
    init(
        to model: ManagedObjectModel, options: StoreOptions, path: String, author: String? = nil,
        note: String? = nil, from origin: ManagedObjectModel? = nil
    ) {
        self.origin = origin
        self.model = model
        wanted = model.versioned
        self.options = options
        self.path = path
        self.author = author
        self.note = note
    }

    /// The version of the store that the program's model is: the one in force, an earlier one, or one
    /// that is made now.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/modelMismatch`` and every step that the policy
    ///   does not allow; with ``StoreError/Code/validation`` when objects do not; with
    ///   ``StoreError/Code/model`` when something cannot be inferred.
    func resolved(
        _ environment: Environment, _ parts: StoreParts, _ last: StoreModel
    ) throws -> StoreModel {
        if last.schema.model == wanted { return last }
        if let earlier = try environment.read({ try earlier(parts, last, in: $0) }) {
            return earlier
        }
        let steps = try steps(from: last.schema, in: last.sequence.next)
        if steps.allSatisfy(\.isSilent), options.isReadOnly || options.migration == .never {
            return last
        }
        if options.isReadOnly { throw StoreError.modelMismatch(path, steps, .readOnly) }
        try permit(steps)
        return try environment.write { transaction in
            _ = try migrate(parts, in: transaction)
            let sequence = try Projection.lastModel(parts.tables, in: transaction)
            let version = try Projection.model(parts.tables, setBy: sequence, in: transaction)
            return StoreModel(sequence: sequence, schema: Schema(version))
        }
    }

    /// The newest earlier version that has just this model.
    private func earlier(
        _ parts: StoreParts, _ last: StoreModel, in transaction: borrowing ReadTransaction
    ) throws -> StoreModel? {
        for sequence in try Projection.models(parts.tables, in: transaction).reversed()
        where sequence < last.sequence {
            let version = try Projection.model(parts.tables, setBy: sequence, in: transaction)
            guard version.model == wanted else { continue }
            return StoreModel(sequence: sequence, schema: Schema(version))
        }
        return nil
    }

    private func version(after schema: Schema, in entry: SequenceNumber) throws -> ModelVersion {
        try schema.version.evolved(
            to: model, in: entry.rawValue, matching: options.matching)
    }

    /// The steps from the model in force to the program's.
    func steps(from schema: Schema, in entry: SequenceNumber) throws -> [ModelStep] {
        Schema(try version(after: schema, in: entry)).steps(from: schema)
    }

    private func permit(_ steps: [ModelStep]) throws {
        switch options.migration {
        case .automatic: return
        case .never: throw StoreError.modelMismatch(path, steps, .never)
        case .compatible:
            let others = steps.filter { !$0.isCompatible }
            if !others.isEmpty { throw StoreError.modelMismatch(path, others, .compatible) }
        }
    }

    // MARK: - Migrating

    /// Appends the entry that sets the program's model.
    ///
    /// Runs in the write transaction, so it looks again: another program may have set a model meanwhile.
    func migrate(
        _ opened: StoreParts, in transaction: borrowing WriteTransaction
    ) throws -> MigrationOutcome {
        let last = try LastCommitState.current(opened, in: transaction)
        let before = try Projection.model(opened.tables, setBy: last.model, in: transaction)
        if let origin, before.model != origin { throw StoreError.overtaken() }
        let parts = opened.with(Schema(before))
        let plan = try plan(parts, after: last.head.sequence, in: transaction)
        guard plan.version != before else { return plan.outcome() }
        let header = EntryHeader(
            kind: .model, author: author, note: note, base: last.head.sequence)
        let entry = try ModelEntry(header, plan.version, plan.changes).append(
            to: parts, after: last, clock: options.clock, in: transaction)
        if !plan.changes.isEmpty {
            var check = MigrationCheck(plan.steps, parts, to: Schema(plan.version))
            try check.verify(in: transaction)
        }
        return plan.outcome(entry)
    }

    /// What migrating would come to.
    func preview(
        _ inForce: ModelInForce, in transaction: borrowing some Reading & ~Copyable
    ) throws -> MigrationOutcome {
        let head = try inForce.parts.journal.head(in: transaction)
        return try plan(inForce.parts, after: head, in: transaction).outcome()
    }

    private func plan(
        _ parts: StoreParts, after head: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Plan {
        let before = parts.projection.schema
        let after = try version(after: before, in: head.next)
        let schema = Schema(after)
        let steps = schema.steps(from: before)
        try permit(steps)
        var check = MigrationCheck(steps, parts, to: schema)
        let changes = try DerivedValues.completed(
            check.run(in: transaction), parts.with(schema).projection,
            renewing: schema.derivationsRenewed(after: before), in: transaction)
        return Plan(version: after, steps: steps, changes: changes)
    }

    private struct Plan {
        let version: ModelVersion
        let steps: [ModelStep]
        let changes: [Change]

        func outcome(_ entry: JournalEntry? = nil) -> MigrationOutcome {
            MigrationOutcome(
                steps: steps, sequence: entry?.sequence, digest: entry?.digest,
                changesCount: changes.count)
        }
    }
}

/// An entry that sets a model, on its way into the journal.
struct ModelEntry {
    private let header: EntryHeader
    private let version: ModelVersion
    private let changes: [Change]

    init(_ header: EntryHeader, _ version: ModelVersion, _ changes: [Change]) {
        self.header = header
        self.version = version
        self.changes = changes
    }

    @discardableResult
    func append(
        to parts: StoreParts, after last: LastCommitState, clock: () -> Int64,
        in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry {
        var draft = EntryDraft(parts, after: last)
        var changes = changes
        changes.sortAsInEntry()
        try draft.fold(EntryPayload.bytes(header, version, changes), in: transaction)
        let entry = try draft.append(
            recordedAt: max(clock(), last.head.recordedAt), occurredAt: header.occurredAt,
            in: transaction)
        try ObjectNumbers.cover(changes, parts.tables.meta, in: transaction)
        transaction.remember(
            LastCommitState(
                JournalHead(entry), greatest: draft.greatestKnown, model: entry.sequence))
        return entry
    }
}

extension StoreParts {
    /// The same store, read and folded by another model.
    func with(_ schema: Schema) -> StoreParts {
        StoreParts(
            journal: journal, projection: Projection(tables: projection.tables, schema: schema))
    }
}

extension ModelStep {
    /// Whether the step means nothing to what is stored.
    fileprivate var isSilent: Bool {
        switch kind {
        case .changeDefault, .changeConfidential, .annotate: true
        default: false
        }
    }
}

extension StoreError {
    /// Why steps are refused.
    enum MigrationRefusal {
        case readOnly, never, compatible
    }

    static func modelMismatch(
        _ path: String, _ steps: [ModelStep], _ refusal: MigrationRefusal
    ) -> StoreError {
        let remedy =
            switch refusal {
            case .readOnly:
                "Open the store for writing to migrate it, or with its own model."
            case .never:
                "Open the store with its own model, or let it be migrated: 'options.migration = "
                    + ".compatible', or 'daybook migrate'."
            case .compatible:
                "These steps would keep programs with the older model from writing, or hide what is "
                    + "stored, so they must be asked for: 'options.migration = .automatic', or "
                    + "'daybook migrate'. A property or entity that was renamed says so by "
                    + "'.renamed(\"…\")'."
            }
        return StoreError(
            .modelMismatch, "The model differs from the one in '\(path)'. \(remedy)",
            details: steps.map(\.description))
    }
}
