import Foundation

/// What `daybook-counts` printed: figures that no clock can spoil.
struct Counts: Codable {
    /// Bytes of memory that a fault takes, with its share of the registry.
    let bytesOfFault: Double
    /// Bytes of memory that an object of five attributes takes that has been read.
    let bytesOfObject: Double
    /// All counts by name.
    let counts: [String: Double]

    /// - Throws: ``UsageError`` when the file is not what `daybook-counts` prints.
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
