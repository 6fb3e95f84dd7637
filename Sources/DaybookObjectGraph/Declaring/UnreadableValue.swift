public import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping

/// A stored value that a property's type does not have: most often the raw value of an enumeration's
/// case that was removed, or that a newer program has added.
///
/// A property cannot throw: it reads as its default, or as empty, and
/// ``ManagedObjectContext/inaccessibleFaultHandler`` gets a ``StoreError`` with this as its cause, which
/// ``ManagedObject/willAccessValue(forKey:)`` also throws. The value stays in the store until the
/// property is set. A type that has a word for such values (``AttributeValue/unknownValue``) reads as
/// that instead.
public struct UnreadableValue: Error, Sendable, Hashable {
    /// The object.
    public let objectID: ManagedObjectID
    /// The name of the property.
    public let property: String
    /// The value in the store.
    public let storedValue: Value
    /// The name of the property's type.
    public let typeName: String
}

extension UnreadableValue: CustomStringConvertible {
    /// One sentence that names the object, the property and its type, but not the value.
    public var description: String {
        "'\(objectID).\(property)' cannot be read: the store has a value that '\(typeName)' does not. "
            + "Add the case again, or declare 'unknownValue' for the type."
    }
}

extension ManagedObject {
    /// Reports a value that a property's type does not have.
    @inline(never) func reportUnreadable(_ stored: Value, inSlot slot: Int) {
        guard let context = binding.context else { return }
        if case .large(let data) = stored {
            return context.report(unreadable(data, inSlot: slot), about: objectID)
        }
        let value = unreadable(stored, inSlot: slot)
        if let handler = context.inaccessibleFaultHandler {
            handler(objectID, StoreError.unreadable(value))
        } else {
            let topic = "\(binding.schema.name).\(value.property)"
            Warning.once("unreadable \(topic)", value.description)
        }
    }

    /// Throws when the value in a slot is not one of the property's type.
    func checkReadable(_ slot: Int) throws {
        let stored = readableValue(inSlot: slot)
        guard !binding.entity.isReadable(stored, inSlot: slot) else { return }
        if case .large(let data) = stored { throw unreadable(data, inSlot: slot) }
        throw StoreError.unreadable(unreadable(stored, inSlot: slot))
    }

    /// Why the bytes of large data cannot be read.
    private func unreadable(_ data: LargeData, inSlot slot: Int) -> StoreError {
        do {
            _ = try data.data()
        } catch let error as StoreError {
            return error
        } catch {
            let name = "'\(objectID).\(binding.schema.slots[slot].name)'"
            return StoreError(.noSuchData, "\(name) cannot be read. \(error)", cause: error)
        }
        // They can be read as bytes, so it is the type of the property that has no such value.
        return .unreadable(unreadable(.large(data), inSlot: slot))
    }

    private func unreadable(_ stored: Value, inSlot slot: Int) -> UnreadableValue {
        UnreadableValue(
            objectID: objectID, property: binding.schema.slots[slot].name, storedValue: stored,
            typeName: binding.entity.typeName(ofSlot: slot))
    }
}

extension ManagedObjectContext {
    fileprivate func report(_ error: StoreError, about object: ManagedObjectID) {
        if let handler = inaccessibleFaultHandler {
            handler(object, error)
        } else {
            Warning.once("unreadable \(object)", error.message)
        }
    }
}

extension StoreError {
    fileprivate static func unreadable(_ value: UnreadableValue) -> StoreError {
        StoreError(.unreadableValue, value.description, cause: value)
    }
}
