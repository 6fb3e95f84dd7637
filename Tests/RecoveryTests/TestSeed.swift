import Foundation

/// The seed of random tests: a fixed one, unless `DAYBOOK_SEED` names another.
///
/// A failure prints it, so that the run can be repeated.
enum TestSeed {
    static let value: UInt64 =
        ProcessInfo.processInfo.environment["DAYBOOK_SEED"].flatMap(UInt64.init) ?? 20_111_215
}
