import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

extension ManagedObject {
    /// The value in a slot, from which the bytes can be read that the store keeps by reference.
    func readableValue(inSlot slot: Int) -> Value {
        attached(value(inSlot: slot), inSlot: slot)
    }

    /// A value that a slot has or had, from which the bytes can be read.
    func attached(_ value: Value, inSlot slot: Int) -> Value {
        guard case .large(let data) = value else { return value }
        return .large(data.attached(to: source(ofSlot: slot)))
    }

    private func source(ofSlot slot: Int) -> (any LargeDataSource)? {
        guard let store = binding.context?.coordinator.store(graphID.store) else { return nil }
        return PropertyData(
            store: store, object: objectID, property: binding.schema.slots[slot].name)
    }

    /// A value in its stored form.
    func normalized(_ value: Value, inSlot slot: Int) -> Value {
        switch value {
        case .data, .large:
            value.normalized(for: binding.schema.slots[slot].attribute?.type)
        default: value.normalized
        }
    }
}

/// The large data of one property of one object.
private struct PropertyData: LargeDataSource {
    let store: PersistentStore
    let object: ManagedObjectID
    let property: String

    func data(of data: LargeData) throws -> Data {
        try naming { try store.data(of: data) }
    }

    func bytes(of data: LargeData, in range: Range<Int>) throws -> Data {
        try naming { try store.store.bytes(of: data, in: range) }
    }

    /// Adds to an error what could not be read.
    private func naming<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as StoreError where error.code == .corrupt || error.code == .noSuchData {
            throw StoreError(
                error.code, "'\(object).\(property)' cannot be read. \(error.message)", cause: error
            )
        }
    }
}
