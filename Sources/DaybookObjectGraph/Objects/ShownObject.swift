import DaybookObjectModel

/// An object as its context shows it, with its pending changes.
struct ShownObject: StandingObject {
    let object: ManagedObject
    let context: ManagedObjectContext

    /// What a delete removes: not what was set after it.
    var values: [Value] { context.valuesToDelete(of: object) }

    func value(inSlot slot: Int) -> Value { object.value(inSlot: slot) }

    func members(of property: SchemaProperty) -> [ObjectID: Double] {
        object.memberList(of: property, context).orders
    }
}

/// An object whose values have just been read, as it is in the parent store.
struct UnderlyingObject: StandingObject {
    let object: ManagedObject
    let context: ManagedObjectContext

    var values: [Value] { object.values }

    func value(inSlot slot: Int) -> Value { object.values[slot] }

    func members(of property: SchemaProperty) -> [ObjectID: Double] {
        context.readMembers(of: property, in: object)
    }
}
