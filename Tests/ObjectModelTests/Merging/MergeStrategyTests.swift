import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// The results of the strategies for three values.
@Suite struct MergeStrategyTests {
    /// The merged value of an attribute of a type.
    private func merged(
        _ strategy: MergeStrategy, _ type: AttributeType, _ base: Value, _ theirs: Value,
        _ ours: Value, rules: AttributeRules = AttributeRules(), isSet: Bool = false
    ) throws -> Value? {
        let attribute = AttributeDescription(
            name: "value", type: type, rules: rules, merge: strategy, isSet: isSet)
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(name: "Thing", attributes: [attribute])
            ]))
        let property = try #require(schema.entities[0].property(named: "value"))
        return property.merged(base: base, theirs: theirs, ours: ours)
    }

    private func list(_ elements: String...) -> Value {
        .data(Data("[\(elements.map { "\"\($0)\"" }.joined(separator: ","))]".utf8))
    }

    // MARK: - Sums

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the sum of all differences comes out in any order`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let start = Int64.random(in: -1000...1000, using: &random)
        let differences = (0..<8).map { _ in Int64.random(in: -1000...1000, using: &random) }
        let expected = start + differences.reduce(0, +)

        for type in [AttributeType.int64, .decimal, .double] {
            func value(_ number: Int64) -> Value {
                switch type {
                case .int64: .int(number)
                case .decimal: .decimal(Decimal(number))
                default: .double(Double(number))
                }
            }
            var current = value(start)
            for difference in differences.shuffled(using: &random) {
                current = try #require(
                    try merged(.sum, type, value(start), current, value(start + difference)),
                    "seed \(seed)")
            }
            #expect(current == value(expected), "seed \(seed), \(type)")
        }
    }

    @Test func `a sum that the type cannot hold is a conflict and neither wraps nor traps`() throws
    {
        let most = Value.int(.max)
        #expect(try merged(.sum, .int64, .int(0), most, .int(1)) == nil)
        #expect(try merged(.sum, .int64, .int(0), .int(.min), .int(-1)) == nil)
        #expect(try merged(.sum, .int64, .int(.min), .int(0), .int(.max)) == nil)
        // Only the result must fit, not the intermediate values.
        #expect(try merged(.sum, .int64, .int(.max), .int(.min), .int(.max - 1)) == nil)
        #expect(try merged(.sum, .int64, .int(.min), .int(.min + 5), .int(.max)) == nil)
        #expect(try merged(.sum, .int64, .int(.max), .int(.max - 5), .int(.min)) == nil)
        #expect(try merged(.sum, .int64, .int(-1), .int(.min), .int(.max)) == .int(0))
        #expect(try merged(.sum, .int16, .int(0), .int(30_000), .int(3_000)) == nil)
        #expect(try merged(.sum, .int16, .int(0), .int(30_000), .int(2_767)) == .int(32_767))
        #expect(try merged(.sum, .int32, .int(0), .int(-0x7fff_ffff), .int(-2)) == nil)
        let large = Value.double(1e308)
        #expect(try merged(.sum, .double, .double(0), large, large) == nil)
        #expect(try merged(.sum, .double, .double(0), .double(.infinity), .double(1)) == nil)
        #expect(try merged(.sum, .double, .double(.nan), .double(1), .double(1)) == nil)
        // Rounded, as binary numbers are, to single precision.
        #expect(
            try merged(.sum, .float, .double(0), .double(0x1p24), .double(1)) == .double(0x1p24))
        let tenths = [0.1, 0.3, 0.4, 0.6].map { Value.double(Double(Float($0))) }
        let sum = try #require(try merged(.sum, .float, tenths[0], tenths[1], tenths[2]))
        guard case .double(let number) = sum else { return }
        #expect(Double(Float(number)) == number)
        #expect(abs(number - 0.6) < 1e-6)
        let largest = Value.double(Double(Float.greatestFiniteMagnitude))
        #expect(try merged(.sum, .float, .double(0), largest, largest) == nil)
        #expect(
            try merged(.sum, .float, .double(0), .double(0x1p23), .double(1)) == .double(0x1p23 + 1)
        )
    }

    @Test func `a decimal sum is exact or a conflict`() throws {
        func decimal(_ text: String) throws -> Value {
            .decimal(try #require(Decimal(string: text)))
        }
        #expect(
            try merged(.sum, .decimal, decimal("0.1"), decimal("0.3"), decimal("0.2"))
                == decimal("0.4"))
        #expect(
            try merged(.sum, .decimal, decimal("0"), decimal("1e30"), decimal("1e-30")) == nil)
        let greatest = Value.decimal(.greatestFiniteMagnitude)
        #expect(try merged(.sum, .decimal, decimal("0"), greatest, greatest) == nil)
        #expect(try merged(.sum, .decimal, greatest, decimal("1"), decimal("0")) == nil)
        #expect(try merged(.sum, .decimal, decimal("0"), .decimal(.nan), decimal("1")) == nil)
    }

    @Test func `a missing value counts as zero, and two sides that clear a number clear it`() throws
    {
        #expect(try merged(.sum, .int64, .null, .int(5), .int(3)) == .int(8))
        #expect(try merged(.sum, .int64, .int(10), .int(15), .null) == .int(5))
        #expect(try merged(.sum, .int64, .int(10), .null, .int(15)) == .int(5))
        #expect(try merged(.sum, .int64, .int(10), .null, .null) == .null)
        #expect(try merged(.sum, .decimal, .null, .decimal(1.5), .decimal(2)) == .decimal(3.5))
        #expect(try merged(.sum, .double, .null, .double(1.5), .double(2)) == .double(3.5))
    }

    @Test func `a sum that breaks a rule of the attribute is a conflict`() throws {
        let rules = AttributeRules(minimum: .int(0), maximum: .int(100))
        #expect(try merged(.sum, .int64, .int(10), .int(4), .int(6), rules: rules) == .int(0))
        #expect(try merged(.sum, .int64, .int(10), .int(3), .int(6), rules: rules) == nil)
        #expect(try merged(.sum, .int64, .int(50), .int(80), .int(71), rules: rules) == nil)
    }

    // MARK: - Greatest and least

    @Test func `the greater and the lesser value stay, whoever has it`() throws {
        #expect(try merged(.maximum, .int64, .int(1), .int(7), .int(5)) == .int(7))
        #expect(try merged(.maximum, .int64, .int(1), .int(5), .int(7)) == .int(7))
        #expect(try merged(.minimum, .int64, .int(9), .int(7), .int(5)) == .int(5))
        #expect(try merged(.minimum, .int64, .int(9), .int(5), .int(7)) == .int(5))
        #expect(try merged(.maximum, .int64, .int(1), .null, .int(7)) == .int(7))
        #expect(try merged(.maximum, .int64, .int(1), .int(7), .null) == .int(7))
        #expect(try merged(.minimum, .int64, .null, .int(7), .int(5)) == .int(5))
        #expect(try merged(.minimum, .int64, .int(9), .null, .int(5)) == .int(5))
        #expect(try merged(.minimum, .int64, .int(9), .int(5), .null) == .int(5))
        let dates = [1.0, 2, 3].map { Value.date(Date(timeIntervalSinceReferenceDate: $0)) }
        #expect(try merged(.maximum, .date, dates[0], dates[2], dates[1]) == dates[2])
        #expect(try merged(.minimum, .date, dates[2], dates[0], dates[1]) == dates[0])
    }

    // MARK: - Lists

    @Test func `what either side adds is in, and what either side removes is out`() throws {
        let base = list("a", "b", "c")
        #expect(
            try merged(.union, .codable, base, list("a", "c", "d"), list("a", "b", "c", "e"))
                == list("a", "c", "d", "e"))
        #expect(
            try merged(.union, .codable, base, list("c", "b", "a", "x"), list("b", "c"))
                == list("c", "b", "x"))
        #expect(
            try merged(.union, .codable, base, list("a", "z"), list("z", "a", "b", "c"))
                == list("a", "z"))
        #expect(try merged(.union, .codable, .null, list("a"), list("b", "a")) == list("a", "b"))
        #expect(try merged(.union, .codable, list("a"), list("a", "b"), .null) == list("b"))
        #expect(try merged(.union, .codable, list("a"), list(), .null) == .null)
        #expect(try merged(.union, .codable, base, list("b", "c"), list("a", "b")) == list("b"))
    }

    @Test func `arrays keep their order, even when it happens to be that of sets`() throws {
        let (base, theirs, ours) = (list("m"), list("m", "z"), list("a", "m"))

        #expect(try merged(.union, .codable, base, theirs, ours) == list("m", "z", "a"))
        #expect(
            try merged(.union, .codable, base, list("z", "m"), list("m", "a"))
                == list("z", "m", "a"))
        #expect(
            try merged(
                .union, .codable, list("1", "2", "3"), list("1", "2", "3", "9"),
                list("1", "2", "3", "10"))
                == list("1", "2", "3", "9", "10"))
    }

    @Test func `sets stay in the order in which sets are kept`() throws {
        #expect(
            try merged(.union, .codable, list("m"), list("m", "z"), list("a", "m"), isSet: true)
                == list("a", "m", "z"))
        #expect(
            try merged(.union, .codable, list("m"), list("z", "m"), list("m", "a"), isSet: true)
                == list("a", "m", "z"))
        #expect(try merged(.union, .codable, list("a"), list(), .null, isSet: true) == .null)
        #expect(list("c", "a", "b").withElementsInOrder == list("a", "b", "c"))
        let object = Value.data(Data(#"{"b":1,"a":2}"#.utf8))
        #expect(object.withElementsInOrder == object)
    }

    @Test func `coded values that are not lists are a conflict`() throws {
        let object = Value.data(Data(#"{"a":1}"#.utf8))
        let broken = Value.data(Data([0xff, 0x5b]))
        #expect(try merged(.union, .codable, list("a"), object, list("b")) == nil)
        #expect(try merged(.union, .codable, list("a"), broken, list("b")) == nil)
        #expect(try merged(.union, .codable, object, list("a"), list("b")) == nil)
    }

    @Test func `elements are compared as they are written`() throws {
        let (precomposed, decomposed) = ("\u{e9}", "e\u{301}")
        let expected = list(precomposed, decomposed)
        #expect(
            try merged(.union, .codable, list(), list(precomposed), list(decomposed)) == expected)
    }

    // MARK: - One side only

    @Test(arguments: MergeStrategy.allCases)
    func `when only one side has changed, its value is kept unchanged`(
        strategy: MergeStrategy
    ) throws {
        let (type, one, other): (AttributeType, Value, Value) =
            switch strategy {
            case .sum, .maximum, .minimum: (.int64, .int(5), .int(3))
            case .union: (.codable, list("a"), list("b"))
            case .text: (.string, .string("a b"), .string("c"))
            }
        for (base, changed) in [(one, other), (other, one), (one, .null), (.null, one)] {
            #expect(try merged(strategy, type, base, base, changed) == changed)
            #expect(try merged(strategy, type, base, changed, base) == changed)
        }
    }
}
