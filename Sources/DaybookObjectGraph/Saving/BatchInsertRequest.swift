public import DaybookJournalLog

/// Objects to be inserted straight into a store, without managed objects.
///
/// An import of many objects needs no context that holds them all: a batch hands the values of row
/// after row to the store, which appends them as one entry. Use it for data that comes from
/// elsewhere; use managed objects where relationships, hooks or undo in a context matter.
///
/// ```swift
/// let request = BatchInsertRequest<Contact>(records) { record, row in
///     row[\.name] = record.name
///     row[\.age] = record.age
/// }
/// let result = try context.execute(request, author: "import", note: "Address book")
/// ```
///
/// - What a row does not set has the default of the model.
/// - The rules of the model, its unique values and the merge policy of the context hold as for a
///   save. The hooks of the class (`awakeFromInsert`, `validateForInsert`, `willSave` …) are not
///   called, since there are no objects.
/// - To-one relationships that are kept with the object can be set, by the identifier of a saved
///   object of the same store. To-many relationships cannot.
/// - The batch is one entry: it is there whole or not at all, other contexts learn of it as of a
///   save by somebody else, and it can be undone like any entry.
public struct BatchInsertRequest<Object: ManagedObject> {
    /// The name of the entity.
    public var entityName: String
    /// Where the objects go; nil for the first store that can be written and holds the entity.
    public var store: PersistentStore?
    /// What the result tells.
    public var resultType = BatchInsertResultType.count

    let fill: (inout BatchInsertRow<Object>) throws -> BatchInsertStep

    /// A request that asks for row after row.
    ///
    /// - Parameters:
    ///   - entityName: The name of the entity; that of the class when nil.
    ///   - fill: Sets the values of a row that has the defaults of the model, and says whether it
    ///     is to be inserted. Runs while the request is executed, on the context's queue. What it
    ///     throws ends the batch, and nothing is saved.
    public init(
        entityName: String? = nil,
        fill: @escaping (_ row: inout BatchInsertRow<Object>) throws -> BatchInsertStep
    ) {
        self.entityName = entityName ?? Object.entityName
        self.fill = fill
    }

    // Inlined, so that the program's compiler knows the sequence.

    /// A request for a row for each element of a sequence.
    ///
    /// - Parameters:
    ///   - elements: What to insert; gone through once for each time the request is executed.
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
    /// Slower than to fill rows, since every name of every row is looked up.
    public init(entityName: String? = nil, objects: [[String: any AttributeValue]]) {
        self.init(objects, entityName: entityName) { object, row in
            for (name, value) in object { row[name] = value.storedValue }
        }
    }
}

/// What becomes of a row, and of the batch.
public enum BatchInsertStep: Sendable, Hashable {
    /// The row is inserted, and the next one is asked for.
    case insert
    /// The batch ends before this row, which is not inserted.
    case finish
}

/// What the result of a batch tells.
public enum BatchInsertResultType: Sendable, Hashable {
    /// How many objects were inserted.
    case count
    /// Which objects there are now for the rows, as well.
    case objectIDs
}

/// What a batch has come to.
public struct BatchInsertResult: Sendable {
    /// The entry; nil when nothing was inserted.
    public let sequence: SequenceNumber?
    /// How many objects were inserted. Rows that became one with an object of the store, as the
    /// merge policy has it, do not count.
    public let count: Int
    /// For each row the object, which may have been there before as the merge policy has it; empty
    /// unless ``BatchInsertRequest/resultType`` asks for it.
    public let objectIDs: [ManagedObjectID]
}
