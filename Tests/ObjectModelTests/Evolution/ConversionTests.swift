import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Values of one type as those of another: the same, or none.
@Suite struct ConversionTests {
    private static let date = Value.date(Date(timeIntervalSinceReferenceDate: 0.5))
    private static let id = Value.uuid(
        UUID(uuid: (1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16)))
    private static let idText = "01020304-0506-4708-890A-0B0C0D0E0F10"

    /// What a value becomes in each type in which it is something; in all others it is nothing.
    private static let table: [(Value, [AttributeType: Value])] = [
        (
            .bool(true),
            [
                .bool: .bool(true), .int16: .int(1), .int32: .int(1), .int64: .int(1),
                .string: .string("true"), .url: .string("true"),
            ]
        ),
        (
            .int(0),
            [
                .bool: .bool(false), .int16: .int(0), .int32: .int(0), .int64: .int(0),
                .float: .double(0), .double: .double(0), .decimal: .decimal(0),
                .string: .string("0"), .url: .string("0"),
            ]
        ),
        (
            .int(40_000),
            [
                .int32: .int(40_000), .int64: .int(40_000), .float: .double(40_000),
                .double: .double(40_000), .decimal: .decimal(40_000), .string: .string("40000"),
                .url: .string("40000"),
            ]
        ),
        (
            .int(9_007_199_254_740_993),
            [
                .int64: .int(9_007_199_254_740_993),
                .decimal: .decimal(Decimal(9_007_199_254_740_993 as Int64)),
                .string: .string("9007199254740993"), .url: .string("9007199254740993"),
            ]
        ),
        (
            .int(.min),
            [
                .int64: .int(.min), .float: .double(-0x1p63), .double: .double(-0x1p63),
                .decimal: .decimal(Decimal(Int64.min)),
                .string: .string("-9223372036854775808"), .url: .string("-9223372036854775808"),
            ]
        ),
        (
            .double(-2),
            [
                .int16: .int(-2), .int32: .int(-2), .int64: .int(-2), .float: .double(-2),
                .double: .double(-2), .decimal: .decimal(-2), .string: .string("-2.0"),
                .url: .string("-2.0"),
            ]
        ),
        (
            .double(0.1),
            [
                .double: .double(0.1),
                .decimal: .decimal(Decimal(sign: .plus, exponent: -1, significand: 1)),
                .string: .string("0.1"), .url: .string("0.1"),
            ]
        ),
        (
            .double(.infinity),
            [
                .float: .double(.infinity), .double: .double(.infinity),
                .string: .string("Infinity"), .url: .string("Infinity"),
            ]
        ),
        (
            .double(1e300),
            [.double: .double(1e300), .string: .string("1e+300"), .url: .string("1e+300")]
        ),
        (
            .decimal(12),
            [
                .int16: .int(12), .int32: .int(12), .int64: .int(12), .float: .double(12),
                .double: .double(12), .decimal: .decimal(12), .string: .string("12"),
                .url: .string("12"),
            ]
        ),
        (
            .decimal(Decimal(sign: .minus, exponent: -2, significand: 125)),
            [
                .float: .double(-1.25), .double: .double(-1.25),
                .decimal: .decimal(Decimal(sign: .minus, exponent: -2, significand: 125)),
                .string: .string("-1.25"), .url: .string("-1.25"),
            ]
        ),
        (
            .string("12"),
            [
                .int16: .int(12), .int32: .int(12), .int64: .int(12), .float: .double(12),
                .double: .double(12), .decimal: .decimal(12), .string: .string("12"),
                .url: .string("12"), .data: .data(Data("12".utf8)),
                .codable: .data(Data("12".utf8)),
            ]
        ),
        (
            .string("true"),
            [
                .bool: .bool(true), .string: .string("true"), .url: .string("true"),
                .data: .data(Data("true".utf8)), .codable: .data(Data("true".utf8)),
            ]
        ),
        (
            .string(idText),
            [
                .uuid: id, .string: .string(idText), .url: .string(idText),
                .data: .data(Data(idText.utf8)),
            ]
        ),
        (
            .string("2001-01-01T00:00:00.5Z"),
            [
                .date: date, .string: .string("2001-01-01T00:00:00.5Z"),
                .data: .data(Data("2001-01-01T00:00:00.5Z".utf8)),
            ]
        ),
        (
            .string("no number"),
            [.string: .string("no number"), .data: .data(Data("no number".utf8))]
        ),
        (
            .data(Data("é".utf8)),
            [
                .string: .string("é"), .data: .data(Data("é".utf8)),
                .codable: .data(Data("é".utf8)),
            ]
        ),
        (.data(Data([0xff])), [.data: .data(Data([0xff])), .codable: .data(Data([0xff]))]),
        (
            date,
            [.date: date, .string: .string("2001-01-01T00:00:00.5Z")]
        ),
        (id, [.uuid: id, .string: .string(idText), .url: .string(idText)]),
    ]

    @Test(arguments: AttributeType.allCases)
    func `a value means the same in the other type, or there is none`(type: AttributeType) {
        for (value, forms) in Self.table {
            // Whether a text is a URL is the system's to say.
            if type == .url, forms[.url] == nil { continue }
            if type == .codable, case .string = value { continue }
            #expect(value.converted(to: type) == forms[type] ?? .null, "\(value) to \(type)")
        }
    }

    @Test(arguments: AttributeType.allCases)
    func `nothing stays nothing, and a converted value fits its type`(type: AttributeType) {
        #expect(Value.null.converted(to: type) == .null)
        for (value, _) in Self.table {
            let converted = value.converted(to: type)
            if !converted.isNull {
                #expect(type.objection(to: converted) == nil, "\(value) to \(type)")
                #expect(converted == converted.normalized)
                #expect(converted.converted(to: type) == converted)
            }
        }
    }

    @Test(arguments: AttributeType.allCases)
    func `what becomes text comes back from it`(type: AttributeType) {
        for (value, _) in Self.table where type.objection(to: value) == nil && type != .data {
            let text = value.converted(to: .string)
            if text.isNull || type == .codable { continue }
            #expect(text.converted(to: type) == value.normalized, "\(value) as \(type)")
        }
    }

    @Test func `a number becomes another kind of number only if it comes back`() {
        var generator = SeededValues()
        let numbers: [AttributeType] = [.int16, .int32, .int64, .float, .double, .decimal]
        for _ in 0..<2_000 {
            let value = generator.number()
            for type in numbers {
                let converted = value.converted(to: type)
                if converted.isNull { continue }
                let source: AttributeType =
                    switch value {
                    case .int: .int64
                    case .double: .double
                    default: .decimal
                    }
                #expect(
                    converted.converted(to: source) == value.normalized,
                    "seed \(SeededValues.value): \(value) to \(type) and back")
            }
        }
    }
}

/// Random numbers near the edges of the types.
private struct SeededValues {
    static let value: UInt64 = 77
    private var generator = SeededGenerator(seed: Self.value)

    mutating func number() -> Value {
        let shift = Int.random(in: 0...62, using: &generator)
        let whole = Int64.random(in: .min ... .max, using: &generator) >> Int64(shift)
        switch Int.random(in: 0...3, using: &generator) {
        case 0: return .int(whole)
        case 1: return .double(Double(whole))
        case 2: return .double(Double(whole) / 1024)
        default:
            let exponent = Int.random(in: -6...6, using: &generator)
            return .decimal(
                Decimal(
                    sign: whole < 0 ? .minus : .plus, exponent: exponent,
                    significand: Decimal(whole.magnitude)))
        }
    }
}
