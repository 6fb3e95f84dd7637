/// Objects of a store that get other values in one entry, without managed objects.
///
/// ```swift
/// let request = BatchUpdateRequest<Employee>(
///     where: \.department == research,
///     assigning: [.multiply(\.salary, by: 2), .set(\.reviewed, to: true)])
/// print(try context.preview(request).count)
/// let result = try context.execute(request, author: "payroll", note: "Doubled")
/// ```
///
/// - The batch works on what is saved; the pending changes of the context neither count nor change.
/// - The rules of the model and its unique values hold as for a save. Hooks of the class are not called, and
///   merge policies are not asked.
/// - The entry has the old and the new values, so that the batch is in the history of each object and can be
///   undone like any entry. Objects that have the values already are not in it.
/// - Others see the batch as a save by another context.
/// - The objects are chosen and changed in one step: what others save meanwhile is taken into account.
public struct BatchUpdateRequest<Object: ManagedObject>: Sendable {
    /// What to do to each object; no property twice.
    public var assignments: [BatchAssignment<Object>]
    /// What the result contains.
    public var resultType = BatchResultType.count

    let scope: BatchScope<Object>

    /// A request for the objects that meet a condition, subentities included; all without one.
    public init(
        where condition: Condition<Object>? = nil, assigning assignments: [BatchAssignment<Object>]
    ) {
        self.init(FetchRequest(where: condition), assigning: assignments)
    }

    /// A request for the objects that a fetch would find in one store. Of its settings, entity, condition,
    /// order, limit, offset, subentities and stores count.
    public init(
        _ request: FetchRequest<Object>, assigning assignments: [BatchAssignment<Object>]
    ) {
        scope = .request(request)
        self.assignments = assignments
    }

    /// A request for certain objects, all of one store and of the entity or its subentities. Those that are
    /// not in the store are passed over.
    public init(
        objects: [ManagedObjectID], entityName: String? = nil,
        assigning assignments: [BatchAssignment<Object>]
    ) {
        scope = .objects(objects, entityName: entityName ?? Object.entityName)
        self.assignments = assignments
    }
}

/// Objects of a store that are deleted in one entry, without managed objects.
///
/// ```swift
/// let request = BatchDeleteRequest<LogLine>(where: \.level < 2)
/// let result = try context.execute(
///     request, author: "janitor", note: "Only what matters stays")
/// ```
///
/// The delete rules of the model hold: what they delete or take back with the objects is in the same entry,
/// and a relationship with the rule `deny` refuses the batch as long as it leads to an object that stays. The
/// rest is as for a ``BatchUpdateRequest``.
public struct BatchDeleteRequest<Object: ManagedObject>: Sendable {
    /// What the result contains.
    public var resultType = BatchResultType.count

    let scope: BatchScope<Object>

    /// A request for the objects that meet a condition, subentities included; all without one.
    public init(where condition: Condition<Object>? = nil) {
        self.init(FetchRequest(where: condition))
    }

    /// A request for the objects that a fetch would find in one store. Of its settings, entity, condition,
    /// order, limit, offset, subentities and stores count.
    public init(_ request: FetchRequest<Object>) {
        scope = .request(request)
    }

    /// A request for certain objects, all of one store and of the entity or its subentities. Those that are
    /// not in the store are passed over.
    public init(objects: [ManagedObjectID], entityName: String? = nil) {
        scope = .objects(objects, entityName: entityName ?? Object.entityName)
    }
}

/// The objects of a batch.
enum BatchScope<Object: ManagedObject>: Sendable {
    case request(FetchRequest<Object>)
    case objects([ManagedObjectID], entityName: String)
}
