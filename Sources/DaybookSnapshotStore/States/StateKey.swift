internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
package import Foundation

/// Turns what states have for keys into bytes, in whose order the keys are, and back.
package enum StateKey {
    /// The greatest length of a key, in bytes.
    package static var bytesLimit: Int { StateTable.keyBytesLimit }

    /// The least key that is greater than all that begin with `prefix`; nil when there is none.
    package static func end(of prefix: [UInt8]) -> [UInt8]? { StoreKey.end(of: prefix) }

    /// Eight bytes, the sign bit flipped.
    package static func bytes(of integer: Int64) -> [UInt8] {
        var writer = KeyWriter(capacity: 8)
        writer.append(integer)
        return writer.bytes
    }

    /// The number of eight bytes; nil for others.
    package static func integer(_ bytes: [UInt8]) -> Int64? {
        word(bytes).map { Int64(bitPattern: $0 ^ 1 << 63) }
    }

    /// The bits of the seconds since the reference date, all flipped for those before it, and otherwise only the
    /// sign; nil for "not a number".
    package static func bytes(of date: Date) -> [UInt8]? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard !seconds.isNaN else { return nil }
        // Two zeros are one date.
        let bits = (seconds == 0 ? 0 : seconds).bitPattern
        var writer = KeyWriter(capacity: 8)
        writer.append(bits >> 63 == 1 ? ~bits : bits ^ 1 << 63)
        return writer.bytes
    }

    /// The date of eight bytes; nil for others.
    package static func date(_ bytes: [UInt8]) -> Date? {
        guard let word = word(bytes) else { return nil }
        let seconds = Double(bitPattern: word >> 63 == 1 ? word ^ 1 << 63 : ~word)
        return seconds.isNaN ? nil : Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// Entity and number, twelve bytes.
    package static func bytes(of object: ObjectID) -> [UInt8] { StoreKey.object(object) }

    /// The object of twelve bytes; nil for others.
    package static func object(_ bytes: [UInt8]) -> ObjectID? {
        guard bytes.count == StoreKey.objectSize else { return nil }
        let entity = bytes[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let number = word(Array(bytes[4...])),
            (1...StoreLayout.objectNumberMaximum).contains(number)
        else { return nil }
        return ObjectID(entity: EntityNumber(rawValue: entity), number: number)
    }

    /// Sixteen bytes.
    package static func bytes(of uuid: UUID) -> [UInt8] {
        withUnsafeBytes(of: uuid.uuid) { Array($0) }
    }

    /// The UUID of sixteen bytes; nil for others.
    package static func uuid(_ bytes: [UInt8]) -> UUID? {
        guard bytes.count == 16 else { return nil }
        return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    private static func word(_ bytes: [UInt8]) -> UInt64? {
        guard bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension ProjectionKeyForm {
    /// A key as the command prints it: a text, a number, a date, the name of an object, and bytes in hexadecimal,
    /// as which everything is printed that is not of the form.
    package func text(of bytes: [UInt8], in schema: Schema) -> String {
        let text: String? =
            switch self {
            case .string: String(validating: bytes, as: UTF8.self)
            case .data: nil
            case .integer: StateKey.integer(bytes).map { String($0) }
            case .uuid: StateKey.uuid(bytes)?.uuidString
            case .date: StateKey.date(bytes).map { DateText.text($0) }
            case .object: StateKey.object(bytes).map { schema.name(of: $0) }
            }
        return text ?? bytes.map { Self.hexadecimal($0) }.joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
