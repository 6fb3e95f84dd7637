// The room of the objects: values, lists, faults and hooks of one object, and what a context does to a
// single one. It records each edit before it makes it, and asks the registry for other objects and the
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
/// An object belongs to its context's queue and must not be used elsewhere; across queues go
/// identifiers (``objectID``) and values.
open class ManagedObject {
    final let binding: EntityBinding
    final var graphID: GraphID
    /// The row that the values are read from as long as none of them has been set.
    // Unchecked, both, because each fault would pay for the checks; the values are set by plain
    // assignments, and nobody is told before one is done.
    @exclusivity(unchecked) private(set) final var held = BorrowedRow()
    /// The values otherwise.
    @exclusivity(unchecked) private final var list: [Value] = []
    /// The entry that last changed the row the values were read from.
    final var since: UInt64 = 0
    /// The object's record in the event being recorded; -1 for none.
    final var eventIndex: Int32 = -1
    /// What the object is to its context.
    private(set) final var status: ObjectStatus
    /// The rows that the object's was read together with, kept for other contexts.
    @exclusivity(unchecked) private(set) final var rowPage: RowPage?
    /// Related objects that have been asked for, by property. They hold their objects strongly.
    final var relations: [PropertyNumber: RelationCache] = [:] {
        didSet { if let observation { tellOfMembers(observation) } }
    }
    /// What is watched of the object; nil when nobody does.
    final var observation: ObjectObservation?

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

    /// Whether there are values: those that were read, or that a fault shows which could not be.
    final var hasValues: Bool { !held.isEmpty || !list.isEmpty }

    /// The value in a slot.
    final func value(inSlot slot: Int) -> Value {
        // An object whose record could not be read has no values; all read as empty.
        guard !held.isEmpty else { return slot < list.count ? list[slot] : .null }
        let schema = binding.schema
        return slot < schema.storedSlotCount
            ? held.value(inSlot: slot) : schema.defaults[slot]
    }

    /// Whether the value in a slot is a certain one.
    final func has(_ value: Value, inSlot slot: Int) -> Bool {
        held.isEmpty ? list[slot] == value : self.value(inSlot: slot) == value
    }

    /// Takes edits back if the values are those to which they lead.
    ///
    /// - Returns: The edits back; nil when nothing has changed.
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
                // The value that stands there moves into the edit, which costs less than a copy.
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

    /// Takes the row that the values will be read from once the object awakes; it is a fault until
    /// then.
    final func prepare(_ row: EncodedRow) {
        packed = row
        if !list.isEmpty { list = [] }
        since = row.since.rawValue
    }

    /// Makes a fault that was prepared an object with values.
    ///
    /// - Returns: Whether it was one.
    final func becomePrepared() -> Bool {
        guard status.isFault, !held.isEmpty else { return false }
        status.undergo(.read)
        if let observation { tellOfValues(observation) }
        return true
    }

    /// Takes back what ``prepare(_:)`` has done, unless the object is no fault any more.
    final func forgetPrepared() {
        guard status.isFault, !held.isEmpty else { return }
        packed = nil
        rowPage = nil
    }

    /// Lets go of the values.
    ///
    /// Who watches the object is told when it is a fault already, as they may read it at once.
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
    ///   - entity: The entity, which the context's coordinator must know and which is not abstract.
    ///   - context: The context to insert into.
    public required init(entity: EntityDescription, insertInto context: ManagedObjectContext) {
        let binding = context.binding(forInserting: entity.name, as: Self.self)
        self.binding = binding
        status = .new
        graphID = context.newID(of: binding)
        list = binding.entity.newValues
        context.registerInsert(self)
    }

    /// Makes the object that stands for a record of the store; only contexts have a seed to do it
    /// with. Subclasses inherit it: initializers of their own are `convenience` initializers that call
    /// ``init(context:)``.
    public required init(_ seed: FaultSeed) {
        binding = seed.binding
        graphID = seed.graphID
        status = .fault
    }

    deinit { leave() }

    /// Has everybody who knows of the object forget it.
    // Not in the deinitializer, where each call would count references to what the object refers to.
    @inline(never) private final func leave() {
        letGoOfRow()
        let release = binding.noteEnd(of: self)
        guard !relations.isEmpty else { return }
        // Nobody is told that an object that goes leads nowhere any more.
        observation = nil
        let held = relations
        relations = [:]
        // Moved, or the last reference would be given up here.
        if let release {
            release.letGo(of: consume held)
        } else {
            RelationRelease.letGoElsewhere(of: consume held)
        }
    }

