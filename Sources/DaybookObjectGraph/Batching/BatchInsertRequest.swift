public import DaybookJournalLog

/// Objects to be inserted straight into a store, without managed objects.
///
/// An import of many objects needs no context that holds them all: a batch hands the values to the store
/// row by row, and the store appends them as one entry. Use it for data from elsewhere; use managed
/// objects where relationships, hooks or undo in a context matter.
///
/// ```swift
/// let request = BatchInsertRequest<Contact>(records) { record, row in
///     row[\.name] = record.name
///     row[\.age] = record.age
/// }
/// let result = try context.execute(request, author: "import", note: "Address book")
/// ```
///
/// - An attribute that a row does not set has the default of the model.
/// - The rules of the model, its unique values and the merge policy of the context hold as for a
///   save. The hooks of the class (`awakeFromInsert`, `validateForInsert`, `willSave` …) are not
///   called, since there are no objects.
/// - To-one relationships that are kept with the object can be set, by the identifier of a saved
///   object of the same store. To-many relationships cannot.
/// - The batch is one entry: it is saved completely or not at all, other contexts see it as a save by
///   another context, and it can be undone like any entry.
public struct BatchInsertRequest<Object: ManagedObject> {
    /// The name of the entity.
    public var entityName: String
    /// The store that gets the objects; nil for the first store that can be written and holds the
    /// entity.
    public var store: PersistentStore?
    /// What the result contains.
    public var resultType = BatchInsertResultType.count

    let fill: (inout BatchInsertRow<Object>) throws -> BatchInsertStep

    /// A request that asks for one row after another.
    ///
    /// - Parameters:
    ///   - entityName: The name of the entity; that of the class when nil.
    ///   - fill: Sets the values of a row that has the defaults of the model, and says whether to insert
    ///     it. Runs while the request is executed, on the context's queue. An error that it
    ///     throws ends the batch, and nothing is saved.
    public init(
        entityName: String? = nil,
        fill: @escaping (_ row: inout BatchInsertRow<Object>) throws -> BatchInsertStep
    ) {
        self.entityName = entityName ?? Object.entityName
        self.fill = fill
    }

    // Inlined, so that the program's compiler knows the sequence.

    /// A request with a row for each element of a sequence.
    ///
    /// - Parameters:
    ///   - elements: What to insert; iterated once each time the request is executed.
    ///   - entityName: The name of the entity; that of the class when nil.
    ///   - fill: Sets the values of a row, as for ``init(entityName:fill:)``.
    @inlinable public init<Elements: Sequence>(
        _ elements: Elements, entityName: String? = nil,
        fill:
            @escaping (
                _ element: Elements.Element, _ row: inout BatchInsertRow<Object>
            ) throws -> Void
    ) {
        var iterator: Elements.Iterator?
        self.init(entityName: entityName) { row in
            if row.index == 0 { iterator = elements.makeIterator() }
            guard let element = iterator?.next() else { return .finish }
            try fill(element, &row)
            return .insert
        }
    }

    /// A request for objects given as dictionaries of values by the names of attributes.
    ///
    /// Slower than filling rows, since every name of every row is looked up.
    public init(entityName: String? = nil, objects: [[String: any AttributeValue]]) {
        self.init(objects, entityName: entityName) { object, row in
            for (name, value) in object { row[name] = value.storedValue }
        }
    }
}

/// What happens to a row, and to the batch.
public enum BatchInsertStep: Sendable, Hashable {
    /// The row is inserted, and the next one is asked for.
    case insert
    /// The batch ends before this row, which is not inserted.
    case finish
}

/// What the result of a batch contains.
public enum BatchInsertResultType: Sendable, Hashable {
    /// How many objects were inserted.
    case count
    /// Also the object of each row.
    case objectIDs
}

/// The result of a batch.
public struct BatchInsertResult: Sendable {
    /// The entry; nil when nothing was inserted.
    public let sequence: SequenceNumber?
    /// How many objects were inserted. Rows that the merge policy merged into an object of the store do
    /// not count.
    public let count: Int
    /// The object of each row, which may have existed before if the merge policy merged the row into it;
    /// empty unless ``BatchInsertRequest/resultType`` asks for it.
    public let objectIDs: [ManagedObjectID]
}
