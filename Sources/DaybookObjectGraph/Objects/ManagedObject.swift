// The room of the objects: values, lists, faults and hooks of one object, and what a context does to a
// single one. It records each edit before making it, and asks the registry for other objects and the
// parent store for what has not been read. It saves and merges nothing.

import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// An object of the graph: an instance of an entity, registered with one context.
///
/// Subclass it and declare properties with ``Attribute``, ``Relationship`` and ``Transient``, or use
/// it as it is with ``value(forKey:)`` for entities without a class. An object may be a *fault*: it
/// then stands for its record without having read it, and reads it when a property is asked for.
///
/// An object belongs to its context's queue and must not be used elsewhere; pass identifiers
/// (``objectID``) and values to other queues.
open class ManagedObject {
    final let binding: EntityBinding
    final var graphID: GraphID
    // Some properties are unchecked because each fault would pay for the checks. They are changed by plain
    // assignments and events, during which no other code runs; observers are told afterwards.
    /// The row that the values are read from as long as none of them has been set.
    @exclusivity(unchecked) private(set) final var held = BorrowedRow()
    /// The values otherwise.
    @exclusivity(unchecked) private final var list: [Value] = []
    /// The entry that last changed the row the values were read from.
    @exclusivity(unchecked) final var since: UInt64 = 0
    /// The object's record in the event being recorded; -1 for none.
    final var eventIndex: Int32 = -1
    /// What the object is to its context.
    @exclusivity(unchecked) private(set) final var status: ObjectStatus
    /// The rows that the object's was read together with, kept for other contexts.
    @exclusivity(unchecked) private(set) final var rowPage: RowPage?
    /// Related objects that have been asked for, by property. They hold their objects strongly.
    final var relations: [PropertyNumber: RelationCache] = [:] {
        didSet { if let observation { tellOfMembers(observation) } }
    }
    /// What is watched of the object; nil when nobody does.
    @exclusivity(unchecked) final var observation: ObjectObservation?

    /// A copy of the row that the values are read from.
    private(set) final var packed: EncodedRow? {
        get { held.row }
        set { held = BorrowedRow(newValue) }
    }

    /// The values in slot order, transient ones last; empty while the object is a fault.
    ///
    /// An object that was read keeps its row as bytes, and takes it apart when one of the values is
    /// set, or all are asked for. To read one value, use ``value(inSlot:)``.
    final var values: [Value] {
        get {
            guard let packed else { return list }
            return unpacked(packed)
        }
        // The values are changed in place: with a getter and a setter alone each change would copy
        // all of them.
        _modify {
            if let packed {
                list = unpacked(packed)
                self.packed = nil
            }
            defer { if let observation { tellOfValues(observation) } }
            yield &list
        }
        set {
            packed = nil
            list = newValue
            if let observation { tellOfValues(observation) }
        }
    }

    /// Whether there are values: those that were read, or the empty ones that a fault shows when it
    /// could not be read.
    final var hasValues: Bool { !held.isEmpty || !list.isEmpty }

    /// The value in a slot.
    final func value(inSlot slot: Int) -> Value {
        // An object whose record could not be read has no values; all read as empty.
        guard !held.isEmpty else { return slot < list.count ? list[slot] : .null }
        let schema = binding.schema
        return slot < schema.storedSlotCount
            ? held.value(inSlot: slot) : schema.defaults[slot]
    }

    /// Whether a slot has a certain value.
    final func has(_ value: Value, inSlot slot: Int) -> Bool {
        held.isEmpty ? list[slot] == value : self.value(inSlot: slot) == value
    }

    /// Takes edits back if the object still has their new values.
    ///
    /// - Returns: The inverse edits; nil when nothing has changed.
    final func takeBack(_ edits: [Edit]) -> [Edit]? {
        let entity = binding.schema
        if let packed {
            list = unpacked(packed)
            self.packed = nil
        }
        let made = edits.span
        for index in made.indices {
            guard let slot = entity.slot(of: made[index].property), slot < list.count,
                list[slot] == made[index].new
            else { return nil }
        }
        let back = [Edit](capacity: made.count) { back in
            for index in made.indices {
                guard let slot = entity.slot(of: made[index].property) else { continue }
                // The current value moves into the edit, which costs less than a copy.
                var value = made[index].old
                swap(&list[slot], &value)
                back.append(Edit(property: made[index].property, old: value, new: list[slot]))
            }
        }
        if let observation { tellOfValues(observation) }
        return back
    }

    /// Takes the values that were read.
    final func take(_ row: EncodedRow) {
        packed = row
        if !list.isEmpty { list = [] }
        if let observation { tellOfValues(observation) }
    }

    /// Takes the row from which the values will be read once the object awakes; it is a fault until
    /// then.
    final func prepare(_ row: EncodedRow) {
        packed = row
        if !list.isEmpty { list = [] }
        since = row.since.rawValue
    }

