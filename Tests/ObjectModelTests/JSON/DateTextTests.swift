import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct DateTextTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"),
            (1_323_907_200_000_000, "2011-12-15T00:00:00Z"),
            (1_323_907_200_500_000, "2011-12-15T00:00:00.5Z"),
            (1_323_907_200_000_001, "2011-12-15T00:00:00.000001Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00Z"),
            (-62_167_219_200_000_001, "-000001-12-31T23:59:59.999999Z"),
            (253_402_300_800_000_000, "+010000-01-01T00:00:00Z"),
            (Int64.max, "+294247-01-10T04:00:54.775807Z"),
            (Int64.min, "-290308-12-21T19:59:05.224192Z"),
        ] as [(Int64, String)])
    func `a time is written and read in microseconds`(microseconds: Int64, text: String) throws {
        #expect(DateText.text(microseconds: microseconds) == text)
        #expect(try DateText.microseconds(text) == microseconds)
    }

    @Test(arguments: UInt64(1)...4)
    func `random times come back unchanged`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)

        for _ in 0..<2_000 {
            let time =
                Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0...40, using: &random)

            #expect(
                try DateText.microseconds(DateText.text(microseconds: time)) == time, "seed \(seed)"
            )
        }
    }

    @Test(
        arguments: [
            ("2011-12-15", "'2011-12-15' is not a time of the form 2011-12-15T08:30:00Z."),
            (
                "2011-12-15T00:00:00",
                "'2011-12-15T00:00:00' is not a time of the form 2011-12-15T08:30:00Z."
            ),
            (
                "2011-02-29T00:00:00Z",
                "'2011-02-29T00:00:00Z' is not a time of the form 2011-12-15T08:30:00Z."
            ),
            (
                "2011-12-15T00:00:00.1234567Z",
                "'2011-12-15T00:00:00.1234567Z' has 7 digits after the second; there may be 6, which "
                    + "are microseconds."
            ),
            (
                "+300000-01-01T00:00:00Z",
                "'+300000-01-01T00:00:00Z' is too far in the past or the future to be counted in microseconds."
            ),
        ])
    func `a text that is not a time is refused with a reason`(text: String, message: String) {
        let error = #expect(throws: DateTextError.self) { try DateText.microseconds(text) }

        #expect(error?.message == message)
    }

    @Test(
        arguments: [
            (0, "2001-01-01T00:00:00Z"),
            (0.5, "2001-01-01T00:00:00.5Z"),
            (-0.1, "2000-12-31T23:59:59.9Z"),
            (345_678_901.123, "2011-12-15T21:55:01.123Z"),
            (-978_307_200.25, "1969-12-31T23:59:59.75Z"),
            (1e-9, "2001-01-01T00:00:00.000000001Z"),
            (1e300, "@1e+300"),
        ] as [(Double, String)])
    func `a date is written with the digits it needs`(seconds: Double, text: String) {
        let date = Date(timeIntervalSinceReferenceDate: seconds)

        #expect(DateText.text(date) == text)
        #expect(DateText.date(text) == date)
    }

    @Test(arguments: UInt64(1)...4)
    func `random dates give back the identical number`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)

        for _ in 0..<2_000 {
            guard case .date(let date) = Value.random(.date, using: &random) else { continue }
            let text = DateText.text(date)

            let again = DateText.date(text)

            #expect(
                again?.timeIntervalSinceReferenceDate.bitPattern
                    == date.timeIntervalSinceReferenceDate.bitPattern, "seed \(seed): \(text)")
        }
    }

    @Test(
        arguments: [
            ("2001-01-01", 0), ("2001-01-01T00:01Z", 60), ("2001-01-01T01:00:00+01:00", 0),
            ("2000-12-31 19:00:00-0500", 0), ("2001-01-01T00:00:00", 0),
            ("2001-01-01t00:00:00.50z", 0.5), ("2001-01-01T02:00+02", 0),
        ] as [(String, Double)])
    func `other forms of ISO 8601 are read`(text: String, seconds: Double) {
        #expect(DateText.date(text) == Date(timeIntervalSinceReferenceDate: seconds))
    }

    @Test(
        arguments: [
            "", "2001", "2001-1-1", "2001-13-01", "2001-01-32", "2001-01-01T24:00:00Z",
            "2001-01-01T00:60Z", "2001-01-01T00:00:60Z", "2001-01-01T00:00:00.Z",
            "2001-01-01T00:00:00+25:00", "2001-01-01T00:00:00Zx", "01-01-2001", "@", "@nan",
        ])
    func `a text that is not a date is not read`(text: String) {
        #expect(DateText.date(text) == nil)
    }
}
