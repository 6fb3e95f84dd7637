/// A form in which records leave the store.
///
/// A format turns records into bytes one by one and keeps nothing between them, so an export of any
/// length needs the memory of its largest entry.
public protocol AuditFormat: Sendable {
    /// The name by which a user asks for the format.
    static var name: String { get }

    /// Whether an entry is written with all its changes, also when a filter asks for some objects.
    ///
    /// A digest covers the whole entry, so a format from which a store can be loaded needs all.
    static var keepsEntriesWhole: Bool { get }

    /// What stands before the first record.
    var opening: [UInt8] { get }

    /// One record.
    func bytes(of record: AuditRecord) throws -> [UInt8]
}

/// The formats there are.
public enum AuditFormats {
    /// All of them, the native one first.
    public static let all: [any AuditFormat] = [JSONLinesFormat(), CSVFormat()]

    /// The names of all formats.
    public static var names: [String] { all.map { type(of: $0).name } }

    /// The format of that name; nil when there is none.
    public static func format(named name: String) -> (any AuditFormat)? {
        all.first { type(of: $0).name == name }
    }
}
