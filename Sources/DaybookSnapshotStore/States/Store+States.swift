package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// A record that a fold has written.
package struct StateRecord: Sendable, Hashable {
    /// The key without the number of its generation.
    package let key: [UInt8]
    /// The value; nil to remove the record.
    package let value: [UInt8]?

    /// A record, or the removal of one.
    package init(key: [UInt8], value: [UInt8]?) {
        self.key = key
        self.value = value
    }
}

/// What a fold has made of some entries, to be kept together with how far it has come.
package struct StatePage: Sendable {
    private let task: FoldTask
    private let target: JournalPlace
    private let records: [StateRecord]

    /// Describes a page.
    ///
    /// - Parameters:
    ///   - task: What the fold has worked on.
    ///   - target: Behind which entry the state stands then.
    ///   - records: What was written, sorted by key, each key once.
    package init(_ task: FoldTask, to target: JournalPlace, _ records: [StateRecord]) {
        self.task = task
        self.target = target
        self.records = records
    }

    /// Writes the records and moves the state, unless it stands elsewhere.
    ///
    /// - Returns: The projection then; nil when another has moved, replaced or removed the state, and nothing was
    ///   written.
    fileprivate func carryOut(
        _ table: Table, _ parts: StoreParts, in transaction: borrowing WriteTransaction
    ) throws -> FoldedState? {
        let meta = parts.tables.meta
        var list = try StoreMetadata.states(meta, in: transaction)
        guard try task.isStill(in: list) else { return nil }
        var generation =
            try task.generation ?? list.begin(task.name, version: task.version, task.form)
        try write(&generation, table, in: transaction)
        generation.place = target
        list.move(
            generation, of: task.name, head: try parts.journal.head(in: transaction))
        try StoreMetadata.setStates(list, meta, in: transaction)
        return list.state(named: task.name)
    }

    private func write(
        _ generation: inout StateGeneration, _ table: Table,
        in transaction: borrowing WriteTransaction
    ) throws {
        let prefix = StateTable.prefix(generation.number)
        for record in records {
            let key = prefix + record.key
            let former = try transaction.get(table, key.span.bytes) { bytes in
                let isSame = record.value.map { bytes.hasSameBytes(as: $0.span.bytes) } ?? false
                return (byteCount: bytes.byteCount, isSame: isSame)
            }
            if former?.isSame == true { continue }
            if let former {
                try generation.count(keys: -1, bytes: -(record.key.count + former.byteCount))
            }
            if let value = record.value {
                try transaction.put(table, key.span.bytes, value.span.bytes, .upsert)
                try generation.count(keys: 1, bytes: record.key.count + value.count)
            } else if former != nil {
                _ = try transaction.delete(table, key.span.bytes)
            }
        }
    }
}

/// What a fold is to do next.
package struct FoldTask: Sendable {
    let name: String
    let version: Int
    let form: ProjectionKeyForm
    /// The projection as it was found; nil for a new one.
    let projection: FoldedState?
    /// The state to move; nil for one that has to begin.
    package let generation: StateGeneration?
    /// The last entry at that time.
    package let head: SequenceNumber
    /// The entry to reach.
    package let target: SequenceNumber

    /// Behind which entry the state stands.
    package var place: JournalPlace { generation?.place ?? JournalPlace(.zero, .zero) }

    /// Whether the state to move stands where it was found, or is still to begin.
    fileprivate func isStill(in list: StateList) throws -> Bool {
        let kept = list.state(named: name)
        if let generation { return kept?.generation(generation.number) == generation }
        return try kept?.generation(movedBy: version, to: .zero, rebuilds: true) == nil
    }

    /// Whether there is nothing left to do.
    package var isDone: Bool { generation == projection?.current && place.sequence >= target }
}

