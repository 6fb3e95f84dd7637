import DaybookObjectModel
public import Observation

/// A list of the objects that meet a request, which stays right.
///
/// ```swift
/// let seniors = try ResultsObserver(request, in: context)
/// print(seniors.objects.map(\.lastName))
/// for await difference in seniors.differences { print(difference.changes) }
/// ```
///
/// It follows everything that changes in its context: what is edited, undone, rolled back and saved there or in
/// its children, and what the context merges of others. A context that does not merge automatically
/// (``ManagedObjectContext/automaticallyMergesChangesFromParent``) follows others when it merges. As of a past
/// moment the list is constant.
///
/// Reading ``objects``, ``sections`` or ``count`` inside `withObservationTracking` is tracked, so a view that shows
/// the list is told when it changes. ``differences`` tells what has changed, to any task. For callbacks as in Core
/// Data use a ``FetchedResultsController``; for one value of many objects, a ``ValueObserver``.
///
/// A change costs a look at the changed objects and O(log *n*) comparisons for each, *n* the number of objects in the
/// list, and O(*s*) for *s* sections. What could not be read is reported to
/// ``ManagedObjectContext/mergeFailureHandler``, and the list is read again at the next change.
///
/// Like its context, it is used on the context's queue; its sequences are used anywhere.
public final class ResultsObserver<Object: ManagedObject>: Observable, @unchecked Sendable {
    // @unchecked Sendable because all mutable state is confined to the queue of the context, which is checked
    // where a list is read.

    /// The context of the objects.
    public let managedObjectContext: ManagedObjectContext
    /// Which objects are in the list, and in which order.
    public let fetchRequest: FetchRequest<Object>
    private let list: WatchedList
    private let registrar = ObservationRegistrar()
    private var mailboxes = ResultsMailboxes<ResultsDifference>()

    /// Fetches a list and follows what changes.
    ///
    /// - Parameters:
    ///   - request: The objects and their order.
    ///   - context: The context, on whose queue this is called.
    /// - Throws: As ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``; ``QueryError`` also when the condition or order depends on a
    ///   transient attribute, which changes without being told.
    /// - Complexity: As of the fetch, and O(*n*) reads for each sort order.
    public convenience init(
        _ request: FetchRequest<Object>, in context: ManagedObjectContext
    ) throws {
        try self.init(request, section: nil, context)
    }

    /// Fetches a list, divided into sections, and follows what changes.
    ///
    /// - Parameters:
    ///   - request: The objects and their order. If it is not sorted by the section first, it is sorted by it from the
    ///     smallest, and then as it says.
    ///   - section: The value that the objects of a section have in common.
    ///   - context: The context, on whose queue this is called.
    /// - Throws: As ``init(_:in:)``.
    public convenience init(
        _ request: FetchRequest<Object>, sectionedBy section: KeyPath<Object, some AttributeValue>,
        in context: ManagedObjectContext
    ) throws {
        try self.init(request, section: .keyPath(ModelKeyPath(keyPath: section)), context)
    }

    /// Fetches a list, divided into sections by a property or a path of to-one relationships to one, by name.
    ///
    /// - Parameters:
    ///   - request: The objects and their order.
    ///   - name: The property or path.
    ///   - context: The context, on whose queue this is called.
    /// - Throws: As ``init(_:in:)``.
    public convenience init(
        _ request: FetchRequest<Object>, sectionedBy name: String, in context: ManagedObjectContext
    ) throws {
        try self.init(request, section: .name(name), context)
    }

    private init(
        _ request: FetchRequest<Object>, section: RequestKey?, _ context: ManagedObjectContext
    ) throws {
        managedObjectContext = context
        fetchRequest = request
        list = WatchedList(in: context, .byItself) { [unowned context] in
            try WatchedRequest(request, section: section, in: context)
        }
        context.requireQueue()
        list.follow(true)
        try list.fetch()
        list.onChange = { [weak self] in self?.tell($0) }
    }

    // MARK: - The list

    /// The objects, in order; those not read yet are faults.
    ///
    /// - Complexity: O(*n*).
    public var objects: [Object] {
        registrar.access(self, keyPath: \.objects)
        return list.objects(in: 0..<list.count)
    }

    /// The number of objects.
    ///
    /// - Complexity: O(1).
    public var count: Int {
        registrar.access(self, keyPath: \.objects)
        return list.count
    }

    /// The object at an offset.
    ///
    /// - Precondition: The offset is in the list.
    /// - Complexity: O(log *n*).
    public subscript(offset: Int) -> Object {
        registrar.access(self, keyPath: \.objects)
        return list.object(at: offset)
    }

    /// Where an object is in the list; nil when it is not.
    ///
    /// - Complexity: O(log *n*).
    public func offset(of object: Object) -> Int? {
        registrar.access(self, keyPath: \.objects)
        return list.offset(of: object.graphID)
    }

    /// The sections, in order; one of all objects when they are not divided.
    public var sections: [ResultsSection<Object>] {
        registrar.access(self, keyPath: \.objects)
        return list.sections(of: Object.self)
    }

    /// What becomes of the list from now on; made on the context's queue, and read by any task.
    public var differences: ResultsChanges<ResultsDifference> {
        managedObjectContext.requireQueue()
        let mailbox = ResultsMailbox<ResultsDifference> { $0.followed(by: $1) }
        mailboxes.append(mailbox)
        return ResultsChanges(mailbox, from: self)
    }

    private func tell(_ step: ListStep) {
        registrar.willSet(self, keyPath: \.objects)
        registrar.didSet(self, keyPath: \.objects)
        guard !mailboxes.isEmpty else { return }
        mailboxes.put(ResultsDifference(step, in: managedObjectContext))
    }

    /// What is wrong with the list; empty for a sound one.
    func findings() -> [String] { list.findings() }
}
