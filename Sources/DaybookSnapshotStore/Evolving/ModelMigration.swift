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
    private let info: [String: String]
    private let work: LongWork
    private let origin: ManagedObjectModel?

    /// - Parameters:
    ///   - model: The program's model.
    ///   - options: Which steps are allowed, and which names have changed.
    ///   - path: The store.
    ///   - author: The author of the entry.
    ///   - note: Its note.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - origin: The only model to start from, as a version keeps it; nil for any.
    init(
        to model: ManagedObjectModel, options: StoreOptions, path: String, author: String? = nil,
        note: String? = nil, info: [String: String] = [:], from origin: ManagedObjectModel? = nil
    ) {
        self.origin = origin
        self.model = model
        wanted = model.versioned
        self.options = options
        self.path = path
        self.author = author
        self.note = note
        self.info = info
        work = LongWork(options.work)
    }

    /// The store's version of the program's model: the one in force, an earlier one, or one that is
    /// made now.
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
        let preparation = try environment.read { try prepare(parts, in: $0) }
        return try environment.write { transaction in
            _ = try migrate(parts, preparation, in: transaction)
            let place = try ModelPlace.last(parts.tables, in: transaction)
            let version = try Projection.model(parts.tables, setBy: place.sequence, in: transaction)
            return StoreModel(place: place, schema: Schema(version))
        }
    }

    /// The newest earlier version that has exactly this model.
    private func earlier(
        _ parts: StoreParts, _ last: StoreModel, in transaction: borrowing ReadTransaction
    ) throws -> StoreModel? {
        for sequence in try Projection.models(parts.tables, in: transaction).reversed()
        where sequence < last.sequence {
            let version = try Projection.model(parts.tables, setBy: sequence, in: transaction)
            guard version.model == wanted else { continue }
            return StoreModel(
                place: ModelPlace(sequence: sequence, rewinds: last.place.rewinds),
                schema: Schema(version))
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

    /// What is known of a store before it is written.
    struct Preparation: Sendable {
        /// The last entry that has been seen.
        fileprivate let head: SequenceNumber
        /// The entry that set the model in force then.
        fileprivate let model: ModelPlace
        fileprivate let check: MigrationCheck
    }

    /// Looks at the objects while others may write.
    ///
    /// - Throws: As ``resolved(_:_:_:)``.
    /// - Complexity: O(*n*) page reads, *n* the number of objects of the entities that a step concerns.
    func prepare(
        _ opened: StoreParts, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Preparation {
        let head = try opened.journal.head(in: transaction)
        let model = try ModelPlace.last(opened.tables, in: transaction)
        let before = try Projection.model(opened.tables, setBy: model.sequence, in: transaction)
        if let origin, before.model != origin { throw StoreError.overtaken() }
        let (_, check) = try plan(opened.with(Schema(before)), after: head, in: transaction)
        return Preparation(head: head, model: model, check: check)
    }

    /// Appends the entry that sets the program's model.
    ///
    /// Runs in the write transaction, so it looks again: another program may have set a model meanwhile,
    /// or changed objects.
    func migrate(
        _ opened: StoreParts, _ preparation: Preparation, in transaction: borrowing WriteTransaction
    ) throws -> MigrationOutcome {
        let last = try LastCommitState.current(opened, in: transaction)
        let before = try Projection.model(
            opened.tables, setBy: last.model.sequence, in: transaction)
        if let origin, before.model != origin { throw StoreError.overtaken() }
        let parts = opened.with(Schema(before))
        let plan = try plan(parts, after: last, preparation, in: transaction)
        guard plan.version != before else { return plan.outcome() }
        let header = EntryHeader(
            kind: .model, author: author, note: note, info: info, base: last.head.sequence)
        let deferred = options.deferredIndexes(
            of: Schema(plan.version), since: parts.projection.schema)
        let entry = try ModelEntry(
            header, plan.version, plan.changes, work, deferring: deferred
        ).append(
            to: parts, after: last, clock: options.clock, in: transaction)
        if plan.isUnfinished {
            var check = MigrationCheck(plan.steps, parts, to: Schema(plan.version))
            try check.verify(in: transaction)
        }
        try work.finish()
        return plan.outcome(entry)
    }

    /// The outcome that migrating would have.
    func preview(
        _ inForce: ModelInForce, in transaction: borrowing some Reading & ~Copyable
    ) throws -> MigrationOutcome {
        let head = try inForce.parts.journal.head(in: transaction)
        let (version, check) = try plan(inForce.parts, after: head, in: transaction)
        return try plan(inForce.parts, version, check, in: transaction).outcome()
    }

    private func plan(
        _ parts: StoreParts, after head: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> (ModelVersion, MigrationCheck) {
        let before = parts.projection.schema
        let version = try version(after: before, in: head.next)
        let schema = Schema(version)
        let steps = schema.steps(from: before)
        try permit(steps)
        var check = MigrationCheck(steps, parts, to: schema, work)
        try check.run(in: transaction)
        return (version, check)
    }

    /// The same from a preparation, if that was for the same model.
    private func plan(
        _ parts: StoreParts, after last: LastCommitState, _ preparation: Preparation,
        in transaction: borrowing WriteTransaction
    ) throws -> Plan {
        let head = last.head.sequence
        // What objects were brought over since is not worth finding out.
        let isOutdated = preparation.head < head && preparation.check.bringsContent
        guard preparation.model == last.model, !isOutdated else {
            let (version, check) = try plan(parts, after: head, in: transaction)
            return try plan(parts, version, check, in: transaction)
        }
        let before = parts.projection.schema
        let version = try version(after: before, in: head.next)
        let schema = Schema(version)
        var check = preparation.check
        if preparation.head < head {
            let touched = try parts.touched(
                from: preparation.head.next, through: head, in: transaction)
            try check.complete(for: touched, to: schema, in: transaction)
        }
        return try plan(parts, version, check, in: transaction)
    }

    /// The plan with the values of derived attributes.
    private func plan(
        _ parts: StoreParts, _ version: ModelVersion, _ check: MigrationCheck,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Plan {
        let (before, schema) = (parts.projection.schema, Schema(version))
        let changes = try DerivedValues.completed(
            check.changes, parts.with(schema).projection,
            renewing: schema.derivationsRenewed(after: before), in: transaction)
        return Plan(
            version: version, steps: schema.steps(from: before), changes: changes,
            isUnfinished: check.isUnfinished)
    }

    private struct Plan {
        let version: ModelVersion
        let steps: [ModelStep]
        let changes: [Change]
        /// Whether objects are looked at again when the changes are folded.
        let isUnfinished: Bool

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
    private let work: LongWork?
    private let deferred: [PropertyNumber]

    /// - Parameters:
    ///   - header: The header.
    ///   - version: The model.
    ///   - changes: The changes that objects need to fit it.
    ///   - work: Told of every object that is looked at.
    ///   - deferred: The properties whose index is built later.
    init(
        _ header: EntryHeader, _ version: ModelVersion, _ changes: [Change],
        _ work: LongWork? = nil, deferring deferred: [PropertyNumber] = []
    ) {
        self.header = header
        self.version = version
        self.changes = changes
        self.work = work
        self.deferred = deferred
    }

    @discardableResult
    func append(
        to parts: StoreParts, after state: LastCommitState, clock: () -> Int64,
        in transaction: borrowing WriteTransaction
    ) throws -> JournalEntry {
        try EntryInfo.check(header.info)
        // Before the model changes again, every index is complete.
        var last = try parts.completeIndexes(after: state, in: transaction)
        if !deferred.isEmpty {
            last = last.with(PendingIndexes(of: deferred))
            try StoreMetadata.setPendingIndexes(last.pending, parts.tables.meta, in: transaction)
        }
        var draft = EntryDraft(parts, after: last, work)
        var changes = changes
        changes.sortAsInEntry()
        try draft.fold(EntryPayload.bytes(header, version, changes), in: transaction)
        let entry = try draft.append(
            recordedAt: max(clock(), last.head.recordedAt), occurredAt: header.occurredAt,
            settingModel: true, in: transaction)
        try ObjectNumbers.cover(changes, parts.tables.meta, in: transaction)
        transaction.remember(draft.last)
        return entry
    }
}

extension StoreParts {
    /// The objects that some entries have changed, and those to which they began or ceased to refer.
    fileprivate func touched(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Set<ObjectID> {
        var touched: Set<ObjectID> = []
        try journal.entries(from: first, through: last, in: transaction) { entry in
            for change in try Entry(entry).changes {
                touched.insert(change.object)
                guard let entity = projection.schema.entity(change.object.entity) else { continue }
                change.forEachReference(of: entity) { touched.insert($0.destination) }
            }
            return .proceed
        }
        return touched
    }

    /// The same store, read and folded by another model.
    func with(_ schema: Schema) -> StoreParts {
        StoreParts(
            journal: journal, projection: Projection(tables: projection.tables, schema: schema))
    }
}

extension ModelStep {
    /// Whether the step has no effect on what is stored.
    fileprivate var isSilent: Bool {
        switch kind {
        case .changeDefault, .changeConfidential, .changeRequirements, .changeLaws, .annotate:
            true
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
