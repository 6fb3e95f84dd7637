import Foundation

/// The output of `daybook-counts`: figures that do not depend on a clock.
struct Counts: Codable {
    /// Bytes of memory that a fault takes, with its share of the registry.
    let bytesOfFault: Double
    /// Bytes of memory of an object of five attributes that has been read.
    let bytesOfObject: Double
    /// All counts by name.
    let counts: [String: Double]

    /// - Throws: ``UsageError`` when the file is not output of `daybook-counts`.
    init(path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw UsageError("'\(path)' cannot be read.")
        }
        do {
            counts = try JSONDecoder().decode([String: Double].self, from: data)
        } catch {
            throw UsageError("'\(path)' is not what 'daybook-counts' prints.")
        }
        guard let fault = counts["bytesOfFault"], let object = counts["bytesOfObject"] else {
            throw UsageError("'\(path)' is not what 'daybook-counts' prints.")
        }
        bytesOfFault = fault
        bytesOfObject = object
    }
}
