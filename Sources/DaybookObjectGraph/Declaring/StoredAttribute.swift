public import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// An attribute of an object that has been read, from which an ``AttributeValue`` is made.
///
/// An object keeps what it has read as the bytes of its record. A type that reads one of the forms below
/// takes its value directly from them; ``value`` makes an enumeration first.
public struct StoredAttribute {
    @usableFromInline let object: ManagedObject
    @usableFromInline let slot: Int

    @inlinable init(object: ManagedObject, slot: Int) {
        self.object = object
        self.slot = slot
    }

    /// The value in whatever form it has.
    public var value: Value { object.readableValue(inSlot: slot) }

    /// Whether there is no value.
    public var isNull: Bool { isInRow ? object.held.isNull(inSlot: slot) : value.isNull }

    /// The integer; nil when there is another value or none.
    public var integer: Int64? {
        if isInRow { return object.held.integer(inSlot: slot) }
        guard case .int(let value) = value else { return nil }
        return value
    }

    /// The floating-point number; nil when there is another value or none.
    public var double: Double? {
        if isInRow { return object.held.double(inSlot: slot) }
        guard case .double(let value) = value else { return nil }
        return value
    }

    /// The text; nil when there is another value or none.
    public var text: String? {
        if isInRow { return object.held.text(inSlot: slot) }
        guard case .string(let value) = value else { return nil }
        return value
    }

    /// The seconds since the reference date, 2001-01-01T00:00:00Z, of a date; nil when there is
    /// another value or none.
    public var seconds: Double? {
        if isInRow { return object.held.seconds(inSlot: slot) }
        guard case .date(let value) = value else { return nil }
        return value.timeIntervalSinceReferenceDate
    }

    /// Whether the attribute is read from the object's record, which it is not when the object has been
    /// edited or the attribute is in memory only.
    private var isInRow: Bool {
        slot < object.binding.schema.storedSlotCount && !object.held.isEmpty
    }
}
