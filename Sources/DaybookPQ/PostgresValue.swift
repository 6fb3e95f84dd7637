/// A value that a statement is given, in PostgreSQL's binary form.
package enum PostgresValue: Sendable, Hashable {
    /// A truth value.
    case boolean(Bool)
    /// An integer of four bytes.
    case int4(Int32)
    /// An integer of eight bytes.
    case int8(Int64)
    /// Text.
    case text(String)
    /// Bytes; nil for no value.
    case bytes([UInt8]?)
    /// The sixteen bytes of a UUID.
    case uuid([UInt8])
    /// A list of integers of eight bytes.
    case int8s([Int64])
    /// A list of bytes.
    case bytesList([[UInt8]])

    /// PostgreSQL's number of the type.
    var type: UInt32 {
        switch self {
        case .boolean: 16
        case .bytes: 17
        case .int8: 20
        case .int4: 23
        case .text: 25
        case .bytesList: 1001
        case .int8s: 1016
        case .uuid: 2950
        }
    }

    /// The bytes; nil for no value.
    var encoded: [UInt8]? {
        switch self {
        case .boolean(let value): [value ? 1 : 0]
        case .int4(let value): Self.bigEndian(value)
        case .int8(let value): Self.bigEndian(value)
        case .text(let value): Array(value.utf8)
        case .bytes(let value): value
        case .uuid(let value): value
        case .int8s(let values):
            Self.list(of: 20, values.map { Self.bigEndian($0) })
        case .bytesList(let values):
            Self.list(of: 17, values)
        }
    }

    /// A list of one dimension: dimensions, whether there are nulls, the type of the elements, their
    /// count and the first index; then each with its length.
    private static func list(of type: Int32, _ values: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + values.reduce(0) { $0 + 4 + $1.count })
        bytes += bigEndian(Int32(values.isEmpty ? 0 : 1)) + bigEndian(Int32(0)) + bigEndian(type)
        if values.isEmpty { return bytes }
        bytes += bigEndian(Int32(values.count)) + bigEndian(Int32(1))
        for value in values { bytes += bigEndian(Int32(value.count)) + value }
        return bytes
    }

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
