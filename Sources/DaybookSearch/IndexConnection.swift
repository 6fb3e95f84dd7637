internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSQLite
internal import DaybookSnapshotStore
internal import Foundation

// | table | columns |
// |---|---|
// | about | one row: the store's identifier, the last entry taken in, its digest, the newest model then, and the first
//   entry that set a model which the program that took it in did not know |
// | held | each value: object, attribute, the entry that set it, the one that ended it or null |
// | words | FTS5 without contents: the words of each value, by the number of its row in 'held' |
//
// 'application_id' and 'user_version' say what the file is and in which form.

/// The connection to the file of a text index.
struct IndexConnection {
    private var connection: Connection
    private let name: String
    private let path: String?
    private let store: String
    /// Which file it is, by device and number; nil in memory.
    private var identity: FileIdentity?

    /// "Dbtx".
    private static let application: Int64 = 0x4462_7478
    private static let form: Int64 = 1
    /// So many entries, changes and values are taken in by one transaction.
    private static let workAtOnce = 50_000
    /// How long to wait for another process that takes entries in, in milliseconds.
    private static let patience = 60_000

    /// - Parameters:
    ///   - path: The file, which is made if it is not there; nil for one in memory.
    ///   - store: The path of the store, with whose permissions the file is made.
    /// - Throws: ``SearchError`` with ``SearchError/Code/file``.
    init(_ path: String?, besides store: String) throws {
        name = path ?? "in memory"
        self.path = path
        self.store = store
        do {
            connection = try Self.connect(to: path, besides: store)
            identity = path.flatMap(FileIdentity.init)
            try prepare()
        } catch let error as SQLiteError {
            throw Self.unusable(path ?? "in memory", error)
        }
    }

    private static func connect(
        to path: String?, besides store: String
    ) throws -> Connection {
        let connection: Connection
        if let path {
            try make(path, besides: store)
            connection = try Connection(path: path)
        } else {
            connection = try Connection.inMemory()
        }
        try connection.run("PRAGMA busy_timeout = \(patience)")
        try connection.run("PRAGMA synchronous = NORMAL")
        // The words of what has become confidential since are gone with their index, and not in free pages of the file.
        try connection.run("PRAGMA secure_delete = ON")
        return connection
    }

    private static func unusable(_ name: String, _ error: SQLiteError) -> SearchError {
        let remedy =
            switch error.reason {
            case .busy: "Another program takes in a long journal; try again later."
            case .damaged:
                "It can be made anew from the journal: remove the file, or give another one."
            case .other: "Mend that, or give another file."
            }
        return SearchError(
            .file, "The text index '\(name)' cannot be used: \(error.description). \(remedy)")
    }

