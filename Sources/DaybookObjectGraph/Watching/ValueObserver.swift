public import DaybookObjectModel
public import Observation

/// One value of the objects that meet a request, which stays right: a count, a sum, a mean, an extreme, or an attribute
/// of the first object.
///
/// ```swift
/// let open = FetchRequest<Invoice>(where: \.isPaid == false)
/// let due = try ValueObserver(.sum(\Invoice.amount), of: open, in: context)
/// for await change in due.changes { print("Due: \(change.value)") }
/// ```
///
/// It follows what changes as a ``ResultsObserver`` does, and is the same value as
/// ``ManagedObjectContext/fetch(_:of:)`` works out. Counts, sums and means cost O(log *n*) for each object that changes,
/// and so do extremes of requests without limit and offset.
///
/// Like its context, it is used on the context's queue; its changes are read anywhere.
public final class ValueObserver<Result: Sendable>: Observable, @unchecked Sendable {
    // @unchecked Sendable because all mutable state is confined to the queue of the context, which is checked
    // where the value is read.

    /// The context of the objects.
    public let managedObjectContext: ManagedObjectContext
    private let list: WatchedList
    private let registrar = ObservationRegistrar()
    private var mailboxes = ResultsMailboxes<ObservedValue<Result>>()
    private var current: ObservedValue<Result>
    private var misfit: QueryError?
    private var aggregate: KeptAggregate?
    private let read: (WatchedList, KeptAggregate?) throws -> Result

    /// Works out an aggregate and follows what changes.
    ///
    /// - Parameters:
    ///   - aggregate: The aggregate.
    ///   - request: The objects; all of the entity by default.
    ///   - context: The context, on whose queue this is called.
    /// - Throws: As ``ManagedObjectContext/fetch(_:of:)``; ``QueryError`` also when condition, order or value is
    ///   transient, and changes without being told.
    public convenience init<Object>(
        _ aggregate: Aggregate<Object, Result>, of request: FetchRequest<Object> = FetchRequest(),
        in context: ManagedObjectContext
    ) throws {
        guard let (key, attribute) = try aggregate.term.attribute(of: request, in: context) else {
            try self.init(
                in: context,
                { [unowned context] in try WatchedRequest(request, section: nil, in: context) },
                { _ in nil },
                { list, _ in
                    guard let count = aggregate.result(.int(Int64(list.count))) else {
                        throw AggregateFunction.count.misfit("objects", .int64)
                    }
                    return count
                })
            return
        }
        let function = aggregate.term.function
        let isExtreme = function == .minimum || function == .maximum
        let isSorted = try isExtreme && request.countMaximum() == nil && request.offset <= 0
        var sorted = request
        if isSorted { sorted.order = [FetchOrder(term: .key(key), isAscending: true)] }
        let asked = sorted
        try self.init(
            in: context,
            { [unowned context] in
                try WatchedRequest(asked, section: nil, value: isSorted ? nil : key, in: context)
            },
            { KeptAggregate(function, of: attribute.type, in: $0, isSorted: isSorted) },
            { list, kept in
                guard let value = kept?.value(in: list), let result = aggregate.result(value) else {
                    throw function.misfit(
                        "'\(attribute.name)' of '\(request.entityName)'", attribute.type)
                }
                return result
            })
    }

    /// Counts the objects that meet a request, and follows what changes.
    ///
    /// - Parameters:
    ///   - request: The objects.
    ///   - context: The context, on whose queue this is called.
    /// - Throws: As ``ManagedObjectContext/count(_:)``; ``QueryError`` also when the condition or order depends on a
    ///   transient attribute.
    public convenience init<Object>(
        countOf request: FetchRequest<Object>, in context: ManagedObjectContext
    ) throws where Result == Int {
        try self.init(
            in: context,
            { [unowned context] in try WatchedRequest(request, section: nil, in: context) },
            { _ in nil }, { list, _ in list.count })
    }