    /// Gives a prepared fault its values.
    ///
    /// - Returns: Whether it was one.
    final func becomePrepared() -> Bool {
        guard status.isFault, !held.isEmpty else { return false }
        status.undergo(.read)
        if let observation { tellOfValues(observation) }
        return true
    }

    /// Reverts ``prepare(_:)``, unless the object is no longer a fault.
    final func forgetPrepared() {
        guard status.isFault, !held.isEmpty else { return }
        packed = nil
        rowPage = nil
    }

    /// Drops the values.
    ///
    /// Observers are told when the object is already a fault, because they may read it at once.
    final func becomeFault(_ reason: ObjectStatus.FaultReason) {
        packed = nil
        if !list.isEmpty { list = [] }
        status.undergo(.turnedIntoFault(reason))
        if let observation { tellOfValues(observation) }
    }

    private final func unpacked(_ row: EncodedRow) -> [Value] {
        let schema = binding.schema
        let stored = row.values
        return schema.slots.count == schema.storedSlotCount
            ? stored : stored + schema.defaults[schema.storedSlotCount...]
    }

    /// Makes a new object of an entity and inserts it into a context.
    ///
    /// The designated initializer. Subclasses inherit it; set dynamic defaults in
    /// ``awakeFromInsert()`` rather than overriding it.
    ///
    /// - Parameters:
    ///   - entity: The entity, which the context's coordinator must know and which must not be abstract.
    ///   - context: The context to insert into.
    public required init(entity: EntityDescription, insertInto context: ManagedObjectContext) {
        let binding = context.binding(forInserting: entity.name, as: Self.self)
        self.binding = binding
        status = .new
        graphID = context.newID(of: binding)
        list = binding.entity.newValues
        context.registerInsert(self)
    }

    /// Makes the object for a record of the store; only contexts have the seed for it. Subclasses
    /// inherit it: initializers of their own are `convenience` initializers that call
    /// ``init(context:)``.
    public required init(_ seed: FaultSeed) {
        binding = seed.binding
        graphID = seed.graphID
        status = .fault
    }

    deinit { leave() }

    /// Makes everything that knows the object forget it.
    // This is not in the deinitializer, where each call would retain and release what the object refers
    // to.
    @inline(never) private final func leave() {
        letGoOfRow()
        let isAtHome = binding.handleEnd(of: self)
        guard !relations.isEmpty else { return }
        // Observers are not told that an object that goes away no longer leads anywhere.
        observation = nil
        let held = relations
        relations = [:]
        // Moved, because otherwise the last reference would be released here.
        if isAtHome {
            binding.letGo(of: consume held)
        } else {
            RelationRelease.letGoElsewhere(of: consume held)
        }
    }

    // MARK: - What happens to it

    /// Applies an event to the object's status; see ``ObjectStatus``. Events that also change values
    /// have functions of their own.
    final func undergo(_ event: ObjectStatus.Event) { status.undergo(event) }

    /// Whether the object comes up for the first time since ``forgetCount()``.
    final func isFirstCount() -> Bool {
        guard !status.isCounted else { return false }
        status.isCounted = true
        return true
    }

    /// Ends the counting.
    final func forgetCount() { status.isCounted = false }

    /// Marks whether the object was just found to meet the rules of the model.
    final func markValid(_ isValid: Bool) { status.isValid = isValid }

    /// Marks the object as one that an undo step mentions.
    final func markJournaled() { status.markJournaled() }

    /// Holds the row for other contexts on its own.
    final func holdRow() {
        status.holdsRow = true
        rowPage = nil
    }

    /// Holds the row for other contexts together with the rows read along with it.
    final func holdRow(with page: RowPage) { rowPage = page }

    /// Releases the rows that the object's was read together with.
    final func letGoOfPage() { rowPage = nil }

    /// Stops sharing the row with other contexts.
    final func letGoOfRow() {
        rowPage = nil
        guard status.holdsRow else { return }
        status.holdsRow = false
        binding.rows?.release(graphID)
    }

    // MARK: - Life cycle

    /// Called once, after the object was inserted and given its default values, but not when redo
    /// repeats an insert. Give properties their dynamic defaults here.
    open func awakeFromInsert() {}

    /// Called after the object's values were read from the store. Changes made here are not
    /// recorded.
    open func awakeFromFetch() {}

    /// Called after the object has taken values that the program did not set: by undo and redo, a
    /// rollback, a refresh, or a merge with what others have saved.
    ///
    /// Transient properties have their values again by then, so compute here again those that are
    /// derived from others. After a refresh that turned the object into a fault it is called when the
    /// fault fires, after ``awakeFromFetch()``. Changes made here are not recorded.
    open func awake(fromSnapshotEvents events: SnapshotEventType) {}

