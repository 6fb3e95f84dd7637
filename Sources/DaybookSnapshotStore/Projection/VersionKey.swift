internal import DaybookJournalLog
internal import DaybookObjectModel

/// The key of a row and, followed by a sequence number, of a version, without heap storage.
struct VersionKey {
    /// Entity, object and sequence number; the last is zero until it is set.
    private(set) var bytes = InlineArray<20, UInt8>(repeating: 0)

    /// The size of the key of a row, in bytes.
    static let rowSize = StoreKey.objectSize

    init(_ object: ObjectID) {
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        raw.storeBytes(of: object.entity.rawValue.bigEndian, as: UInt32.self)
        raw.storeBytes(of: object.number.bigEndian, toByteOffset: 4, as: UInt64.self)
    }

    init(_ object: ObjectID, _ sequence: SequenceNumber) {
        self.init(object)
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        raw.storeBytes(
            of: sequence.rawValue.bigEndian, toByteOffset: Self.rowSize, as: UInt64.self)
    }
}
