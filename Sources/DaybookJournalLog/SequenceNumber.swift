/// The position of an entry in the journal: 1, 2, 3 and so on without a gap.
public struct SequenceNumber: RawRepresentable, Hashable, Sendable {
    /// The number itself.
    public let rawValue: UInt64

    /// The position with that number; 0 means before every entry.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The position with that number; 0 means before every entry.
    public init(_ number: UInt64) {
        self.init(rawValue: number)
    }

    /// The position before the first entry.
    public static let zero = SequenceNumber(rawValue: 0)

    /// No journal gets this long: a greater number was not written by this software.
    package static let maximum = SequenceNumber(rawValue: 1 << 62)

    /// The position after this one; for the greatest number, that number itself.
    public var next: SequenceNumber {
        SequenceNumber(rawValue: rawValue == .max ? rawValue : rawValue + 1)
    }

    /// The position before this one; for ``zero``, that itself.
    public var previous: SequenceNumber {
        SequenceNumber(rawValue: rawValue == 0 ? rawValue : rawValue - 1)
    }
}

extension SequenceNumber: Comparable {
    /// Whether one position is before another.
    public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension SequenceNumber: CustomStringConvertible {
    /// The number in decimal.
    public var description: String { String(rawValue) }
}

extension SequenceNumber: Codable {
    /// Reads a plain number.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(UInt64.self))
    }

    /// Writes a plain number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}
