import DaybookObjectModel
import Foundation

extension XcodeValue {
    /// The value for an attribute of a type; nil when it is none.
    func value(of type: AttributeType) -> Value? {
        switch self {
        case .text(let text): Self.value(text, type)?.normalized
        case .interval(let text):
            type == .date ? Double(text).flatMap(Self.date)?.normalized : nil
        case .value(let value): Self.value(value, type)?.normalized
        }
    }

    /// Whether there is no value: the editor leaves an empty text where a number was taken away.
    func isNothing(for type: AttributeType) -> Bool {
        switch self {
        case .text(let text): text.isEmpty && type != .string
        case .interval: false
        case .value(let value): value.isNull
        }
    }

    /// The value as it can be shown in a message.
    var shown: String {
        switch self {
        case .text(let text), .interval(let text): String(text.prefix(80))
        case .value(let value): value.noun
        }
    }

    private static func value(_ text: String, _ type: AttributeType) -> Value? {
        switch type {
        case .int16, .int32, .int64:
            (Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }).map { .int($0) }
        case .float: Float(text).map { .double(Double($0)) }
        case .double: Double(text).map { .double($0) }
        case .decimal: Decimal(exactly: text).map { .decimal($0) }
        case .bool: truths[text.lowercased()].map { .bool($0) }
        case .string, .url: .string(text)
        case .uuid: UUID(uuidString: text).map { .uuid($0) }
        case .date: DateText.date(text).map { .date($0) }
        case .data, .codable: nil
        }
    }

    private static let truths = [
        "yes": true, "true": true, "1": true, "no": false, "false": false, "0": false,
    ]

    private static func date(_ seconds: Double) -> Value? {
        seconds.isFinite ? .date(Date(timeIntervalSinceReferenceDate: seconds)) : nil
    }

    /// A value that has a type already, which need not be the attribute's: a compiled model has every
    /// number as it was archived.
    private static func value(_ value: Value, _ type: AttributeType) -> Value? {
        switch (type, value) {
        case (.bool, .int(let number)): number == 0 || number == 1 ? .bool(number == 1) : nil
        case (.int16, .double(let number)), (.int32, .double(let number)),
            (.int64, .double(let number)):
            Int64(exactly: number).map { .int($0) }
        case (.int16, .bool(let truth)), (.int32, .bool(let truth)), (.int64, .bool(let truth)):
            .int(truth ? 1 : 0)
        case (.float, .int(let number)): .double(Double(Float(number)))
        case (.float, .double(let number)): .double(Double(Float(number)))
        case (.double, .int(let number)): .double(Double(number))
        case (.decimal, .int(let number)): .decimal(Decimal(number))
        case (.decimal, .double(let number)): Decimal(exactly: "\(number)").map { .decimal($0) }
        default: type.objection(to: value) == nil ? value : nil
        }
    }
}
