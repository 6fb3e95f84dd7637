import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct ArithmeticTests {
    @Test func `whole numbers are exact or nothing`() {
        #expect(Value.int(2).combined(with: .int(3), by: .add) == .int(5))
        #expect(Value.int(2).combined(with: .int(3), by: .subtract) == .int(-1))
        #expect(Value.int(2).combined(with: .int(3), by: .multiply) == .int(6))
        #expect(Value.int(.max).combined(with: .int(1), by: .add) == nil)
        #expect(Value.int(.min).combined(with: .int(1), by: .subtract) == nil)
        #expect(Value.int(.min).combined(with: .int(-1), by: .multiply) == nil)
    }

    @Test func `decimal numbers are exact or nothing`() throws {
        let long = try #require(Decimal(string: "1.0000000000000000000000000000000001"))
        let tenth = try #require(Decimal(string: "0.1"))
        let fifth = try #require(Decimal(string: "0.2"))

        #expect(
            try Value.decimal(tenth).combined(with: .decimal(fifth), by: .add)
                == .decimal(#require(Decimal(string: "0.3"))))
        #expect(
            try Value.decimal(tenth).combined(with: .decimal(fifth), by: .multiply)
                == .decimal(#require(Decimal(string: "0.02"))))
        #expect(Value.decimal(long).combined(with: .decimal(long), by: .multiply) == nil)
        #expect(Value.decimal(long).combined(with: .decimal(0), by: .multiply) == .decimal(0))
        #expect(
            Value.decimal(250).combined(with: .decimal(-40), by: .multiply) == .decimal(-10_000))
        #expect(
            Value.decimal(.greatestFiniteMagnitude)
                .combined(with: .decimal(.greatestFiniteMagnitude), by: .multiply) == nil)
        #expect(Value.decimal(.nan).combined(with: .decimal(1), by: .add) == nil)
    }

    @Test func `binary numbers are rounded, but stay finite`() {
        #expect(Value.double(0.1).combined(with: .double(0.2), by: .add) == .double(0.1 + 0.2))
        #expect(
            Value.double(.greatestFiniteMagnitude).combined(with: .double(2), by: .multiply) == nil)
    }

    @Test func `nothing gives nothing, and kinds do not mix`() {
        #expect(Value.null.combined(with: .int(1), by: .add) == .null)
        #expect(Value.int(1).combined(with: .null, by: .multiply) == .null)
        #expect(Value.int(1).combined(with: .double(1), by: .add) == nil)
        #expect(Value.string("a").combined(with: .string("b"), by: .add) == nil)
    }
}
