/// A form in which records leave the store.
///
/// A format is a name and a way to begin; the work is done by the encoder that it makes for each
/// export. Each format stands in a file of its own.
public protocol AuditFormat: Sendable {
    /// The name by which a user asks for the format.
    static var name: String { get }

    /// What it is, in at most sixty characters without a full stop.
    static var summary: String { get }

    /// Whether an entry is written with all its changes, also when a filter asks for some objects.
    ///
    /// A digest covers the whole entry, so a format from which a store can be loaded needs all.
    static var keepsEntriesWhole: Bool { get }

    /// Whether an export may go on where an earlier one ended, and the two, taken in one after the
    /// other, are one.
    static var canResume: Bool { get }

    /// Whether the encoder writes a file of its own at ``AuditOptions/path`` and no bytes.
    static var writesFile: Bool { get }

    /// Begins an export.
    ///
    /// - Throws: ``AuditFormatError`` when the options do not fit.
    func encoder(for scope: AuditScope) throws -> any AuditEncoder
}

extension AuditFormat {
    /// Only what a filter asks for is written.
    public static var keepsEntriesWhole: Bool { false }
    /// Parts follow on one another.
    public static var canResume: Bool { true }
    /// The encoder makes bytes.
    public static var writesFile: Bool { false }
}

/// Turns the records of one export into bytes, one by one.
///
/// What it keeps from record to record must not grow with their number, so an export of any length
/// needs the memory of its largest entry.
///
/// The records are handed over `passes` times, from the first to the last, for forms that keep things
/// apart which an entry has together. In each pass ``opening(ofPass:)`` comes first and
/// ``closing(ofPass:)`` last.
public protocol AuditEncoder {
    /// How often the records are wanted.
    var passes: Int { get }

    /// What stands before the first record.
    mutating func opening(ofPass pass: Int) throws -> [UInt8]

    /// One record; empty when there is nothing to say of it.
    mutating func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8]

    /// What stands after the last record.
    mutating func closing(ofPass pass: Int) throws -> [UInt8]

    /// Takes away what an export that does not come to its end has left behind.
    mutating func abandon() throws
}

extension AuditEncoder {
    /// Once.
    public var passes: Int { 1 }

    /// Nothing.
    public mutating func opening(ofPass pass: Int) throws -> [UInt8] { [] }

    /// Nothing.
    public mutating func closing(ofPass pass: Int) throws -> [UInt8] { [] }

    /// Nothing is left of an encoder that only makes bytes.
    public mutating func abandon() throws {}
}

/// What a format cannot do with the options it was given.
public struct AuditFormatError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and what would be right: full sentences.
    public let description: String

    /// Describes the mistake.
    public init(_ description: String) {
        self.description = description
    }
}

/// The formats there are.
public enum AuditFormats {
    /// All of them, the native one first.
    public static let all: [any AuditFormat] = [
        JSONLinesFormat(), CSVFormat(), JSONPatchFormat(), CloudEventsFormat(), DebeziumFormat(),
        OCSFFormat(), SyslogFormat(), JournaldFormat(), PROVFormat(), GitFormat(), SQLiteFormat(),
        HTMLFormat(),
    ]

    /// The names of all formats.
    public static var names: [String] { all.map { type(of: $0).name } }

    /// The format of that name; nil when there is none.
    public static func format(named name: String) -> (any AuditFormat)? {
        all.first { type(of: $0).name == name }
    }
}
