import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping

extension ManagedObjectContext {
    /// Runs a closure and saves what it has changed; if others have saved the same objects meanwhile,
    /// merges that and runs the closure again.
    ///
    /// So a value that is computed from what was read is always computed from the newest state:
    ///
    /// ```swift
    /// try context.performAndWait {
    ///     try context.update(author: "teller") {
    ///         account.balance -= amount
    ///         other.balance += amount
    ///     }
    /// }
    /// ```
    ///
    /// The closure may run several times, so everything it does outside of the context happens as often.
    /// It must read everything it depends on inside: values that were read before it are not read again.
    /// It runs again after a conflict, and after a value that must be unique turned out to be taken, so
    /// that it can find the object that has it. If the call throws, everything that the closure has
    /// changed is taken back, and what could be undone before still can. What one of several stores has
    /// saved by then, or the closure has saved itself, stays; the closure does not run again then.
    ///
    /// With `inDoubt`, which only shared stores throw, nothing is taken back: it may have been saved. It stays
    /// pending, as after a save, until ``save(author:note:info:at:)`` settles it or it is rolled back.
    ///
    /// The merge policy of the context is not used: conflicts are settled only by running again.
    ///
    /// In a child the closure runs on what its parent has, and its changes are saved into the parent.
    ///
    /// - Parameters:
    ///   - maxAttempts: The largest number of times that the closure runs. Each conflict means that
    ///     another context or program has saved, so where many write the same object at once, many attempts are
    ///     needed.
    ///   - author: Who saves, as in ``save(author:note:info:at:)``.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - body: What to do in the context.
    /// - Returns: The closure's result from the last run, whose changes are saved.
    /// - Throws: What the closure throws; what ``save(author:note:info:at:)`` throws, `conflict` or
    ///   `duplicate` after the last attempt; ``StoreError`` with code `pendingChanges` when there are
    ///   changes that were made before, which could not be told from those of the closure.
    /// - Precondition: `maxAttempts` is at least 1, and the call is made on the context's queue.
    public func update<Result>(
        maxAttempts: Int = 10, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        _ body: () throws -> Result
    ) throws -> Result {
        requireQueue()
        require(maxAttempts > 0, "An update needs at least one attempt.")
        guard !isReadOnly else { throw StoreError.readOnlyContext() }
        processPendingChanges()
        try refuseUntoldConflicts()
        guard journal.isAtBase, !terms.hasRefusedReferences else {
            throw StoreError.pendingChanges()
        }
        if !isSpeculative { try catchUp() }
        // A policy that settles conflicts would save what was computed from outdated values.
        let policies = (mergePolicy, customMergePolicy)
        (mergePolicy, customMergePolicy) = (.error, nil)
        defer { (mergePolicy, customMergePolicy) = policies }
        let entriesBefore = terms.entryCount
        var attempt = 1
        while true {
            do {
                return try runOnce(author: author, note: note, info: info, body)
            } catch let error as StoreError
                where error.isOvertaken && attempt < maxAttempts
                && terms.entryCount == entriesBefore
            {
                attempt += 1
                try catchUp()
                for object in error.concerned { forget(object) }
            }
        }
    }

    /// Runs a closure and saves what it has changed. If that fails, drops what has changed since the
    /// last save and keeps what could be undone before; what may have been saved stays pending.
    private func runOnce<Result>(
        author: String?, note: String?, info: [String: String], _ body: () throws -> Result
    ) throws -> Result {
        try journal.attempting {
            do {
                let result = try body()
                try save(author: author, note: note, info: info)
                return result
            } catch let error as StoreError where error.code == .inDoubt {
                throw error
            } catch {
                journal.returnToStart { rollback() }
                throw error
            }
        }
    }

    /// Runs a closure on the context's queue and saves what it has changed, again and again as long as
    /// others save the same objects meanwhile.
    ///
    /// - Parameters:
    ///   - maxAttempts: The largest number of times that the closure runs.
    ///   - author: Who saves, as in ``save(author:note:info:at:)``.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - isolation: The actor that the caller is on; leave it to the compiler.
    ///   - body: What to do in the context.
    /// - Returns: The closure's result from the last run, whose changes are saved.
    /// - Throws: What the closure throws and what the save throws, after the last attempt.
    /// - Precondition: `maxAttempts` is at least 1.
    public func update<Result: Sendable>(
        maxAttempts: Int = 10, author: String? = nil, note: String? = nil,
        info: [String: String] = [:],
        isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await perform(isolation: isolation) { [self] in
            try update(maxAttempts: maxAttempts, author: author, note: note, info: info, body)
        }
    }

    /// Merges the newest state of the parent store.
    private func catchUp() throws {
        if parentStore.mayHaveNews { tell(of: try mergeChanges()) }
    }

    /// Makes an object be read again: another process may have saved it unnoticed.
    private func forget(_ object: ObjectID) {
        for store in coordinator.persistentStores {
            let id = GraphID(store: store.number, object: object)
            guard let known = registry[id], !known.isFault, journal.net(of: id) == nil else {
                continue
            }
            refresh(known, mergeChanges: false)
        }
    }
}

extension StoreError {
    /// Whether others were faster, so that another attempt on their state may succeed.
    fileprivate var isOvertaken: Bool {
        switch code {
        case .conflict: true
        case .duplicate: constraintConflicts.contains { $0.owner != nil }
        default: false
        }
    }

    /// The objects that others have changed, or whose values were taken.
    fileprivate var concerned: Set<ObjectID> {
        Set(conflicts.map(\.object)).union(constraintConflicts.compactMap(\.owner))
    }

    fileprivate static func pendingChanges() -> StoreError {
        StoreError(
            .pendingChanges,
            "An update may have to start again and so needs a context without changes. Save what is "
                + "pending, or roll it back.")
    }
}
