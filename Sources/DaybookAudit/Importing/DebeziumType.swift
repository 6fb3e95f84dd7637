internal import DaybookObjectModel
internal import Foundation

/// The meaning of a column's JSON, if it is not what it looks like.
enum DebeziumType {
    /// A number of units since 1970, with this many in a second.
    case time(Int64)
    /// Days since 1970.
    case days
    /// The bytes of a whole number, big-endian, as base64, that counts units of 10 to the minus scale.
    case decimal(scale: Int)
    /// The same with its scale beside it.
    case scaledDecimal

    /// The days that fit as a number of seconds: some 2.7 million years in each direction.
    private static let daysRange: ClosedRange<Int64> = -999_999_999...999_999_999
    /// The scales of decimal numbers, whose exponents are of one byte.
    private static let scales = -127...127

    init?(_ column: JSONValue) {
        switch column["name"]?.plainText {
        case "io.debezium.time.Date", "org.apache.kafka.connect.data.Date": self = .days
        case "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp":
            self = .time(1000)
        case "io.debezium.time.MicroTimestamp": self = .time(1_000_000)
        case "io.debezium.time.NanoTimestamp": self = .time(1_000_000_000)
        case "org.apache.kafka.connect.data.Decimal":
            guard let scale = Self.scale(column["parameters"]?["scale"]) else { return nil }
            self = .decimal(scale: scale)
        case "io.debezium.data.VariableScaleDecimal": self = .scaledDecimal
        default: return nil
        }
    }

    /// Whether the values are the bytes of numbers.
    var isDecimal: Bool {
        switch self {
        case .decimal, .scaledDecimal: true
        case .time, .days: false
        }
    }

    /// The value as plain JSON; nil when it does not fit the schema.
    func plain(_ json: JSONValue) -> JSONValue? {
        switch (self, json) {
        case (.days, .number(let text)):
            guard let days = Int64(text), Self.daysRange.contains(days) else { return nil }
            return .string(DateText.text(Date(timeIntervalSince1970: Double(days * 86_400))))
        case (.time(let units), .number(let text)):
            guard let count = Int64(text) else { return nil }
            let (seconds, rest) = count.quotientAndRemainder(dividingBy: units)
            return .string(
                DateText.text(
                    Date(timeIntervalSince1970: Double(seconds) + Double(rest) / Double(units))))
        case (.decimal(let scale), .string(let text)):
            return Self.decimal(text, scale)
        case (.scaledDecimal, .object):
            guard let scale = Self.scale(json["scale"]), case .string(let text)? = json["value"]
            else { return nil }
            return Self.decimal(text, scale)
        default: return nil
        }
    }

    private static func scale(_ json: JSONValue?) -> Int? {
        json?.plainText.flatMap { Int($0) }.flatMap { scales.contains($0) ? $0 : nil }
    }

    private static func decimal(_ text: String, _ scale: Int) -> JSONValue? {
        // A decimal number has no more than 128 bits of digits.
        guard let bytes = Data(base64Encoded: text), let first = bytes.first, bytes.count <= 16
        else { return nil }
        var number: Int128 = first & 0x80 == 0 ? 0 : -1
        for byte in bytes { number = number << 8 | Int128(byte) }
        return .string("\(number)e\(-scale)")
    }
}
