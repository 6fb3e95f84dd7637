public import DaybookObjectModel

extension ManagedObject: Hashable {
    /// Whether both are the same instance. A context has one instance for each record.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool {
        left === right
    }

    /// Hashes the identity of the instance.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension ManagedObject {
    /// Makes a new object of the class's entity and inserts it into a context.
    public convenience init(context: ManagedObjectContext) {
        self.init(entity: context.entity(for: Self.self), insertInto: context)
    }

    /// The identifier, the same before and after saving.
    public var objectID: ManagedObjectID {
        let isTemporary =
            !status.isPromisedIdentifier && (status.isTemporary || isUnsavedAbove)
        return ManagedObjectID(
            binding.identifiers(inStore: graphID.store, areTemporary: isTemporary),
            number: graphID.object.number)
    }

    /// The identifier that the object has once it is saved; this does not check whether it is.
    var lastingID: ManagedObjectID {
        ManagedObjectID(
            binding.identifiers(inStore: graphID.store, areTemporary: false),
            number: graphID.object.number)
    }

    /// Whether the object exists in the parent context and in no store yet.
    private var isUnsavedAbove: Bool {
        guard since == 0, let context = binding.context else { return false }
        return context.isUnsavedAbove(graphID)
    }

    /// The context; nil after it has gone or the object has left it.
    public var managedObjectContext: ManagedObjectContext? {
        status.isDetached ? nil : binding.context
    }

    /// The description of the object's entity in the model.
    public var entity: EntityDescription {
        binding.context?.coordinator.managedObjectModel.entitiesByName[binding.schema.name]
            ?? EntityDescription(name: binding.schema.name)
    }

    /// Whether the values have not been read. This does not read them.
    public var isFault: Bool {
        trackReadOfFault()
        return status.isFault
    }

    /// Whether the next save will insert the object.
    public var isInserted: Bool { status.isPendingInsert }

    /// Whether the object was in the store and has been edited since the last save.
    public var isUpdated: Bool { status.pending == .update }

    /// Whether the next save will delete the object, or its record was found deleted by others.
    public var isDeleted: Bool { status.isPendingDelete || status.isGone }

    /// Whether the next save will delete the object.
    var isPendingDelete: Bool { status.isPendingDelete && status.standing == .present }

    /// Whether a step of undo may mention the object.
    var isJournaled: Bool { status.isJournaled }

    /// Whether changes to the object take effect: it is in its context and not deleted.
    var isEditable: Bool { status.standing == .present && !status.isPendingDelete }

    /// Whether the object is inserted, updated or deleted.
    public var hasChanges: Bool { status.pending != .nothing }
}