    // MARK: - What happens to it

    /// Takes in what happens to the object; see ``ObjectStatus``. What changes values as well has a
    /// function of its own.
    final func undergo(_ event: ObjectStatus.Event) { status.undergo(event) }

    /// Whether the object is met for the first time since ``forgetCount()``.
    final func isFirstCount() -> Bool {
        guard !status.isCounted else { return false }
        status.isCounted = true
        return true
    }

    /// Ends the counting.
    final func forgetCount() { status.isCounted = false }

    /// Notes whether the object was just found to keep the rules of the model.
    final func noteValid(_ isValid: Bool) { status.isValid = isValid }

    /// Notes that a step of undo mentions the object.
    final func noteJournaled() { status.noteJournaled() }

    /// Holds the row for other contexts by itself.
    final func holdRow() {
        status.holdsRow = true
        rowPage = nil
    }

    /// Holds the row for other contexts with those it was read together with.
    final func holdRow(with page: RowPage) { rowPage = page }

    /// Lets go of the rows that the object's was read together with.
    final func letGoOfPage() { rowPage = nil }

    /// Lets others no longer have the row without reading it.
    final func letGoOfRow() {
        rowPage = nil
        guard status.holdsRow else { return }
        status.holdsRow = false
        binding.rows?.release(graphID)
    }

    // MARK: - Life cycle

    /// Called once, after the object was inserted and given its default values; not when an insert is
    /// made again by redo. Give properties their dynamic defaults here.
    open func awakeFromInsert() {}

    /// Called after the object's values were read from the store. Changes made here are not
    /// recorded.
    open func awakeFromFetch() {}

    /// Called after the object has taken values that the program did not set: by undo and redo, a
    /// rollback, a refresh, or a merge with what others have saved.
    ///
    /// Transient properties have their values again by then, so this is the place to compute those
    /// anew that follow from others. After a refresh that turned the object into a fault it is
    /// called when the fault fires, after ``awakeFromFetch()``. Changes made here are not recorded.
    open func awake(fromSnapshotEvents events: SnapshotEventType) {}

    /// Called before a save for every object that is inserted, updated or deleted; may change this
    /// object and others. Called again for those that were changed, until nothing is changed any
    /// more; a save gives up with `unsettled` when there is no end to it.
    ///
    /// It cannot refuse the save. What is to refuse throws in ``validateForInsert()``,
    /// ``validateForUpdate()`` or ``validateForDelete()``, which are called after it.
    open func willSave() {}

    /// Called after a save, for every object that was saved. What is changed here is pending for the
    /// next save.
    open func didSave() {}

    /// Called before the object is deleted, by the program or by a delete rule, while it is still
    /// whole and before delete rules are carried out. Called again when the object is deleted again.
    open func prepareForDeletion() {}

    /// Called before a refresh turns the object into a fault, while it still has its values.
    open func willTurnIntoFault() {}

    /// Called after the object has become a fault.
    open func didTurnIntoFault() {}

    /// Checks the value of an attribute before it is saved, and may put another one in its place;
    /// throw to refuse the save.
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
    /// `super`, and tells each failure once. May be called at any time.
    ///
    /// - Throws: ``StoreError`` with code `validation` and every failure, by default.
    open func validateForInsert() throws { try checkRules(for: .insert) }

    /// Checks the object before it is updated; throw to refuse the save.
    ///
    /// The default checks the rules of the model, as ``validateForInsert()`` does. In a save it has
    /// to do with the values that have changed.
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
    open class var entityName: String { String(describing: self) }

    /// Whether there are only objects of the subclasses, which inherit this: an abstract class returns
    /// `self == Vehicle.self` with its own name, not `true`.
    open class var isAbstractEntity: Bool { false }

    /// Attributes whose values together must be unique, by name: a list for each constraint. Use
    /// ``AttributeOptions/unique`` for a single attribute.
    open class var uniquenessConstraints: [[String]] { [] }
}

/// What a context makes faults of.
public struct FaultSeed {
    let binding: EntityBinding
    let graphID: GraphID
}

@available(*, unavailable, message: "pass the objectID to another queue instead")
extension ManagedObject: @unchecked Sendable {
    // @unchecked Sendable because the conformance is unavailable: it stops the compiler from finding
    // another.
}
