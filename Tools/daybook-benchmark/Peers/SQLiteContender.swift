import CDaybookSQLite
import Foundation

/// SQLite as an expert would use it: prepared statements, write-ahead log, every commit synced, a
/// large cache, memory-mapped reads, and triggers that keep old and new columns of every change in
/// an audit table, under the number of its save.
final class SQLiteContender: Contender {
    static let name = "SQLite"

    private var database: OpaquePointer?
    private var statements: [OpaquePointer] = []
    private let begin: OpaquePointer
    private let beginReading: OpaquePointer
    private let commit: OpaquePointer
    private let beginEntry: OpaquePointer
    private let insert: OpaquePointer
    private let select: OpaquePointer
    private let update: OpaquePointer
    private let restore: OpaquePointer
    private let counting: OpaquePointer
    private let selectAll: OpaquePointer
    private let selectTwo: OpaquePointer
    private var objectCount = 0

    init(in folder: URL) throws {
        let opened = try Self.open(
            folder.appendingPathComponent("contacts.sqlite"), flags: SQLITE_OPEN_CREATE)
        database = opened
        try Self.execute(String(decoding: PackageResources.contacts_sql, as: UTF8.self), opened)
        begin = try Self.prepare("BEGIN IMMEDIATE", opened)
        beginReading = try Self.prepare("BEGIN", opened)
        commit = try Self.prepare("COMMIT", opened)
        beginEntry = try Self.prepare(
            "INSERT INTO entry(recorded_at) VALUES (julianday('now'))", opened)
        insert = try Self.prepare("INSERT INTO contact VALUES (?, ?, ?, ?, ?, ?)", opened)
        select = try Self.prepare("SELECT age FROM contact WHERE id = ?", opened)
        update = try Self.prepare(
            "UPDATE contact SET mail = ?, age = ?, balance = ? WHERE id = ?", opened)
        restore = try Self.prepare(
            """
            UPDATE contact SET name = a.old_name, mail = a.old_mail, address = a.old_address,
                age = a.old_age, balance = a.old_balance
            FROM audit a WHERE a.entry = ? AND a.contact = contact.id
            """, opened)
        counting = try Self.prepare("SELECT count(*) FROM contact", opened)
        selectAll = try Self.prepare(
            "SELECT id, name, mail, address, age, balance FROM contact", opened)
        selectTwo = try Self.prepare("SELECT age, name FROM contact", opened)
        statements = [
            begin, beginReading, commit, beginEntry, insert, select, update, restore, counting,
            selectAll, selectTwo,
        ]
        objectCount = try count()
    }

    // MARK: - Workloads

    func insertSingly(_ contacts: Contacts) throws {
        for index in 0..<contacts.count {
            objectCount += 1
            try save { try insertOne(contacts, index, number: objectCount) }
        }
    }

    func prepareThreads(_ count: Int) throws {}

    /// SQLite has one writing connection at a time. Threads with their own connections find the
    /// file locked and retry after a pause, and each rereads what another has written; so sharing
    /// one connection for writing, behind a lock, is fastest.
    func insertSingly(_ contacts: Contacts, fromThreads count: Int) throws {
        // A plain lock: a thread that has just saved may save again immediately, without a thread
        // switch.
        let turn = NSLock()
        nonisolated(unsafe) let contender = self
        try Threads.run(count) { number in
            for index in contacts.share(number, of: count) {
                try turn.withLock {
                    contender.objectCount += 1
                    try contender.save {
                        try contender.insertOne(contacts, index, number: contender.objectCount)
                    }
                }
            }
        }
    }

    func insertTogether(_ contacts: Contacts) throws {
        try save {
            for index in 0..<contacts.count {
                objectCount += 1
                try insertOne(contacts, index, number: objectCount)
            }
        }
    }

    func prepareToRead(_ order: [Int]) throws {}

    func readAges(_ order: [Int], _ manner: ReadingManner) throws -> Int {
        if manner == .together { try run(beginReading) }
        var sum = 0
        for index in order {
            sqlite3_bind_int64(select, 1, Int64(index + 1))
            guard sqlite3_step(select) == SQLITE_ROW else { throw failure("sqlite3_step") }
            sum += Int(sqlite3_column_int64(select, 0))
            sqlite3_reset(select)
        }
        if manner == .together { try run(commit) }
        return sum
    }

