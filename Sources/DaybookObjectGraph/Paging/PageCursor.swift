// The room of paging: pages and streams of what a request finds, each page found without the ones before it. It
// asks as the room of fetching does.

public import DaybookJournalLog
public import DaybookObjectModel

/// A place between two pages of what a request finds.
///
/// It holds the values by which an object was sorted, and the object. So it stays where it is when objects
/// are inserted and deleted, also that object, and costs nothing to keep: no store knows of it.
///
/// A cursor is a value. Its text has only letters, digits, `-` and `_`, so it fits into the address of a web
/// page. It is not secret: who has the text can read the values in it.
public struct PageCursor: Sendable, Hashable, LosslessStringConvertible {
    let token: PlaceToken

    init(_ token: PlaceToken) {
        self.token = token
    }

    /// Reads what ``description`` has written.
    ///
    /// - Throws: ``QueryError`` when the text is anything else, or a part of it.
    public init(parsing text: String) throws(QueryError) {
        guard let token = PlaceToken(text) else {
            throw QueryError(
                "The text is no cursor of a page, or not all of one. Give one back as it was handed out."
            )
        }
        self.token = token
    }

    /// Reads what ``description`` has written; nil when the text is anything else.
    public init?(_ description: String) {
        guard let token = PlaceToken(description) else { return nil }
        self.token = token
    }

    /// The text of the cursor.
    public var description: String { token.text }

    /// The last entry of the store that the page saw which the cursor comes from.
    ///
    /// A context at this entry, from ``PersistentContainer/context(at:)``, goes on with the same state.
    public var sequence: SequenceNumber { SequenceNumber(rawValue: token.sequence) }
}

extension PageCursor {
    /// The place on the other side of the object at which this one stands: a page that goes back from there begins with
    /// that object.
    ///
    /// - Parameters:
    ///   - isBackward: Whether the object was gone to backwards.
    ///   - sequence: The last entry of the store that was seen.
    /// - Returns: The cursor there.
    func beyondItsObject(isBackward: Bool, readAt sequence: UInt64) -> PageCursor {
        var place = token.place
        let number = place.object.number
        // No other object has the number, and a text may say any.
        let (next, isTooFar) =
            isBackward ? number.subtractingReportingOverflow(1) : number.addingReportingOverflow(1)
        if !isTooFar { place.object = ObjectID(entity: place.object.entity, number: next) }
        return PageCursor(
            PlaceToken(order: token.order, store: token.store, sequence: sequence, place: place))
    }
}

extension PageCursor: Codable {
    /// Decodes the text of a cursor.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = PlaceToken(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The text is no cursor of a page.")
        }
        self.token = token
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Some objects of a request that follow each other, and where to go on.
///
/// A page belongs to its context, like its objects. The cursors may cross threads.
public struct Page<Object: ManagedObject> {
    /// The objects, in the order of the request.
    public let objects: [Object]
    /// Where the next page begins; nil when there was none. A page without objects before a cursor has one, which leads
    /// back to what the cursor came from.
    public let next: PageCursor?
    /// Where the page before ends; nil when there was none. A page without objects behind a cursor has one, which leads
    /// back to what the cursor came from.
    public let previous: PageCursor?
}

/// Which page of a request to fetch.
///
/// ```swift
/// var request = FetchRequest<Employee>()
/// request.order = [.ascending(\.lastName)]
/// let first = try context.fetch(request.page(size: 50))
/// if let next = first.next {
///     let second = try context.fetch(request.page(after: next, size: 50))
/// }
/// ```
///
/// Unlike an offset, a cursor neither repeats nor passes over an object when others are inserted or deleted
/// between two pages. Only an object whose sort key is changed may come twice, or not at all. Each page reads
/// the newest state, or the one to which the context is held.
public struct PageRequest<Object: ManagedObject>: Sendable {
    let request: FetchRequest<Object>
    let cursor: PageCursor?
    let size: Int
    let isBackward: Bool
}

extension FetchRequest {
    /// The page behind a cursor.
    ///
    /// - Parameters:
    ///   - cursor: A cursor of another page of the same request; nil for the first page. The condition may
    ///     be another one, the order may not.
    ///   - size: The largest number of objects.
    /// - Returns: What to fetch.
    public func page(after cursor: PageCursor? = nil, size: Int) -> PageRequest<Object> {
        PageRequest(request: self, cursor: cursor, size: size, isBackward: false)
    }

    /// The page before a cursor.
    ///
    /// - Parameters:
    ///   - cursor: A cursor of another page of the same request; nil for the last page.
    ///   - size: The largest number of objects.
    /// - Returns: What to fetch. The objects come in the order of the request.
    public func page(before cursor: PageCursor?, size: Int) -> PageRequest<Object> {
        PageRequest(request: self, cursor: cursor, size: size, isBackward: true)
    }
}
