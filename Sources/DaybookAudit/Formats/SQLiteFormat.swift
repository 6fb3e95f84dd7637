internal import DaybookJournalLog
internal import DaybookNewFiles
internal import DaybookObjectModel
internal import DaybookSQLite
internal import DaybookSnapshotStore

/// A database file of SQLite, with the journal in tables and every state of every object.
///
/// | table | a row for each |
/// | --- | --- |
/// | `entry` | entry |
/// | `change` | change of an object |
/// | `value` | property of a change, with its old and new value |
/// | `membership` | object that joins or leaves a to-many relationship |
/// | `object_version` | state of an object, from the entry `valid_from` until before `valid_to` |
/// | `text_with_null` | text in a version with U+0000, where SQLite's functions for JSON end it |
///
/// So a question about the past is one query:
///
/// ```sql
/// SELECT alpha2, name FROM versions_Country
/// WHERE valid_from <= 5 AND (valid_to > 5 OR valid_to IS NULL);
/// ```
///
/// - The views `current_Country` and `versions_Country` have a column for each property of the entity.
/// - Versions and views have the names of now; changes have those of their entries.
/// - Integers, numbers and truth values are numbers, bytes are blobs, all else is text as in JSON.
/// - `state` is a JSON object with every property, null where there is no value.
/// - The file is either complete or not there. The export cannot be resumed.
/// - With a filter, there are only the versions that the exported changes left.
public struct SQLiteFormat: AuditFormat {
    /// `sqlite`.
    public static let name = "sqlite"
    /// A database file.
    public static let summary = "a database file with every state of every object; needs --into"
    /// A database is written as a whole.
    public static let canResume = false
    /// The encoder writes the file itself.
    public static let writesFile = true

    /// `DAYB`: the `PRAGMA application_id` of these files.
    public static let applicationIdentifier: Int32 = 0x4441_5942
    /// The version of the tables, `PRAGMA user_version`.
    public static let tablesVersion = 1

    /// Makes the format.
    public init() {}

    /// Begins an export.
    ///
    /// - Throws: ``AuditFormatError`` when no path is given, or it exists already.
    public func encoder(for scope: AuditScope) throws -> any AuditEncoder {
        guard let path = scope.options.path else {
            throw AuditFormatError(
                "The format sqlite writes a file of its own: say where, as with '--into FILE'.")
        }
        do {
            let draft = try DraftFile(for: path)
            try draft.makeEmpty()
            return SQLiteEncoder(
                scope: scope, path: path, draft, try AuditDatabase(path: draft.path))
        } catch let error as NewFileError {
            throw AuditFormatError(error.description)
        } catch {
            throw SQLiteEncoder.refusal(path, error)
        }
    }
}

private struct SQLiteEncoder: AuditEncoder {
    private let scope: AuditScope
    private let path: String
    /// The location of the database until it is complete.
    private let draft: DraftFile
    private let database: AuditDatabase
    private var changeCount: Int64 = 0

    init(scope: AuditScope, path: String, _ draft: DraftFile, _ database: AuditDatabase) {
        self.scope = scope
        self.path = path
        self.draft = draft
        self.database = database
    }

    /// A record, into the tables.
    mutating func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
        try telling { try database.append(record) }
        for (position, change) in record.numberedChanges {
            changeCount += 1
            let readable = record.readable(change)
            // All versions of an object have one name, that of now, as their properties do: a column of
            // a view holds one property. A deleted object has no state.
            let state = try scope.store.read(at: record.sequence) {
                try scope.state(of: change.object, in: $0)
            }
            try telling {
                try database.append(
                    readable, change.object.number, number: changeCount, position: position,
                    of: record)
                let entity = scope.schema.entity(change.object.entity)?.name
                try database.append(
                    version: state, entity ?? readable.entity, change.object.number,
                    at: record.sequence)
            }
        }
        return []
    }

    /// Indexes and views, which complete the file.
    func closing(ofPass pass: Int) throws -> [UInt8] {
        try telling { try database.finish(in: scope.schema) }
        do {
            try draft.place()
        } catch {
            throw AuditFormatError(error.description)
        }
        return []
    }

    /// Removes the file.
    func abandon() throws {
        defer { draft.discard() }
        try telling { try database.close() }
    }

    private func telling(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw Self.refusal(path, error)
        }
    }

    static func refusal(_ path: String, _ error: any Error) -> AuditFormatError {
        AuditFormatError("'\(path)' cannot be written: \(error).")
    }
}