extension Store {
    /// What a fold is to do next.
    ///
    /// - Parameters:
    ///   - name: The projection.
    ///   - version: The version of the fold.
    ///   - form: What its keys are.
    ///   - rebuilds: Whether a state that is being built goes before the one that is read.
    ///   - target: The entry to reach; nil for the last one, also where that has become an earlier one.
    /// - Returns: The state to move, and what there is to be folded.
    /// - Throws: ``StoreError`` with ``StoreError/Code/readOnly``; with
    ///   ``StoreError/Code/projectionSuperseded`` when a newer version has taken over; with
    ///   ``StoreError/Code/unreadableValue`` when the version has keys of another form; with
    ///   ``StoreError/Code/generation`` when the state was folded out of entries that are gone.
    package func foldTask(
        of name: String, version: Int, _ form: ProjectionKeyForm, rebuilds: Bool,
        through target: SequenceNumber? = nil
    ) throws -> FoldTask {
        guard !options.isReadOnly else { throw StoreError.readOnly(path) }
        return try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            let list = try StoreMetadata.states(parts.tables.meta, in: transaction)
            let kept = list.state(named: name)
            // Entries may have been cut off since the target was set.
            let target = min(target ?? head, head)
            // A state of entries that are gone has no future: what is being built in its place goes first.
            let isLost =
                try kept.map { try !parts.journal.has($0.current.place, in: transaction) } ?? false
            let generation = try kept?.generation(
                movedBy: version, to: target, rebuilds: rebuilds || isLost)
            try generation?.check(form, of: name)
            if let generation, try !parts.journal.has(generation.place, in: transaction) {
                throw StoreError.stateLost(name, generation.place.sequence)
            }
            return FoldTask(
                name: name, version: version, form: form, projection: kept,
                generation: generation, head: head, target: target)
        }
    }

    /// Keeps what a fold has made of some entries, in one LMDB transaction.
    ///
    /// - Returns: The projection then; nil when another was faster, and nothing was written.
    /// - Throws: ``StoreError`` with ``StoreError/Code/full`` and the like. The store is unchanged then.
    /// - Complexity: O(*k* log *n*) page reads and writes, *k* the number of records.
    package func keep(_ page: StatePage) throws -> FoldedState? {
        let table = try stateTableMade()
        return try writing { [parts] in try page.carryOut(table, parts, in: $0) }
    }

    /// Begins to build a state of a projection beside the one that is read; does nothing when there is no such
    /// projection.
    ///
    /// - Parameters:
    ///   - name: The projection.
    ///   - version: The version of the fold.
    ///   - form: What its keys are.
    /// - Returns: The state; nil when there is no such projection.
    /// - Throws: ``StoreError`` with ``StoreError/Code/projectionSuperseded``, with
    ///   ``StoreError/Code/readOnly`` and the like. The store is unchanged then.
    package func beginState(
        of name: String, version: Int, _ form: ProjectionKeyForm
    ) throws -> StateGeneration? {
        try writing { [parts] transaction in
            var list = try StoreMetadata.states(parts.tables.meta, in: transaction)
            guard let kept = list.state(named: name) else { return nil }
            try kept.checkNewest(version)
            let begun = try list.begin(name, version: version, form)
            try StoreMetadata.setStates(list, parts.tables.meta, in: transaction)
            return begun
        }
    }

    /// Refuses where a state that was begun has neither taken the place of the one before nor been followed by another:
    /// a newer version has begun its own.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/projectionSuperseded``.
    package func checkReplaced(
        by begun: StateGeneration, _ name: String, _ version: Int
    ) throws {
        try reading { transaction in
            let list = try StoreMetadata.states(parts.tables.meta, in: transaction)
            guard let kept = list.state(named: name), kept.current.number < begun.number
            else { return }
            try kept.checkNewest(version)
        }
    }

    /// Forgets a projection with its states; does nothing when there is none of the name.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/readOnly`` and the like.
    /// - Complexity: One write; then as ``removeDiscardedStates()``.
    package func removeState(named name: String) throws {
        try writing { [parts] transaction in
            var list = try StoreMetadata.states(parts.tables.meta, in: transaction)
            guard list.state(named: name) != nil else { return }
            list.remove(name)
            try StoreMetadata.setStates(list, parts.tables.meta, in: transaction)
        }
        try removeDiscardedStates()
    }

    /// Removes what is left of states that have been replaced or forgotten, in writes of a bounded size, between
    /// which others can save.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/readOnly`` and the like; what has been removed stays so.
    /// - Complexity: O(*k* log *n*) page reads and writes, *k* the number of records left.
    package func removeDiscardedStates() throws {
        while try removeSomeDiscardedStates() {}
    }

    /// Removes some of it.
    ///
    /// - Returns: Whether there is more.
    package func removeSomeDiscardedStates() throws -> Bool {
        guard try !discardedStates().isEmpty, let table = try stateTable() else { return false }
        return try writing { [meta = parts.tables.meta] transaction in
            var list = try StoreMetadata.states(meta, in: transaction)
            guard let number = list.discarded.first else { return false }
            let keys = try Self.keys(of: number, table, in: transaction)
            for key in keys { _ = try transaction.delete(table, key.span.bytes) }
            guard keys.isEmpty else { return true }
            list.forget(discarded: number)
            try StoreMetadata.setStates(list, meta, in: transaction)
            return !list.discarded.isEmpty
        }
    }

    /// The generations of which records are still to be removed.
    package func discardedStates() throws -> [UInt32] {
        try reading { try StoreMetadata.states(parts.tables.meta, in: $0).discarded }
    }

    /// The first keys of a generation, as many as are removed in one write.
    private static func keys(
        of generation: UInt32, _ table: Table, in transaction: borrowing WriteTransaction
    ) throws -> [[UInt8]] {
        let prefix = StateTable.prefix(generation)
        var keys: [[UInt8]] = []
        var bytes = 0
        guard let end = StoreKey.end(of: prefix) else { return keys }
        // A damaged record is removed like any other.
        try transaction.scan(
            table.unchecked, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
        ) { key, value in
            keys.append(key.array)
            bytes += value.byteCount
            return keys.count < removedTogether && bytes < bytesRemovedTogether ? .proceed : .stop
        }
        return keys
    }

    private static let removedTogether = 8192
    private static let bytesRemovedTogether = 64 << 20

    /// The table of states, made if it does not exist.
    private func stateTableMade() throws -> Table {
        guard !options.isReadOnly else { throw StoreError.readOnly(path) }
        let environment = try openEnvironment()
        return try wrapping { try environment.table(making: StateTable.name) }
    }
}

extension StateGeneration {
    /// Refuses keys of another form.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreadableValue``.
    package func check(_ form: ProjectionKeyForm, of name: String) throws(StoreError) {
        guard form != self.form else { return }
        throw StoreError(
            .unreadableValue,
            "The keys of the projection '\(name)' are of the form '\(self.form)' in version \(version), and not "
                + "'\(form)'. Give the fold a higher version.")
    }
}
