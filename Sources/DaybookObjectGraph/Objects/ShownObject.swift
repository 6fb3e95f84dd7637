import DaybookObjectModel

/// An object as its context shows it, with what is pending.
struct ShownObject: StandingObject {
    let object: ManagedObject
    let context: ManagedObjectContext

    /// What a delete takes out: not what was set after it.
    var values: [Value] { context.valuesToDelete(of: object) }

    func value(inSlot slot: Int) -> Value { object.value(inSlot: slot) }

    func members(of property: SchemaProperty) -> [ObjectID: Double] {
        object.memberList(of: property, context).orders
    }
}

/// An object whose values have just been read, as it stands under its context.
struct UnderlyingObject: StandingObject {
    let object: ManagedObject
    let context: ManagedObjectContext

    var values: [Value] { object.values }

    func value(inSlot slot: Int) -> Value { object.values[slot] }

    func members(of property: SchemaProperty) -> [ObjectID: Double] {
        context.readMembers(of: property, in: object)
    }
}