    /// Called before a save for every object that is inserted, updated or deleted; it may change this
    /// object and others. Called again for those that were changed, until nothing changes any more; a
    /// save gives up with `unsettled` when that does not end.
    ///
    /// It cannot refuse the save. To refuse it, throw in ``validateForInsert()``,
    /// ``validateForUpdate()`` or ``validateForDelete()``, which are called after it.
    open func willSave() {}

    /// Called after a save, for every object that was saved. Changes made here are pending for the next
    /// save.
    open func didSave() {}

    /// Called before the object is deleted, by the program or by a delete rule, while it is still
    /// complete and before delete rules are applied. Called again when the object is deleted again.
    open func prepareForDeletion() {}

    /// Called before a refresh turns the object into a fault, while it still has its values.
    open func willTurnIntoFault() {}

    /// Called after the object has become a fault.
    open func didTurnIntoFault() {}

    /// Checks the value of an attribute before it is saved, and may replace it; throw to refuse the
    /// save.
    ///
    /// Called for every attribute of an object that is inserted and for every changed one of an
    /// object that is updated, before the rules of the model are checked. The default does nothing.
    ///
    /// ```swift
    /// override func validate(_ value: inout Value, forKey key: String) throws {
    ///     guard key == "code", case .string(let code) = value else { return }
    ///     value = .string(code.uppercased())
    /// }
    /// ```
    open func validate(_ value: inout Value, forKey key: String) throws {}

    /// Checks the object before it is inserted; throw to refuse the save.
    ///
    /// The default checks the rules of the model: every value, with ``validate(_:forKey:)`` first, and
    /// how many objects relationships lead to. A save checks them whether or not an override calls
    /// `super`, and reports each failure once. May be called at any time.
    ///
    /// - Throws: ``StoreError`` with code `validation` and every failure, by default.
    open func validateForInsert() throws { try checkRules(for: .insert) }

    /// Checks the object before it is updated; throw to refuse the save.
    ///
    /// The default checks the rules of the model, as ``validateForInsert()`` does. In a save it checks
    /// the values that have changed.
    ///
    /// - Throws: ``StoreError`` with code `validation` and every failure, by default.
    open func validateForUpdate() throws { try checkRules(for: .update) }

    /// Checks the object before it is deleted; throw to refuse the save.
    ///
    /// The default checks that no relationship with the delete rule `deny` leads to an object.
    ///
    /// - Throws: ``StoreError`` with code `validation` and every failure, by default.
    open func validateForDelete() throws { try checkRules(for: .delete) }

    /// The name of the entity this class represents: the name of the class.
    open class var entityName: String { TypeNames.name(of: self) }

    /// Whether only subclasses have objects. Subclasses inherit this: an abstract class returns `self ==
    /// Vehicle.self` with its own name, not `true`.
    open class var isAbstractEntity: Bool { false }

    /// Attributes whose values together must be unique, by name: a list for each constraint. Use
    /// ``AttributeOptions/unique`` for a single attribute.
    open class var uniquenessConstraints: [[String]] { [] }

    /// Rules about how objects of the class may change, which every save is held to. They hold for objects of
    /// subclasses as well, whatever these return.
    open class var laws: [Law] { [] }

    /// Whether a store keeps an index of what entries have changed in objects of the class and of its subclasses, so that
    /// `changed`, `increased` and `decreased` find them by property and time. A save of updates takes a little longer.
    /// It has the objects of subclasses as well, whatever these return.
    open class var indexesChanges: Bool { false }

    /// The indexes over several properties, a list of names for each. They serve the objects of subclasses as well.
    /// Use ``AttributeOptions/indexed`` for a single attribute.
    ///
    /// ```swift
    /// override class var indexes: [IndexDescription] { [["customer", .descending("placedOn")]] }
    /// ```
    open class var indexes: [IndexDescription] { [] }

    /// The name that the entity had before: what a store has under that name is kept under
    /// ``entityName``. It has no effect in a store that has an entity named ``entityName``. Subclasses that
    /// are entities themselves do not take it over.
    open class var renamingIdentifier: String? { nil }

    /// Tells apart two versions of the entity that are otherwise declared alike.
    open class var versionHashModifier: String? { nil }

    /// What the program keeps with the entity and finds in ``EntityDescription/userInfo``. Subclasses
    /// inherit it, as they do any class property.
    open class var userInfo: [String: String] { [:] }
}

/// What a context makes faults from.
public struct FaultSeed {
    let binding: EntityBinding
    let graphID: GraphID
}

@available(*, unavailable, message: "pass the objectID to another queue instead")
extension ManagedObject: @unchecked Sendable {
    // @unchecked Sendable because the conformance is unavailable: it stops the compiler from finding
    // another.
}