    /// Makes an empty file unless there is one. Of several programs that do so at once one succeeds, and the others
    /// find its file.
    private static func make(_ path: String, besides store: String) throws {
        var status = stat()
        let mode = stat(store, &status) == 0 ? status.st_mode & 0o666 : 0o600
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode)
        if descriptor >= 0 {
            // The mask of the process is for files that nobody has said the mode of.
            fchmod(descriptor, mode)
            close(descriptor)
        } else if errno != EEXIST {
            let reason = String(cString: strerror(errno))
            throw SearchError(
                .file,
                "The text index '\(path)' cannot be made: \(reason). Give a file in a folder that can be "
                    + "written to.")
        }
    }

    private func prepare() throws {
        if try isPrepared() { return }
        try inTransaction {
            // Another process may have been first.
            if try isPrepared() { return }
            let application = try number("PRAGMA application_id")
            let tables = try number("SELECT count(*) FROM sqlite_master")
            guard application == Self.application || (application == 0 && tables == 0) else {
                throw SearchError(
                    .file,
                    "The text index '\(name)' cannot be used: it is a database of something else. Give "
                        + "another file.")
            }
            try connection.run(
                """
                DROP TABLE IF EXISTS about; DROP TABLE IF EXISTS held; DROP TABLE IF EXISTS words;
                CREATE TABLE about (
                    store TEXT NOT NULL, sequence INTEGER NOT NULL, digest BLOB NOT NULL,
                    model INTEGER NOT NULL, unknown INTEGER);
                CREATE TABLE held (
                    id INTEGER PRIMARY KEY, entity INTEGER NOT NULL, object INTEGER NOT NULL,
                    property INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER);
                CREATE UNIQUE INDEX standing ON held (object, entity, property) WHERE until IS NULL;
                CREATE VIRTUAL TABLE words USING fts5 (
                    text, content='', tokenize="unicode61 remove_diacritics 2", prefix='2 3');
                PRAGMA application_id = \(Self.application);
                PRAGMA user_version = \(Self.form);
                """)
        }
    }

    private func isPrepared() throws -> Bool {
        try number("PRAGMA application_id") == Self.application
            && number("PRAGMA user_version") == Self.form
    }

    /// Opens the file anew where it was removed or exchanged since.
    private mutating func followFile() throws {
        guard let path, FileIdentity(path) != identity || identity == nil else { return }
        connection = try Self.connect(to: path, besides: store)
        identity = FileIdentity(path)
        try prepare()
    }

    // MARK: - Following

    /// How far the index has come.
    private struct Position {
        let store: String
        let sequence: SequenceNumber
        let digest: [UInt8]
        /// The entry that set the newest model when it came so far.
        let model: SequenceNumber
        /// The first entry that set a model which the program that took it in did not know.
        let unknown: SequenceNumber?
    }

    /// Takes in the entries since the last one, and returns the last.
    ///
    /// - Throws: ``SearchError`` with ``SearchError/Code/file``; ``StoreError`` when the journal cannot be read.
    mutating func bringUpToDate(with store: Store) throws -> SequenceNumber {
        do {
            try followFile()
            let head = try store.head()
            let feed = try TextIndexFeed(store)
            if let position = try position(), position.sequence == head,
                try isOf(store, position, feed)
            {
                return head
            }
            var reached = SequenceNumber.zero
            repeat {
                reached = try inTransaction { try takeIn(through: head, feed, store) }
            } while reached < head
            return reached
        } catch let error as SQLiteError {
            throw Self.unusable(name, error)
        }
    }

    /// Whether the position is one in the journal of the store, not of another or of what has been replaced, and what
    /// is before it was taken in as it would be now.
    private func isOf(_ store: Store, _ position: Position, _ feed: TextIndexFeed) throws -> Bool {
        guard position.store == store.uuid.uuidString, feed.agrees(with: position.model) else {
            return false
        }
        // A program of an earlier model has left out what came with a later one.
        if let unknown = position.unknown, unknown <= store.modelSequence { return false }
        guard position.sequence > .zero, let digest = Digest(bytes: position.digest) else {
            return false
        }
        // In one look: others may save at any time.
        return try store.has(JournalPlace(position.sequence, digest))
    }

    /// Takes in some entries after the noted one. Another process may have taken in some meanwhile.
    private func takeIn(
        through head: SequenceNumber, _ feed: TextIndexFeed, _ store: Store
    ) throws -> SequenceNumber {
        var first = SequenceNumber(1)
        var unknown: SequenceNumber?
        if let position = try position(), try isOf(store, position, feed) {
            first = position.sequence.next
            unknown = position.unknown
        } else {
            try connection.run("DELETE FROM about; DELETE FROM held")
            try connection.run("INSERT INTO words (words) VALUES ('delete-all')")
        }
        guard first <= head else { return head }
        let writer = try IndexWriter(connection)
        var reached = first
        var digest: [UInt8] = []
        var work = 0
        try store.entries(from: first, through: head) { entry in
            try feed.forEachStep(of: entry) { step in
                try writer.write(step, at: entry.sequence)
                work += 1
            }
            work += 1 + entry.changes.count
            reached = entry.sequence
            digest = entry.digest.bytes
            return work < Self.workAtOnce ? .proceed : .stop
        }
        if unknown == nil, let entry = feed.firstUnknown, entry <= reached { unknown = entry }
        try connection.run("DELETE FROM about")
        try connection.statement("INSERT INTO about VALUES (?, ?, ?, ?, ?)").run(
            .text(store.uuid.uuidString), reached.stored, .blob(digest), feed.model.stored,
            unknown?.stored ?? .null)
        return reached
    }

    private func position() throws -> Position? {
        let rows = try connection.statement(
            "SELECT store, sequence, digest, model, unknown FROM about"
        ).rows()
        guard let row = rows.first, case .text(let store) = row[0],
            let sequence = SequenceNumber(stored: row[1]), case .blob(let digest) = row[2],
            let model = SequenceNumber(stored: row[3])
        else { return nil }
        return Position(
            store: store, sequence: sequence, digest: digest, model: model,
            unknown: SequenceNumber(stored: row[4]))
    }

    // MARK: - Searching

    /// The values in which a text is, the best matches first.
    func rows(
        _ text: SearchText, _ places: IndexPlaces, _ scope: SearchScope
    ) throws -> [IndexRow] {
        guard scope.limit > 0, !places.pairs.isEmpty else { return [] }
        let condition: String
        switch scope.moment {
        case .now: condition = "AND held.until IS NULL"
        case .ever: condition = ""
        case .sequence(let moment):
            let number = Int64(clamping: moment.rawValue)
            condition =
                "AND held.since <= \(number) AND (held.until IS NULL OR held.until > \(number))"
        }
        let pairs = places.pairs.map { "(\($0.entity), \($0.property))" }.joined(separator: ", ")
        do {
            return try connection.statement(
                """
                SELECT held.entity, held.object, held.property, held.since, held.until, bm25(words)
                FROM words JOIN held ON held.id = words.rowid
                WHERE words MATCH ? \(condition)
                    AND (held.entity, held.property) IN (VALUES \(pairs))
                ORDER BY bm25(words), held.id LIMIT ? OFFSET ?
                """
            ).rows(
                .text(text.expression), .integer(Int64(scope.limit)),
                .integer(Int64(max(0, scope.offset)))
            ).compactMap(IndexRow.init)
        } catch {
            throw Self.unusable(name, error)
        }
    }

    // MARK: - Statements

    private func number(_ text: String) throws -> Int64 {
        let row = try connection.statement(text).rows().first
        guard case .integer(let number)? = row?.first else { return 0 }
        return number
    }

    /// Runs `body` in a transaction that no other process writes beside.
    private func inTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try connection.run("COMMIT")
            return result
        } catch {
            // The failure is what is to be told; SQLite ends the transaction in any case.
            try? connection.run("ROLLBACK")
            throw error
        }
    }
}

