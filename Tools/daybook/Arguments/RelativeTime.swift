import Foundation

/// A time as people say it: `now`, `today`, `yesterday`, `2 hours ago`, or a month, `2024-05`.
///
/// Today, yesterday and a month are all of that time, in UTC; what is so long ago is one moment. Dots may stand for the
/// spaces, as in `2.hours.ago`. A month ago is the same day of the month before, or its last one.
enum RelativeTime {
    /// What a text says.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The present moment, in microseconds since 1970.
    /// - Returns: The first and the last microsecond since 1970; nil for other texts.
    static func range(_ text: String, now: Int64) -> ClosedRange<Int64>? {
        switch text.lowercased() {
        case "now": return now...now
        case "today": return day(of: now)
        case "yesterday": return day(of: now - microsecondsADay)
        default: return month(text) ?? ago(text, now: now).map { $0...$0 }
        }
    }

    private static let microsecondsADay: Int64 = 86_400_000_000

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    private static let units: [(name: String, component: Calendar.Component, count: Int)] = [
        ("second", .second, 1), ("minute", .minute, 1), ("hour", .hour, 1), ("day", .day, 1),
        ("week", .day, 7), ("month", .month, 1), ("year", .year, 1),
    ]

    private static func day(of time: Int64) -> ClosedRange<Int64> {
        let (days, rest) = time.quotientAndRemainder(dividingBy: microsecondsADay)
        let first = (rest < 0 ? days - 1 : days) * microsecondsADay
        return first...first + microsecondsADay - 1
    }

    /// `2 hours ago`.
    private static func ago(_ text: String, now: Int64) -> Int64? {
        let words = text.lowercased().split { $0 == " " || $0 == "." }
        guard words.count == 3, words[2] == "ago", let count = Int(words[0]),
            (0...9_999).contains(count),
            let unit = units.first(where: { words[1] == $0.name || words[1] == $0.name + "s" })
        else { return nil }
        let (seconds, fraction) = now.quotientAndRemainder(dividingBy: 1_000_000)
        let date = Date(timeIntervalSince1970: Double(seconds))
        guard
            let then = calendar.date(
                byAdding: unit.component, value: -count * unit.count, to: date)
        else { return nil }
        return Int64(then.timeIntervalSince1970) * 1_000_000 + fraction
    }

    /// `2024-05`.
    private static func month(_ text: String) -> ClosedRange<Int64>? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2],
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let year = Int(parts[0]), year > 0, let month = Int(parts[1]), (1...12).contains(month),
            let first = calendar.date(from: DateComponents(year: year, month: month, day: 1)),
            let next = calendar.date(byAdding: .month, value: 1, to: first)
        else { return nil }
        return Int64(first.timeIntervalSince1970) * 1_000_000...Int64(next.timeIntervalSince1970)
            * 1_000_000 - 1
    }
}
