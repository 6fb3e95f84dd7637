internal import Foundation

/// Points in time in messages: ISO 8601, UTC, to the microsecond where there are any.
enum TimeText {
    static func text(ofMicroseconds time: Int64) -> String {
        let (seconds, rest) = time.quotientAndRemainderRoundingDown(dividingBy: 1_000_000)
        let date = Date(timeIntervalSince1970: TimeInterval(seconds))
        let whole = date.formatted(.iso8601)
        guard rest != 0 else { return whole }
        let digits = String(1_000_000 + rest).dropFirst()
        return "\(whole.dropLast()).\(digits)Z"
    }
}

extension Int64 {
    fileprivate func quotientAndRemainderRoundingDown(
        dividingBy divisor: Int64
    ) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