    func readAll() throws -> (ages: Int, nameBytes: Int) {
        var contacts: [PlainContact] = []
        contacts.reserveCapacity(try count())
        try forEachRow(of: selectAll) { statement in
            contacts.append(
                PlainContact(
                    name: Self.text(statement, 1), mail: Self.text(statement, 2),
                    address: Self.text(statement, 3),
                    age: Int(sqlite3_column_int64(statement, 4)),
                    balance: sqlite3_column_double(statement, 5)))
        }
        return PlainContact.sums(contacts)
    }

    func scanAll() throws -> (ages: Int, nameBytes: Int) {
        var read = (ages: 0, nameBytes: 0)
        try forEachRow(of: selectTwo) { statement in
            read.ages += Int(sqlite3_column_int64(statement, 0))
            if sqlite3_column_text(statement, 1) != nil {
                read.nameBytes += Int(sqlite3_column_bytes(statement, 1))
            }
        }
        return read
    }

    private func forEachRow(
        of statement: OpaquePointer, _ body: (OpaquePointer) -> Void
    ) throws {
        defer { sqlite3_reset(statement) }
        var status = sqlite3_step(statement)
        while status == SQLITE_ROW {
            body(statement)
            status = sqlite3_step(statement)
        }
        guard status == SQLITE_DONE else { throw failure("sqlite3_step") }
    }

    /// A column as a copied string; the library's own lives only until the next row.
    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let length = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    func updateTogether(_ contacts: Contacts) throws {
        try save {
            for index in 0..<contacts.count {
                let start = index * Contacts.textLength + Contacts.nameLength
                bind(contacts.texts, start, Contacts.mailLength, update, 1)
                sqlite3_bind_int64(update, 2, Int64(contacts.ages[index]))
                sqlite3_bind_double(update, 3, contacts.balances[index])
                sqlite3_bind_int64(update, 4, Int64(index + 1))
                try run(update)
            }
        }
    }

    func undoLastSave() throws {
        let entry = try lastEntry()
        try save {
            sqlite3_bind_int64(restore, 1, entry)
            try run(restore)
        }
    }

    func count() throws -> Int {
        defer { sqlite3_reset(counting) }
        guard sqlite3_step(counting) == SQLITE_ROW else { throw failure("sqlite3_step") }
        return Int(sqlite3_column_int64(counting, 0))
    }

    func settle() throws {
        try Self.execute("PRAGMA wal_checkpoint(TRUNCATE)", database)
    }

    func close() throws {
        for statement in statements { sqlite3_finalize(statement) }
        statements = []
        if let database, sqlite3_close(database) != SQLITE_OK { throw failure("sqlite3_close") }
        database = nil
    }

    // MARK: - Parts

    private func save(_ body: () throws -> Void) throws {
        try run(begin)
        try run(beginEntry)
        try body()
        try run(commit)
    }

    /// Runs a statement in a save of its own.
    func save(_ statement: String) throws {
        try save { try Self.execute(statement, database) }
    }

    private func insertOne(_ contacts: Contacts, _ index: Int, number: Int) throws {
        sqlite3_bind_int64(insert, 1, Int64(number))
        var start = index * Contacts.textLength
        bind(contacts.texts, start, Contacts.nameLength, insert, 2)
        start += Contacts.nameLength
        bind(contacts.texts, start, Contacts.mailLength, insert, 3)
        start += Contacts.mailLength
        bind(contacts.texts, start, Contacts.addressLength, insert, 4)
        sqlite3_bind_int64(insert, 5, Int64(contacts.ages[index]))
        sqlite3_bind_double(insert, 6, contacts.balances[index])
        try run(insert)
    }

