package import Foundation

extension Date {
    /// Microseconds since 1970: exactly those that the date was made from, if any.
    package var nearestMicrosecond: Int64 {
        let rounded = (timeIntervalSince1970 * 1_000_000).rounded()
        return Int64(exactly: rounded) ?? (rounded < 0 ? .min : .max)
    }
}
