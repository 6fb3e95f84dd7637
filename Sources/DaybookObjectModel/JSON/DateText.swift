package import Foundation

/// The text of points in time: ISO 8601, always in UTC when written.
///
/// A `Date` is written with the fewest digits that read back as exactly the same date. Years
/// outside 0000…9999 have a sign and at least six digits (`+012345-01-01T00:00:00Z`).
package enum DateText {
    /// Seconds from 1970 to the reference date of `Date`, 2001.
    private static let referenceSeconds: Int64 = 978_307_200
    /// Beyond this a `Date` has no whole microseconds; about 31 million years.
    package static let secondsMaximum = 1e15

    // MARK: - Dates

    /// The date in UTC with as many digits of a second as it needs.
    ///
    /// Dates further away than ``secondsMaximum``, which no calendar reaches, are written as
    /// seconds since 2001 after an `@`.
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard abs(seconds) <= secondsMaximum else { return "@\(seconds)" }
        let (whole, fraction) = seconds.wholeAndFraction
        var bytes: [UInt8] = []
        append(seconds: whole + referenceSeconds, fraction: fraction, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The date of a text; nil when it is neither an ISO 8601 date nor seconds after an `@`.
    ///
    /// The time may be left out (midnight) and so may the zone (UTC); a zone is `Z` or `+01:00`.
    package static func date(_ text: String) -> Date? {
        if text.hasPrefix("@") {
            guard let seconds = Double(text.dropFirst()), seconds.isFinite else { return nil }
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
        guard let (seconds, fraction) = parse(text, zoneIsOptional: true) else { return nil }
        return Date(
            timeIntervalSinceReferenceDate: Double(
                seconds: seconds - referenceSeconds, fraction: fraction))
    }

    /// The parts of a date in UTC.
    struct Parts {
        let year: Int64
        /// From 1.
        let month: Int64
        /// Of the month, from 1.
        let day: Int64
        /// Of the day, from 0.
        let second: Int64
        /// From 1, which is Sunday.
        let weekday: Int64
    }

    /// The parts of a date; nil beyond ``secondsMaximum``, which no calendar reaches.
    static func parts(of date: Date) -> Parts? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard abs(seconds) <= secondsMaximum else { return nil }
        let whole = Int64(seconds.rounded(.down)) + referenceSeconds
        let days = whole.quotientDown(86_400)
        let (year, month, day) = civil(days: days)
        // The first of January 1970 was a Thursday.
        let sinceSunday = days + 4
        return Parts(
            year: year, month: month, day: day, second: whole - days * 86_400,
            weekday: sinceSunday - 7 * sinceSunday.quotientDown(7) + 1)
    }

    // MARK: - Microseconds

    /// The time of an entry, as in `2011-12-15T00:00:00Z`.
    package static func text(microseconds: Int64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(28)
        append(microseconds: microseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the time of an entry.
    package static func append(microseconds: Int64, to bytes: inout [UInt8]) {
        let seconds = microseconds.quotientDown(1_000_000)
        // The product may be below the least integer; the difference never is.
        var rest = microseconds &- seconds &* 1_000_000
        var fraction: [UInt8] = []
        if rest != 0 {
            var count = 6
            while rest % 10 == 0 {
                rest /= 10
                count -= 1
            }
            for _ in 0..<count {
                fraction.append(0x30 + UInt8(rest % 10))
                rest /= 10
            }
            fraction.reverse()
        }
        append(seconds: seconds, fraction: fraction, to: &bytes)
    }

    /// The microseconds since 1970 of a text.
    ///
    /// - Throws: ``DateTextError`` when the text is not of the form `2011-12-15T00:00:00Z`, with at
    ///   most six digits of a second and a zone.
    package static func microseconds(_ text: String) throws(DateTextError) -> Int64 {
        guard let (seconds, fraction) = parse(text, zoneIsOptional: false) else {
            throw DateTextError(
                "'\(text)' is not a time of the form 2011-12-15T08:30:00Z.")
        }
        guard fraction.count <= 6 else {
            throw DateTextError(
                "'\(text)' has \(fraction.count) digits after the second; there may be 6, which are "
                    + "microseconds.")
        }
        var rest: Int64 = 0
        for index in 0..<6 {
            rest = rest * 10 + (index < fraction.count ? Int64(fraction[index] - 0x30) : 0)
        }
        guard let microseconds = Int64(exactly: Int128(seconds) * 1_000_000 + Int128(rest)) else {
            throw DateTextError(
                "'\(text)' is too far in the past or the future to be counted in microseconds.")
        }
        return microseconds
    }

    // MARK: - Calendar

    private static func append(
        seconds: Int64, fraction: [UInt8], to bytes: inout [UInt8]
    ) {
        let days = seconds.quotientDown(86_400)
        let clock = seconds - days * 86_400
        let (year, month, day) = civil(days: days)
        if (0...9999).contains(year) {
            append(year, width: 4, to: &bytes)
        } else {
            bytes.append(year < 0 ? 0x2d : 0x2b)
            append(abs(year), width: 6, to: &bytes)
        }
        bytes.append(0x2d)
        append(month, width: 2, to: &bytes)
        bytes.append(0x2d)
        append(day, width: 2, to: &bytes)
        bytes.append(0x54)
        append(clock / 3600, width: 2, to: &bytes)
        bytes.append(0x3a)
        append(clock / 60 % 60, width: 2, to: &bytes)
        bytes.append(0x3a)
        append(clock % 60, width: 2, to: &bytes)
        if !fraction.isEmpty {
            bytes.append(0x2e)
            bytes += fraction
        }
        bytes.append(0x5a)
    }

    private static func append(_ number: Int64, width: Int, to bytes: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(0x30 + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    /// The day of the Gregorian calendar, extended before its introduction as in ISO 8601.
    ///
    /// The year is counted from March, so that the leap day is its last, in eras of 400 years.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.quotientDown(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * march + 2) / 5 + 1
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year.quotientDown(400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static func lengthOfMonth(_ month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    // MARK: - Reading

    /// Whole seconds since 1970 and the digits of the fraction, without zeros at their end.
    private static func parse(
        _ text: String, zoneIsOptional: Bool
    ) -> (seconds: Int64, fraction: [UInt8])? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = DateReader(Array(bytes))
            guard let year = reader.year(), reader.accept(0x2d), let month = reader.number(2),
                reader.accept(0x2d), let day = reader.number(2), (1...12).contains(month),
                day >= 1, day <= lengthOfMonth(month, year: year)
            else { return nil }
            var seconds = days(year: year, month: month, day: day) * 86_400
            guard !reader.isAtEnd else { return zoneIsOptional ? (seconds, []) : nil }
            guard reader.accept(0x54) || reader.accept(0x74) || reader.accept(0x20),
                let hour = reader.number(2), reader.accept(0x3a), let minute = reader.number(2),
                hour < 24, minute < 60
            else { return nil }
            seconds += hour * 3600 + minute * 60
            var fraction: [UInt8] = []
            if reader.accept(0x3a) {
                guard let second = reader.number(2), second < 60 else { return nil }
                seconds += second
                if reader.accept(0x2e) {
                    fraction = reader.digits()
                    guard !fraction.isEmpty else { return nil }
                    while fraction.last == 0x30 { fraction.removeLast() }
                }
            }
            guard let offset = reader.zone(isOptional: zoneIsOptional), reader.isAtEnd else {
                return nil
            }
            return (seconds - offset, fraction)
        }
    }
}

/// The reason why a text is not a time.
package struct DateTextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A full sentence.
    package let message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    package var description: String {
        message
    }
}

private struct DateReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var isAtEnd: Bool {
        index == bytes.count
    }

    mutating func accept(_ byte: UInt8) -> Bool {
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    mutating func digits() -> [UInt8] {
        let start = index
        while index < bytes.count, (0x30...0x39).contains(bytes[index]) { index += 1 }
        return Array(bytes[start..<index])
    }

    mutating func number(_ width: Int) -> Int64? {
        let digits = digits()
        return digits.count == width ? Int64(String(decoding: digits, as: UTF8.self)) : nil
    }

    /// Four digits, or a sign and six to nine.
    mutating func year() -> Int64? {
        let isNegative = accept(0x2d)
        guard isNegative || accept(0x2b) else { return number(4) }
        let digits = digits()
        guard (6...9).contains(digits.count),
            let year = Int64(String(decoding: digits, as: UTF8.self))
        else { return nil }
        return isNegative ? -year : year
    }

    /// Seconds east of Greenwich.
    mutating func zone(isOptional: Bool) -> Int64? {
        if accept(0x5a) || accept(0x7a) { return 0 }
        let isWest = accept(0x2d)
        guard isWest || accept(0x2b) else { return isOptional && isAtEnd ? 0 : nil }
        // +01, +01:00 or +0100.
        var digits = digits()
        if digits.count == 2, accept(0x3a) {
            let minutes = self.digits()
            guard minutes.count == 2 else { return nil }
            digits += minutes
        }
        guard digits.count == 2 || digits.count == 4,
            let hours = Int64(String(decoding: digits.prefix(2), as: UTF8.self)), hours < 24
        else { return nil }
        let minutes = Int64(String(decoding: digits.dropFirst(2), as: UTF8.self)) ?? 0
        guard minutes < 60 else { return nil }
        let offset = hours * 3600 + minutes * 60
        return isWest ? -offset : offset
    }
}

extension Int64 {
    /// Division that rounds down, also below zero.
    fileprivate func quotientDown(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

extension Double {
    /// The whole seconds below and the digits of the rest, taken from the shortest decimal text of
    /// the number, so that the same digits give back the same number.
    fileprivate var wholeAndFraction: (whole: Int64, fraction: [UInt8]) {
        let floor = rounded(.down)
        guard floor != self else { return (Int64(floor), []) }
        var digits = Array(magnitude.description.utf8)
        var exponent = 0
        if let index = digits.firstIndex(of: 0x65) {
            exponent = Int(String(decoding: digits[(index + 1)...], as: UTF8.self)) ?? 0
            digits.removeSubrange(index...)
        }
        let point = digits.firstIndex(of: 0x2e) ?? digits.count
        digits.removeAll { $0 == 0x2e }
        let index = point + exponent
        var fraction =
            index >= 0
            ? Array(digits.dropFirst(index))
            : Array(repeating: 0x30, count: -index) + digits
        while fraction.last == 0x30 { fraction.removeLast() }
        guard self < 0 else { return (Int64(floor), fraction) }
        // 1 minus the fraction: every digit's complement to 9, the last one's to 10.
        for index in fraction.indices {
            let complement: UInt8 = index == fraction.count - 1 ? 0x6a : 0x69
            fraction[index] = complement - fraction[index]
        }
        return (Int64(floor), fraction)
    }

    /// The number nearest to whole seconds and the digits of a fraction.
    fileprivate init(seconds: Int64, fraction: [UInt8]) {
        guard !fraction.isEmpty else {
            self = Double(seconds)
            return
        }
        var whole = seconds
        var digits = fraction
        if seconds < 0 {
            whole += 1
            for index in digits.indices {
                let complement: UInt8 = index == digits.count - 1 ? 0x6a : 0x69
                digits[index] = complement - digits[index]
            }
        }
        let text = "\(whole.magnitude).\(String(decoding: digits, as: UTF8.self))"
        let number = Double(text) ?? Double(whole.magnitude)
        self = seconds < 0 ? -number : number
    }
}