/// Which file a path leads to.
private struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    /// Nil where there is none.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}

extension SequenceNumber {
    fileprivate var stored: SQLiteValue { .integer(Int64(bitPattern: rawValue)) }

    fileprivate init?(stored value: SQLiteValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(rawValue: UInt64(bitPattern: number))
    }
}

extension IndexRow {
    fileprivate init?(_ row: [SQLiteValue]) {
        guard case .integer(let entity) = row[0], case .integer(let object) = row[1],
            case .integer(let property) = row[2], case .integer(let since) = row[3],
            case .real(let rank) = row[5]
        else { return nil }
        let until: Int64? = if case .integer(let number) = row[4] { number } else { nil }
        self.init(
            entity: entity, object: object, property: property, since: since, until: until,
            rank: rank)
    }
}

/// Writes what entries do to texts.
private struct IndexWriter {
    private let end: Statement
    private let endAll: Statement
    private let endPlace: Statement
    private let hold: Statement
    private let index: Statement

    init(_ connection: Connection) throws {
        end = try connection.statement(
            "UPDATE held SET until = ? WHERE object = ? AND entity = ? AND property = ? AND until IS NULL"
        )
        endAll = try connection.statement(
            "UPDATE held SET until = ? WHERE object = ? AND entity = ? AND until IS NULL")
        endPlace = try connection.statement(
            "UPDATE held SET until = ? WHERE entity = ? AND property = ? AND until IS NULL")
        hold = try connection.statement(
            "INSERT INTO held (entity, object, property, since) VALUES (?, ?, ?, ?)")
        index = try connection.statement(
            "INSERT INTO words (rowid, text) VALUES (last_insert_rowid(), ?)")
    }

    func write(_ step: TextStep, at sequence: SequenceNumber) throws {
        let sequence = sequence.stored
        switch step {
        case .set(let object, let property, let text):
            let number = SQLiteValue.integer(Int64(bitPattern: object.number))
            let entity = SQLiteValue.integer(Int64(object.entity.rawValue))
            let property = SQLiteValue.integer(Int64(property.rawValue))
            try end.run(sequence, number, entity, property)
            guard let text else { return }
            try hold.run(entity, number, property, sequence)
            try index.run(.text(text))
        case .delete(let object):
            try endAll.run(
                sequence, .integer(Int64(bitPattern: object.number)),
                .integer(Int64(object.entity.rawValue)))
        case .drop(let entity, let property):
            try endPlace.run(
                sequence, .integer(Int64(entity.rawValue)), .integer(Int64(property.rawValue)))
        }
    }
}