    /// Reads an attribute of the first object that meets a request, and follows what changes.
    ///
    /// - Parameters:
    ///   - keyPath: The attribute, or a path of to-one relationships to one.
    ///   - request: The objects and their order.
    ///   - context: The context, on whose queue this is called.
    /// - Throws: As ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``; ``QueryError`` also when condition, order or value is
    ///   transient.
    public convenience init<Object, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element>, ofFirst request: FetchRequest<Object>,
        in context: ManagedObjectContext
    ) throws where Result == Element? {
        try self.init(first: keyPath, of: request, in: context) {
            Element?(storedValue: $0) ?? Element?.unknownValue
        }
    }

    /// Reads an attribute that objects may be without, of the first object that meets a request, and follows what
    /// changes.
    ///
    /// - Parameters:
    ///   - keyPath: The attribute, or a path of to-one relationships to one.
    ///   - request: The objects and their order.
    ///   - context: The context, on whose queue this is called.
    /// - Throws: As ``init(_:ofFirst:in:)``.
    public convenience init<Object, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element?>, ofFirst request: FetchRequest<Object>,
        in context: ManagedObjectContext
    ) throws where Result == Element? {
        try self.init(first: keyPath, of: request, in: context) {
            Element?(storedValue: $0) ?? Element?.unknownValue
        }
    }

    private convenience init<Object>(
        first keyPath: PartialKeyPath<Object>, of request: FetchRequest<Object>,
        in context: ManagedObjectContext, _ result: @escaping (Value) -> Result?
    ) throws {
        let key = RequestKey.keyPath(ModelKeyPath(keyPath: keyPath))
        try self.init(
            in: context,
            { [unowned context] in
                try WatchedRequest(request, section: nil, value: key, in: context)
            },
            { _ in nil },
            { list, _ in
                let value = list.count == 0 ? .null : list[0].keys.last ?? .null
                guard let result = result(value) else {
                    throw QueryError(
                        "A value of '\(request.entityName)' is one that its Swift type cannot read. Give "
                            + "the type an 'unknownValue', or restrict the request.")
                }
                return result
            })
    }

    private init(
        in context: ManagedObjectContext, _ prepare: @escaping () throws -> WatchedRequest,
        _ keep: (WatchedList) -> KeptAggregate?,
        _ read: @escaping (WatchedList, KeptAggregate?) throws -> Result
    ) throws {
        context.requireQueue()
        managedObjectContext = context
        self.read = read
        list = WatchedList(in: context, .byItself, prepare)
        list.follow(true)
        try list.fetch()
        aggregate = keep(list)
        current = ObservedValue(value: try read(list, aggregate), entries: [])
        list.onChange = { [weak self] in self?.follow($0) }
    }

    /// The value; while it fits its type no more, the last one that did.
    public var value: Result {
        managedObjectContext.requireQueue()
        registrar.access(self, keyPath: \.value)
        return current.value
    }

    /// Why ``value`` is not the value that the objects have now: it does not fit its type. Nil when it is.
    public var error: QueryError? {
        managedObjectContext.requireQueue()
        registrar.access(self, keyPath: \.value)
        return misfit
    }

    /// The values that come from now on, whenever one of the objects changes; made on the context's queue, and read by
    /// any task. A slow reader gets the last value.
    public var changes: ResultsChanges<ObservedValue<Result>> {
        managedObjectContext.requireQueue()
        let mailbox = ResultsMailbox<ObservedValue<Result>> { $1.after($0) }
        mailboxes.append(mailbox)
        return ResultsChanges(mailbox, from: self)
    }

    private func follow(_ step: ListStep) {
        aggregate?.follow(step, in: list)
        registrar.willSet(self, keyPath: \.value)
        defer { registrar.didSet(self, keyPath: \.value) }
        do {
            let difference = ResultsDifference(step, in: managedObjectContext)
            current = ObservedValue(value: try read(list, aggregate), entries: difference.entries)
            misfit = nil
            mailboxes.put(current)
        } catch {
            misfit = error as? QueryError
        }
    }
}

/// A value, and the entries through which it has become what it is.
public struct ObservedValue<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The entries that have changed it, oldest first in each store, and only the last 100 where a reader was slow;
    /// empty when all of it is pending in the context.
    public let entries: [ResultsEntry]

    private static var entriesMaximum: Int { 100 }

    /// This value, reported together with one before it.
    func after(_ earlier: ObservedValue) -> ObservedValue {
        let new = entries.filter { !earlier.entries.contains($0) }
        return ObservedValue(
            value: value, entries: (earlier.entries + new).suffix(Self.entriesMaximum))
    }
}

extension AggregateTerm {
    /// The attribute whose values are taken, and what names it; nil for the number of objects.
    fileprivate func attribute<Object>(
        of request: FetchRequest<Object>, in context: ManagedObjectContext
    ) throws -> (RequestKey, AttributeDescription)? {
        let model = context.coordinator.model
        let entity = try request.entity(in: model)
        guard let key, let path = try path(of: entity, in: model.schema) else { return nil }
        return (key, try path.attribute(for: function, of: entity.schema))
    }
}
