import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

extension ManagedObjectContext {
    /// The objects that meet a request, found on another thread, with its progress.
    ///
    /// ```swift
    /// let progress = Progress(totalUnitCount: 1)
    /// let employees = try await context.fetch(request, reporting: progress)
    /// ```
    ///
    /// The context's queue is free while the store is searched, and between two portions of the objects that are
    /// made of what was found. The objects are those found at one entry, the last one when the fetch began, with what
    /// was pending in the context then. Their values are read when the objects are made: what others save meanwhile
    /// may show in them. Those that the context has deleted meanwhile are left out; so are, unless faults are given
    /// back, those that others have.
    ///
    /// Where only the context can find them, its queue is taken for that, as in a fetch: in a child, over several
    /// stores, with a Foundation predicate that is evaluated in memory, by a transient attribute, and while
    /// objects have pending changes to which the condition or the order leads.
    ///
    /// Whoever cancels the task or the progress ends the fetch: the task's end is seen within some hundred rows
    /// of a search on another thread, the progress's with its next report, and both when a search is over and before
    /// the next portion of objects.
    ///
    /// - Parameters:
    ///   - request: Which objects, in which order.
    ///   - progress: Is told about how many objects there are to look at, and how many have been. Its units are
    ///     set here: twice as many as objects to look at, of which the second half is for making objects of
    ///     what was found. It is changed in the caller's actor only, and completed when the fetch succeeds.
    ///   - isolation: The actor that the caller is on, and that the context belongs to; leave it to the
    ///     compiler. Where there is none, the objects would have nowhere to be: the call does not compile.
    /// - Precondition: The context belongs to the actor: it is the view context and the caller is on the main actor, or
    ///   the caller is its ``ContextActor``.
    /// - Returns: The objects in order.
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``; `CancellationError` when the task or the progress is
    ///   cancelled. Objects made by then stay known to the context, as faults.
    /// - Complexity: As ``fetch(_:)-(FetchRequest<Object>)``.
    public func fetch<Object>(
        _ request: FetchRequest<Object>, reporting progress: Progress,
        isolation: isolated any Actor = #isolation
    ) async throws -> [Object] {
        var report = FetchReport(to: progress)
        try report.checkCancellation()
        let search = try search(for: request)
        let revision = news.revision
        let ids: [GraphID]
        if let work = SearchUnderWay(search) {
            async let found = work.find()
            for await _ in work.steps { report.follow(work) }
            ids = try await found
        } else {
            ids = try objectIDs(request)
        }
        try report.beginMaking(ids.count)
        var objects: [Object] = []
        for portion in request.portions(of: ids) {
            try report.checkCancellation()
            objects += try self.objects(
                for: portion, of: request, foundAt: revision,
                asFaults: request.returnsObjectsAsFaults)
            report.made(portion.count)
            // Others may have their turn.
            await Task.yield()
        }
        try report.end()
        return objects
    }

    /// What a closure makes of the objects that meet a request, found on another thread, with its progress.
    ///
    /// It is ``fetch(_:reporting:isolation:)`` for code that is not in the context's actor.
    ///
    /// - Parameters:
    ///   - request: Which objects, in which order.
    ///   - progress: As of ``fetch(_:reporting:isolation:)``.
    ///   - isolation: The actor that the caller is on; leave it to the compiler.
    ///   - transform: Makes a value of an object, on the context's queue: for one portion of objects at a time.
    /// - Returns: The values in order.
    /// - Throws: As ``fetch(_:reporting:isolation:)``; what `transform` throws.
    /// - Complexity: As ``fetch(_:)-(FetchRequest<Object>)``.
    public func fetch<Object, Element: Sendable>(
        _ request: FetchRequest<Object>, reporting progress: Progress,
        isolation: isolated (any Actor)? = #isolation,
        _ transform: @escaping @Sendable (Object) throws -> Element
    ) async throws -> [Element] {
        var report = FetchReport(to: progress)
        try report.checkCancellation()
        let (search, revision) = try await perform(schedule: .enqueued) {
            (try self.search(for: request), self.news.revision)
        }
        let ids: [GraphID]
        if let work = SearchUnderWay(search) {
            async let found = work.find()
            for await _ in work.steps { report.follow(work) }
            ids = try await found
        } else {
            ids = try await perform(schedule: .enqueued) { try self.objectIDs(request) }
        }
        try report.beginMaking(ids.count)
        var values: [Element] = []
        for portion in request.portions(of: ids) {
            try report.checkCancellation()
            values += try await perform(schedule: .enqueued) {
                try self.objects(for: portion, of: request, foundAt: revision, asFaults: false)
                    .map(transform)
            }
            report.made(portion.count)
        }
        try report.end()
        return values
    }

    /// The objects of identifiers that were found some time ago, without those deleted here since.
    ///
    /// - Parameters:
    ///   - ids: The identifiers.
    ///   - request: What they were found by.
    ///   - revision: The revision of the context then.
    ///   - asFaults: Whether faults may be given back, of which nobody knows whether they still have records.
    /// - Returns: The objects.
    /// - Throws: As a fetch.
    private func objects<Object>(
        for ids: [GraphID], of request: FetchRequest<Object>, foundAt revision: UInt64,
        asFaults: Bool
    ) throws -> [Object] {
        let paths = try request.prefetchPaths(in: coordinator.model)
        let objects = try objects(for: ids, of: request, prefetching: paths)
        let isExamined = !asFaults || news.revision != revision
        // What was deleted and saved since, here or by others, has no record any more.
        if isExamined { try realize(objects) }
        return objects.compactMap { object in
            let isLeftOut =
                object.status.isGone || isExamined && object.isFault
                || request.includesPendingChanges && object.isDeleted
            return isLeftOut ? nil : object as? Object
        }
    }
}

extension FetchRequest {
    /// The objects that are made of what was found in one turn of the context's queue, whole batches of faults.
    fileprivate func portions(of ids: [GraphID]) -> [[GraphID]] {
        let batch = max(1, fetchBatchSize)
        let size = batch * max(1, Self.portionSize / batch)
        return stride(from: 0, to: ids.count, by: size).map {
            Array(ids[$0..<min(ids.count, $0 + size)])
        }
    }

    /// About a millisecond's work.
    private static var portionSize: Int { 1_024 }
}

/// Tells a progress how far a fetch has come, in the actor of the caller.
private struct FetchReport {
    private let progress: Progress
    /// About how many objects are looked at.
    private var expected: Int64 = 1
    private var found: Int64 = 0
    private var made: Int64 = 0

    init(to progress: Progress) {
        self.progress = progress
    }

    func checkCancellation() throws {
        try Task.checkCancellation()
        if progress.isCancelled { throw CancellationError() }
    }

    /// Tells what a search has come to, and ends it when nobody wants it any more.
    mutating func follow(_ search: SearchUnderWay) {
        if progress.isCancelled { search.stop() }
        let counts = search.counts
        // How many it will be is told when the search has a plan.
        guard counts.expected > 0 else { return }
        expected = max(1, Int64(counts.expected))
        progress.totalUnitCount = 2 * expected
        progress.completedUnitCount = min(Int64(counts.looked), expected)
    }

    mutating func beginMaking(_ count: Int) throws {
        try checkCancellation()
        found = Int64(count)
        progress.totalUnitCount = 2 * expected
        progress.completedUnitCount = expected
    }

    mutating func made(_ count: Int) {
        made += Int64(count)
        progress.completedUnitCount = expected + expected * made / max(1, found)
    }

    func end() throws {
        try checkCancellation()
        progress.completedUnitCount = 2 * expected
    }
}
