import DaybookSnapshotStore

/// A time from the command line, and how exactly it was given.
///
/// ISO 8601: `2011-12-15`, `2011-12-15T08:30`, `2011-12-15T08:30:00.25Z`,
/// `2011-12-15T08:30:00+02:00`. A space may replace the `T`. Without a zone the time is UTC, like
/// all times that the tool prints. A date alone begins at midnight. Years outside of 0000 to 9999 have a
/// sign and six digits. Or as people say it, see ``RelativeTime``.
struct PointInTime: Equatable, Sendable {
    /// The first microsecond of it, since 1970 in UTC: midnight for a date alone.
    let first: Int64
    /// The last microsecond of it: the end of the day for a date alone.
    let last: Int64

    /// - Parameters:
    ///   - text: The text.
    ///   - now: The present moment, in microseconds since 1970.
    init?(_ text: String, now: Int64 = StoreOptions.systemClock()) {
        if let range = RelativeTime.range(text, now: now) {
            (first, last) = (range.lowerBound, range.upperBound)
            return
        }
        var scanner = DigitScanner(text)
        guard let days = scanner.date() else { return nil }
        let midnight = days * Self.day
        if scanner.isAtEnd {
            first = midnight
            last = midnight + Self.day - 1
            return
        }
        guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "),
            let clock = scanner.timeOfDay(), let offset = scanner.offset(), scanner.isAtEnd
        else { return nil }
        first = midnight + clock.start - offset
        last = first + clock.length - 1
    }

    fileprivate static let second: Int64 = 1_000_000
    fileprivate static let minute = 60 * second
    fileprivate static let day = 24 * 60 * minute
}

/// Reads the fixed-width fields of ISO 8601 from the left.
private struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(digits: Int, in range: ClosedRange<Int64>) -> Int64? {
        guard rest.count >= digits else { return nil }
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = popDigit() else { return nil }
            value = value * 10 + digit
        }
        return range.contains(value) ? value : nil
    }

    private mutating func popDigit() -> Int64? {
        guard let byte = rest.first, byte >= 0x30, byte <= 0x39 else { return nil }
        rest.removeFirst()
        return Int64(byte - 0x30)
    }

    /// `YYYY-MM-DD`, or `+YYYYYY-MM-DD` and `-YYYYYY-MM-DD` as other years are printed, as days since 1970.
    mutating func date() -> Int64? {
        guard let year = year(), skip("-"),
            let month = number(digits: 2, in: 1...12), skip("-"),
            let day = number(digits: 2, in: 1...Self.length(ofMonth: month, in: year))
        else { return nil }
        return Self.days(year: year, month: month, day: day)
    }

    /// A year of which all days can be counted in microseconds since 1970.
    private mutating func year() -> Int64? {
        let isBefore = skip("-")
        guard isBefore || skip("+") else { return number(digits: 4, in: 0...9999) }
        return number(digits: 6, in: 0...290_000).map { isBefore ? -$0 : $0 }
    }

    /// `HH:MM`, `HH:MM:SS` or with up to six decimals: its start and the length of the smallest
    /// given unit.
    mutating func timeOfDay() -> (start: Int64, length: Int64)? {
        guard let hour = number(digits: 2, in: 0...23), skip(":"),
            let minute = number(digits: 2, in: 0...59)
        else { return nil }
        let start = (hour * 60 + minute) * PointInTime.minute
        guard skip(":") else { return (start, PointInTime.minute) }
        guard let second = number(digits: 2, in: 0...59) else { return nil }
        var unit = PointInTime.second
        var fraction: Int64 = 0
        if skip(".") || skip(",") {
            while unit > 1, let digit = popDigit() {
                unit /= 10
                fraction += digit * unit
            }
            guard unit < PointInTime.second else { return nil }
        }
        return (start + second * PointInTime.second + fraction, unit)
    }

    /// `Z`, `+02:00`, `+0200`, or nothing for UTC.
    mutating func offset() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let isBehind = skip("-")
        guard isBehind || skip("+"), let hours = number(digits: 2, in: 0...23) else { return nil }
        _ = skip(":")
        guard let minutes = number(digits: 2, in: 0...59) else { return nil }
        let offset = (hours * 60 + minutes) * PointInTime.minute
        return isBehind ? -offset : offset
    }

    private static func length(ofMonth month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2:
            year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
                ? 29 : 28
        default: 31
        }
    }

    /// Days since 1970 in the Gregorian calendar, counted in years that begin in March.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        // The calendar repeats itself every 400 years, which are 146,097 days.
        let cycles: Int64 = 1_000
        let shifted = (month > 2 ? year : year - 1) + 400 * cycles
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear
            - 719_468 - 146_097 * cycles
    }
}
