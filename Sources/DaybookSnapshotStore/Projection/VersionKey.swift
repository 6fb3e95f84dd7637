internal import DaybookJournalLog
internal import DaybookObjectModel

/// The key of a row and, with a sequence number behind it, of a version, without storage on the heap.
struct VersionKey {
    /// Entity, object and sequence number; the last is zero until it is set.
    private(set) var bytes = InlineArray<20, UInt8>(repeating: 0)

    /// How many bytes the key of a row has.
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
