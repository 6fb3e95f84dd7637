/// A form in which records leave the store.
///
/// A format makes an encoder for each export, which does the work. Each format has its own file.
public protocol AuditFormat: Sendable {
    /// The name of the format for users.
    static var name: String { get }

    /// A description in at most sixty characters without a full stop.
    static var summary: String { get }

    /// Whether an entry is written with all its changes even if a filter selects some objects.
    ///
    /// A digest covers the whole entry, so a format from which a store can be loaded needs all
    /// changes.
    static var keepsEntriesWhole: Bool { get }

    /// Whether an export may continue an earlier one, so that both together equal a single one.
    static var canResume: Bool { get }

    /// Whether the encoder writes a file at ``AuditOptions/path`` instead of bytes.
    static var writesFile: Bool { get }

    /// Whether the bytes of large data are written, as lines of their own, before the first record that
    /// refers to them. Other formats have references only.
    static var carriesLargeData: Bool { get }

    /// Begins an export.
    ///
    /// - Throws: ``AuditFormatError`` when the options do not fit.
    func encoder(for scope: AuditScope) throws -> any AuditEncoder
}

extension AuditFormat {
    /// Only the selected changes are written.
    public static var keepsEntriesWhole: Bool { false }
    /// Exports can be resumed.
    public static var canResume: Bool { true }
    /// The encoder makes bytes.
    public static var writesFile: Bool { false }
    /// References only.
    public static var carriesLargeData: Bool { false }
}

/// Turns the records of one export into bytes, one by one.
///
/// Its state must not grow with the number of records, so that an export of any length needs only
/// the memory of its largest entry.
///
/// The records are handed over `passes` times, from the first to the last, for formats that
/// separate parts of an entry. In each pass ``opening(ofPass:)`` comes first and
/// ``closing(ofPass:)`` last.
public protocol AuditEncoder {
    /// The number of passes over the records.
    var passes: Int { get }

    /// The bytes before the first record.
    mutating func opening(ofPass pass: Int) throws -> [UInt8]

    /// The bytes of one record; empty for none.
    mutating func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8]

    /// Writes the bytes of one record piece by piece, where they may be more than memory should hold;
    /// else in one piece.
    mutating func write(
        _ record: AuditRecord, inPass pass: Int, to output: ([UInt8]) throws -> Void
    ) throws

    /// The bytes after the last record.
    mutating func closing(ofPass pass: Int) throws -> [UInt8]

    /// Removes what an unfinished export has left behind.
    mutating func abandon() throws
}

extension AuditEncoder {
    /// Once.
    public var passes: Int { 1 }

    /// Nothing.
    public mutating func opening(ofPass pass: Int) throws -> [UInt8] { [] }

    /// Nothing.
    public mutating func closing(ofPass pass: Int) throws -> [UInt8] { [] }

    /// In one piece.
    public mutating func write(
        _ record: AuditRecord, inPass pass: Int, to output: ([UInt8]) throws -> Void
    ) throws {
        try output(try bytes(of: record, inPass: pass))
    }

    /// An encoder that only makes bytes leaves nothing behind.
    public mutating func abandon() throws {}
}

/// A mistake in the options of a format.
public struct AuditFormatError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistake and the remedy, in full sentences.
    public let description: String

    /// Describes the mistake.
    public init(_ description: String) {
        self.description = description
    }
}

/// The available formats.
public enum AuditFormats {
    /// All of them, the native one first.
    public static let all: [any AuditFormat] = [
        JSONLinesFormat(), CSVFormat(), JSONPatchFormat(), CloudEventsFormat(), DebeziumFormat(),
        OCSFFormat(), SyslogFormat(), JournaldFormat(), PROVFormat(), GitFormat(), SQLiteFormat(),
        HTMLFormat(),
    ]

    /// The names of all formats.
    public static var names: [String] { all.map { type(of: $0).name } }

    /// The format with that name; nil if there is none.
    public static func format(named name: String) -> (any AuditFormat)? {
        all.first { type(of: $0).name == name }
    }
}
