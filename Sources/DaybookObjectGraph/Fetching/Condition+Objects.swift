import DaybookObjectModel

// Conditions on identity: the object itself, or one that a relationship leads to.

/// Relationships that lead to the object with an identifier.
public func == <Object: ManagedObject, Destination: ManagedObject>(
    keyPath: KeyPath<Object, Destination?>, id: ManagedObjectID
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .equal, id))
}

/// Relationships that do not lead to the object with an identifier.
public func != <Object: ManagedObject, Destination: ManagedObject>(
    keyPath: KeyPath<Object, Destination?>, id: ManagedObjectID
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .notEqual, id))
}

/// The object with an identifier: `\Employee.objectID == id`.
public func == <Object: ManagedObject>(
    keyPath: KeyPath<Object, ManagedObjectID>, id: ManagedObjectID
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .equal, id))
}

/// All objects but the one with an identifier.
public func != <Object: ManagedObject>(
    keyPath: KeyPath<Object, ManagedObjectID>, id: ManagedObjectID
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .notEqual, id))
}

/// Objects from which a path leads to the object with an identifier:
/// `\Employee.department?.objectID == id`.
public func == <Object: ManagedObject>(
    keyPath: KeyPath<Object, ManagedObjectID?>, id: ManagedObjectID?
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .equal, id))
}

/// Objects from which a path does not lead to the object with an identifier.
public func != <Object: ManagedObject>(
    keyPath: KeyPath<Object, ManagedObjectID?>, id: ManagedObjectID?
) -> Condition<Object> {
    Condition(.reference(ModelKeyPath(keyPath: keyPath), .notEqual, id))
}

extension KeyPath where Root: ManagedObject {
    /// Relationships that lead to one of some objects: `(\Employee.department).isIn(departments)`.
    public func isIn<Destination: ManagedObject>(
        _ objects: some Sequence<Destination>
    ) -> Condition<Root> where Value == Destination? {
        Condition(.references(ModelKeyPath(keyPath: self), objects.map(\.lastingID)))
    }

    /// Relationships that lead to the object of one of some identifiers.
    public func isIn<Destination: ManagedObject>(
        _ ids: some Sequence<ManagedObjectID>
    ) -> Condition<Root> where Value == Destination? {
        Condition(.references(ModelKeyPath(keyPath: self), Array(ids)))
    }

    /// Relationships that lead to an object which a request would find:
    /// `(\Employee.department).isIn(FetchRequest<Department>(where: \.name == "R&D"))`.
    ///
    /// Nothing is fetched for it: the condition of the request is one on the object at the end of the
    /// relationship, and the cheaper side is looked at first.
    ///
    /// - Parameter request: A request for objects of the relationship's entity, without a limit and an offset.
    ///   One that has them is refused when the outer request is executed.
    /// - Returns: The condition.
    public func isIn<Destination: ManagedObject>(
        _ request: FetchRequest<Destination>
    ) -> Condition<Root> where Value == Destination? {
        Condition(.found(ModelKeyPath(keyPath: self), InnerRequest(request)))
    }

    /// To-many relationships with a certain member: `(\Department.employees).contains(ada)`.
    public func contains<Member: ManagedObject>(
        _ member: Member
    ) -> Condition<Root> where Value == Set<Member> {
        Condition(.member(ModelKeyPath(keyPath: self), member.lastingID))
    }

    /// Ordered relationships with a certain member.
    public func contains<Member: ManagedObject>(
        _ member: Member
    ) -> Condition<Root> where Value == [Member] {
        Condition(.member(ModelKeyPath(keyPath: self), member.lastingID))
    }

    /// To-many relationships with the object of an identifier among their members.
    public func contains<Member: ManagedObject>(
        _ id: ManagedObjectID
    ) -> Condition<Root> where Value == Set<Member> {
        Condition(.member(ModelKeyPath(keyPath: self), id))
    }

    /// Ordered relationships with the object of an identifier among their members.
    public func contains<Member: ManagedObject>(
        _ id: ManagedObjectID
    ) -> Condition<Root> where Value == [Member] {
        Condition(.member(ModelKeyPath(keyPath: self), id))
    }
}

extension KeyPath where Root: ManagedObject, Value == ManagedObjectID {
    /// Objects with one of some identifiers: `(\Employee.objectID).isIn(ids)`.
    public func isIn(_ ids: some Sequence<ManagedObjectID>) -> Condition<Root> {
        Condition(.references(ModelKeyPath(keyPath: self), Array(ids)))
    }
}