    /// Binds text that outlives the statement's run, without a copy.
    private func bind(
        _ texts: [UInt8], _ start: Int, _ length: Int, _ statement: OpaquePointer, _ index: Int32
    ) {
        texts.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            (base + start).withMemoryRebound(to: CChar.self, capacity: length) { text in
                _ = sqlite3_bind_text(statement, index, text, Int32(length), nil)
            }
        }
    }

    private func lastEntry() throws -> Int64 {
        let statement = try Self.prepare("SELECT max(id) FROM entry", database)
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw failure("sqlite3_step") }
        return sqlite3_column_int64(statement, 0)
    }

    private func run(_ statement: OpaquePointer) throws {
        let status = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard status == SQLITE_DONE else { throw failure("sqlite3_step") }
    }

    private func failure(_ call: String) -> PeerFailure {
        PeerFailure(call, String(cString: sqlite3_errmsg(database)))
    }

    private static func prepare(
        _ text: String, _ database: OpaquePointer?
    ) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(
            database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard status == SQLITE_OK, let statement else {
            throw PeerFailure(text, String(cString: sqlite3_errmsg(database)))
        }
        return statement
    }

    static func execute(_ text: String, _ database: OpaquePointer?) throws {
        guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else {
            throw PeerFailure(text, String(cString: sqlite3_errmsg(database)))
        }
    }

    private static let settings = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144;
        PRAGMA mmap_size = 4294967296; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 10000;
        """
}

extension SQLiteContender: OpensIdly {
    static func openIdly(_ folder: URL) throws {
        let database = try open(folder)
        defer { sqlite3_close_v2(database) }
        let statement = try prepare("PRAGMA user_version", database)
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW, sqlite3_column_int64(statement, 0) == 0 else {
            throw PeerFailure("PRAGMA user_version", "it is not 0")
        }
    }
}

extension SQLiteContender: Migrates {
    static func migrate(_ folder: URL, _ change: ModelChange, _ number: Int) throws -> Double {
        try Stopwatch.seconds {
            let database = try open(folder)
            defer { sqlite3_close_v2(database) }
            try execute(change.statements(number), database)
        }
    }

    static func count(in folder: URL, after change: ModelChange, _ number: Int) throws -> Int {
        let database = try open(folder)
        defer { sqlite3_close_v2(database) }
        let statement = try prepare("SELECT count(*) FROM contact", database)
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { return 0 }
        return Int(sqlite3_column_int64(statement, 0))
    }

    private static func open(_ folder: URL) throws -> OpaquePointer? {
        try open(folder.appendingPathComponent("contacts.sqlite"), flags: 0)
    }
}

extension SQLiteContender {
    /// Opens a file with the settings of every measurement.
    static func open(_ file: URL, flags: Int32) throws -> OpaquePointer? {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(
            file.path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | flags, nil)
        guard status == SQLITE_OK else {
            throw PeerFailure("sqlite3_open_v2", String(cString: sqlite3_errstr(status)))
        }
        try execute(settings, opened)
        return opened
    }
}

extension ModelChange {
    fileprivate func statements(_ number: Int) -> String {
        switch self {
        case .index: "CREATE INDEX contact_name ON contact(name)"
        case .attribute:
            """
            BEGIN IMMEDIATE;
            ALTER TABLE contact ADD COLUMN remark\(number) TEXT;
            ALTER TABLE audit ADD COLUMN old_remark\(number) TEXT;
            ALTER TABLE audit ADD COLUMN new_remark\(number) TEXT;
            DROP TRIGGER contact_inserted; DROP TRIGGER contact_updated; DROP TRIGGER contact_deleted;
            \(Self.trigger("inserted", "INSERT", old: false, new: true, number))
            \(Self.trigger("updated", "UPDATE", old: true, new: true, number))
            \(Self.trigger("deleted", "DELETE", old: true, new: false, number))
            COMMIT;
            """
        }
    }

    private static func trigger(
        _ name: String, _ event: String, old: Bool, new: Bool, _ number: Int
    ) -> String {
        let columns =
            ["name", "mail", "address", "age", "balance"] + (1...number).map { "remark\($0)" }
        let sides = (old ? ["old"] : []) + (new ? ["new"] : [])
        let names = sides.flatMap { side in columns.map { "\(side)_\($0)" } }
        let values = sides.flatMap { side in columns.map { "\(side).\($0)" } }
        return """
            CREATE TRIGGER contact_\(name) AFTER \(event) ON contact BEGIN
                INSERT INTO audit(entry, contact, \(names.joined(separator: ", ")))
                VALUES ((SELECT max(id) FROM entry), \(new ? "new" : "old").id,
                    \(values.joined(separator: ", ")));
            END;
            """
    }
}
