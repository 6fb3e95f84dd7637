/// The objects that a request finds, one after the other, in little memory.
///
/// ```swift
/// @MainActor func total(_ context: ManagedObjectContext) async throws -> Decimal {
///     var total: Decimal = 0
///     for try await employee in context.stream(FetchRequest<Employee>()) {
///         total += employee.salary ?? 0
///     }
///     return total
/// }
/// ```
///
/// The objects belong to the context, so they come in the actor that the context belongs to: the main actor
/// for a main-queue context, a ``ContextActor`` for one of its own. The compiler keeps them there.
/// ``ManagedObjectContext/stream(_:_:)`` is for everywhere else.
///
/// - All objects come as they were at one entry, the last one when the first object was asked for, in the
///   order of then. What is saved meanwhile, here or elsewhere, neither adds nor moves nor removes one.
/// - What was pending in the context when it began counts as in a fetch. What the program changes on the way
///   does not change which objects come, but that it deletes some.
/// - An object that the context knows keeps its values, as in a fetch. Others have those of that entry; where
///   the context has merged later entries, the values of now, and objects that are gone do not come.
/// - An object that the program does not keep is freed when the next one comes, unless it is changed.
/// - No read transaction stays open between two pages.
/// - When the task is cancelled, the next object is a `CancellationError`.
///
/// A page has ``FetchRequest/fetchBatchSize`` objects, 256 if that is 0. The request's limit, offset, order and
/// prefetching count; ``FetchRequest/returnsObjectsAsFaults`` does not, since the objects come with values.
public struct ObjectStream<Object: ManagedObject>: AsyncSequence {
    /// An object of the context.
    public typealias Element = Object

    private let request: FetchRequest<Object>
    private let context: ManagedObjectContext

    init(_ request: FetchRequest<Object>, in context: ManagedObjectContext) {
        (self.request, self.context) = (request, context)
    }

    /// Starts at the first object.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(StreamReader(request, in: context))
    }

    /// Gives out the objects, on the context's queue.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: StreamReader<Object>
        /// The objects of the page that have not been handed out, the next one last.
        private var page: [Object] = []

        init(_ reader: StreamReader<Object>) {
            self.reader = reader
        }

        /// The next object; nil after the last one.
        ///
        /// - Throws: `CancellationError` when the task is cancelled; as
        ///   ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``.
        /// - Precondition: The caller is on the context's queue.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> Object? {
            try Task.checkCancellation()
            if page.isEmpty {
                // Others may have their turn.
                await Task.yield()
                page = try reader.nextPage().reversed()
            }
            return page.popLast()
        }

        /// The next object; nil after the last one.
        public mutating func next() async throws -> Object? {
            try await next(isolation: nil)
        }
    }
}

/// Values of the objects that a request finds, one after the other, in little memory and on any thread.
///
/// See ``ManagedObjectContext/stream(_:_:)``.
public struct ValueStream<Element: Sendable>: AsyncSequence, Sendable {
    /// Begins to read, and returns what reads page by page.
    private let begin: @Sendable () -> @Sendable () async throws -> [Element]

    init(_ begin: @escaping @Sendable () -> @Sendable () async throws -> [Element]) {
        self.begin = begin
    }

    /// Starts at the first value.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(begin()) }

    /// Gives out the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let nextPage: @Sendable () async throws -> [Element]
        /// The values of the page that have not been handed out, the next one last.
        private var page: [Element] = []

        init(_ nextPage: @escaping @Sendable () async throws -> [Element]) {
            self.nextPage = nextPage
        }

        /// The next value; nil after the last one.
        ///
        /// - Throws: `CancellationError` when the task is cancelled; what the closure of the stream throws; as
        ///   ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``.
        public mutating func next() async throws -> Element? {
            try Task.checkCancellation()
            if page.isEmpty { page = try await nextPage().reversed() }
            return page.popLast()
        }
    }
}

extension ManagedObjectContext {
    /// The objects that a request finds, one after the other, in the actor that the context belongs to.
    ///
    /// - Parameters:
    ///   - request: Which objects, in which order.
    ///   - isolation: The actor that the caller is on; leave it to the compiler. Where there is none, the
    ///     objects would have nowhere to be: the call does not compile.
    /// - Returns: The stream, which reads nothing before it is asked for an object.
    /// - Complexity: O(log *n* + *s*) page reads for a page of *s* objects, in the memory of a page, in the order
    ///   of the objects' numbers or of one indexed attribute of one entity, ascending. In any other order, and where
    ///   an index serves the condition or it is evaluated in memory, where others have saved meanwhile, something
    ///   is pending that counts, or the context has a parent, the identifiers are listed first: as
    ///   ``identifiers(of:)``, in 16 bytes for each object.
    public func stream<Object>(
        _ request: FetchRequest<Object>, isolation: isolated any Actor = #isolation
    ) -> ObjectStream<Object> {
        ObjectStream(request, in: self)
    }

    /// What a closure makes of the objects that a request finds, one after the other, on any thread.
    ///
    /// ```swift
    /// for try await name in context.stream(FetchRequest<Employee>(), { $0.lastName }) { print(name) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: Which objects, in which order. All come as they were at one entry; see ``ObjectStream``.
    ///   - transform: Makes a value of an object, on the context's queue: a page at a time.
    /// - Returns: The stream. Each iteration of it reads anew.
    /// - Complexity: As ``stream(_:isolation:)``.
    public func stream<Object, Element: Sendable>(
        _ request: FetchRequest<Object>, _ transform: @escaping @Sendable (Object) throws -> Element
    ) -> ValueStream<Element> {
        ValueStream {
            let reader = ConfinedReader(StreamReader(request, in: self))
            return {
                try await self.perform(schedule: .enqueued) {
                    let page = try reader.reader.nextPage()
                    do {
                        return try page.map(transform)
                    } catch {
                        reader.reader.finish()
                        throw error
                    }
                }
            }
        }
    }

    /// Calls a closure with each object that a request finds, in little memory.
    ///
    /// It is ``stream(_:isolation:)`` for code that does not wait, such as the body of
    /// ``perform(schedule:isolation:_:)``.
    ///
    /// - Parameters:
    ///   - request: Which objects, in which order. All come as they were at one entry; see ``ObjectStream``.
    ///   - body: What to do with an object, which is freed afterwards unless it is kept or changed.
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``; what `body` throws, and then no more objects come.
    /// - Complexity: As ``stream(_:isolation:)``.
    public func enumerate<Object>(
        _ request: FetchRequest<Object>, _ body: (Object) throws -> Void
    ) throws {
        let reader = StreamReader(request, in: self)
        while true {
            var page = try reader.nextPage()
            if page.isEmpty { return }
            page.reverse()
            while let object = page.popLast() { try body(object) }
        }
    }
}

/// A reader that is used on the queue of its context only.
private final class ConfinedReader<Object: ManagedObject>: @unchecked Sendable {
    // @unchecked Sendable because the reader is made for one iteration and used inside `perform` only.
    let reader: StreamReader<Object>

    init(_ reader: StreamReader<Object>) {
        self.reader = reader
    }
}
