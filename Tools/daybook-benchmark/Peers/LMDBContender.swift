import CDaybookLMDB
import Foundation

/// LMDB alone: the same number of puts of the same kind of bytes, in code as close to C as Swift
/// allows. The limit for anything built on it.
///
/// It keeps what Daybook keeps (journal with digests, rows, before-images, times) and does none of the
/// rest: no digest is computed, nothing is validated, and there are no objects.
final class LMDBContender: Contender {
    static let name = "raw LMDB"

    private var environment: OpaquePointer?
    private var journal: MDB_dbi = 0
    private var rows: MDB_dbi = 0
    private var versions: MDB_dbi = 0
    private var times: MDB_dbi = 0
    private var sequence: UInt64 = 0
    private var objectCount: UInt64 = 0
    private var lastUpdateCount = 0
    private var entry = ByteBuffer(capacity: 1 << 20)
    private var row = ByteBuffer(capacity: 256)
    private var key = ByteBuffer(capacity: 32)
    private var before = ByteBuffer(capacity: 256)
    private var reader: OpaquePointer?

    private static let entity: UInt32 = 1
    private static let chunkLength = 16 * 4096 - 16
    private static let wholeLength = 2000
    private static let timesTogether: UInt64 = 64

    init(in folder: URL) throws {
        try check("mdb_env_create", mdb_env_create(&environment))
        try check("mdb_env_set_maxdbs", mdb_env_set_maxdbs(environment, 8))
        try check("mdb_env_set_mapsize", mdb_env_set_mapsize(environment, 1 << 36))
        let path = folder.appendingPathComponent("contacts.lmdb").path
        try check(
            "mdb_env_open",
            mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS), 0o644))
        let transaction = try begin()
        for (name, table) in [
            ("journal", \LMDBContender.journal), ("rows", \.rows), ("versions", \.versions),
            ("times", \.times),
        ] {
            try check(
                "mdb_dbi_open",
                mdb_dbi_open(transaction, name, UInt32(MDB_CREATE), &self[keyPath: table]))
        }
        objectCount = UInt64(try entryCount(of: rows, in: transaction))
        sequence = try lastSequence(in: transaction)
        try check("mdb_txn_commit", mdb_txn_commit(transaction))
    }

    deinit {
        for buffer in [entry, row, key, before] { buffer.release() }
    }

    // MARK: - Workloads

    func insertSingly(_ contacts: Contacts) throws {
        for index in 0..<contacts.count {
            try save { transaction in
                objectCount += 1
                try insert(contacts, index, number: objectCount, in: transaction)
            }
        }
    }

    func prepareThreads(_ count: Int) throws {}

    /// LMDB has one writing thread at a time, so everything behind its lock may be shared.
    func insertSingly(_ contacts: Contacts, fromThreads count: Int) throws {
        nonisolated(unsafe) let contender = self
        try Threads.run(count) { number in
            for index in contacts.share(number, of: count) {
                try contender.save { transaction in
                    contender.objectCount += 1
                    try contender.insert(
                        contacts, index, number: contender.objectCount, in: transaction)
                }
            }
        }
    }

    func insertTogether(_ contacts: Contacts) throws {
        try save { transaction in
            for index in 0..<contacts.count {
                objectCount += 1
                try insert(contacts, index, number: objectCount, in: transaction)
            }
        }
    }

    func prepareToRead(_ order: [Int]) throws {}

    func readAges(_ order: [Int], _ manner: ReadingManner) throws -> Int {
        try reading { reader in
            var sum = 0
            for index in order {
                if manner == .each {
                    mdb_txn_reset(reader)
                    try check("mdb_txn_renew", mdb_txn_renew(reader))
                }
                setKey(UInt64(index + 1))
                sum += Int(ContactRow.age(try get(rows, in: reader)))
            }
            return sum
        }
    }

    func readAll() throws -> (ages: Int, nameBytes: Int) {
        var contacts: [PlainContact] = []
        contacts.reserveCapacity(Int(objectCount))
        try forEachRow { contacts.append(ContactRow.contact($0)) }
        return PlainContact.sums(contacts)
    }

    func scanAll() throws -> (ages: Int, nameBytes: Int) {
        var read = (ages: 0, nameBytes: 0)
        try forEachRow { row in
            read.ages += Int(ContactRow.age(row))
            read.nameBytes += ContactRow.nameLength(row)
        }
        return read
    }

    private func forEachRow(_ body: (MDB_val) -> Void) throws {
        try reading { reader in
            var cursor: OpaquePointer?
            try check("mdb_cursor_open", mdb_cursor_open(reader, rows, &cursor))
            defer { mdb_cursor_close(cursor) }
            var keyValue = MDB_val()
            var found = MDB_val()
            var status = mdb_cursor_get(cursor, &keyValue, &found, MDB_FIRST)
            while status == MDB_SUCCESS {
                body(found)
                status = mdb_cursor_get(cursor, &keyValue, &found, MDB_NEXT)
            }
            guard status == MDB_NOTFOUND else {
                throw PeerFailure("mdb_cursor_get", String(cString: mdb_strerror(status)))
            }
        }
    }

    /// Runs `body` in a read transaction that is kept for the next call.
    private func reading<Result>(_ body: (OpaquePointer?) throws -> Result) throws -> Result {
        if reader == nil {
            try check(
                "mdb_txn_begin",
                mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
            mdb_txn_reset(reader)
        }
        try check("mdb_txn_renew", mdb_txn_renew(reader))
        defer { mdb_txn_reset(reader) }
        return try body(reader)
    }

    func updateTogether(_ contacts: Contacts) throws {
        lastUpdateCount = contacts.count
        try save { transaction in
            for index in 0..<contacts.count {
                let number = UInt64(index + 1)
                setKey(number)
                before.set(try get(rows, in: transaction))
                ContactRow.write(contacts, index, since: sequence, to: &row)
                try replace(number, in: transaction)
            }
        }
    }

    func undoLastSave() throws {
        let undone = sequence
        try save { transaction in
            for index in 0..<lastUpdateCount {
                let number = UInt64(index + 1)
                setKey(number, undone)
                row.set(try get(versions, in: transaction))
                row.overwrite(sequence)
                setKey(number)
                before.set(try get(rows, in: transaction))
                try replace(number, in: transaction)
            }
        }
    }

    func count() throws -> Int {
        let transaction = try begin()
        defer { mdb_txn_abort(transaction) }
        return try entryCount(of: rows, in: transaction)
    }

    func settle() throws {}

    func close() throws {
        if let reader { mdb_txn_abort(reader) }
        reader = nil
        if let environment { mdb_env_close(environment) }
        environment = nil
    }

    // MARK: - Parts of a save

    private func save(_ body: (OpaquePointer?) throws -> Void) throws {
        let transaction = try begin()
        sequence += 1
        entry.removeAll()
        // Header: version, number, time, digest of the entry before, length.
        for _ in 0..<57 { entry.append(UInt8(0)) }
        try body(transaction)
        key.removeAll()
        key.append(sequence)
        row.removeAll()
        for _ in 0..<4 { row.append(sequence) }
        try put(journal, row, UInt32(MDB_APPEND), in: transaction)
        try writeEntry(in: transaction)
        try writeTimes(in: transaction)
        try check("mdb_txn_commit", mdb_txn_commit(transaction))
    }

    /// The times of many entries together, by the last of them.
    private func writeTimes(in transaction: OpaquePointer?) throws {
        guard sequence % Self.timesTogether == 0 else { return }
        row.removeAll()
        for number in (sequence - Self.timesTogether + 1)...sequence { row.append(number) }
        key.removeAll()
        key.append(sequence)
        try put(times, row, UInt32(MDB_APPEND), in: transaction)
    }

    private func insert(
        _ contacts: Contacts, _ index: Int, number: UInt64, in transaction: OpaquePointer?
    ) throws {
        ContactRow.write(contacts, index, since: sequence, to: &row)
        entry.append(UInt8(1))
        entry.append(number)
        entry.append(row, from: ContactRow.headerLength)
        setKey(number)
        try put(rows, row, UInt32(MDB_APPEND), in: transaction)
    }

    /// Replaces `before` by `row` and moves it to the versions; both go to the journal.
    private func replace(_ number: UInt64, in transaction: OpaquePointer?) throws {
        entry.append(UInt8(2))
        entry.append(number)
        ContactRow.appendEdits(before, row, to: &entry)
        setKey(number)
        try put(rows, row, 0, in: transaction)
        setKey(number, sequence)
        try put(versions, before, 0, in: transaction)
    }

    private func writeEntry(in transaction: OpaquePointer?) throws {
        let length = entry.count <= Self.wholeLength ? entry.count : Self.chunkLength
        var offset = 0
        var chunk: UInt32 = 0
        while offset < entry.count {
            let end = min(offset + length, entry.count)
            key.removeAll()
            key.append(sequence)
            key.append(chunk)
            var keyValue = key.value
            var value = MDB_val(mv_size: end - offset, mv_data: entry.start + offset)
            try check(
                "mdb_put",
                mdb_put(transaction, journal, &keyValue, &value, UInt32(MDB_APPEND)))
            offset = end
            chunk += 1
        }
    }

    // MARK: - Calls

    private func begin() throws -> OpaquePointer? {
        var transaction: OpaquePointer?
        try check("mdb_txn_begin", mdb_txn_begin(environment, nil, 0, &transaction))
        return transaction
    }

    private func setKey(_ number: UInt64, _ sequence: UInt64? = nil) {
        key.removeAll()
        key.append(Self.entity)
        key.append(number)
        if let sequence { key.append(sequence) }
    }

    private func get(_ table: MDB_dbi, in transaction: OpaquePointer?) throws -> MDB_val {
        var keyValue = key.value
        var found = MDB_val()
        try check("mdb_get", mdb_get(transaction, table, &keyValue, &found))
        return found
    }

    private func put(
        _ table: MDB_dbi, _ bytes: ByteBuffer, _ flags: UInt32, in transaction: OpaquePointer?
    ) throws {
        var keyValue = key.value
        var value = bytes.value
        try check("mdb_put", mdb_put(transaction, table, &keyValue, &value, flags))
    }

    /// The number that the last record of the journal begins with.
    private func lastSequence(in transaction: OpaquePointer?) throws -> UInt64 {
        var cursor: OpaquePointer?
        try check("mdb_cursor_open", mdb_cursor_open(transaction, journal, &cursor))
        defer { mdb_cursor_close(cursor) }
        var keyValue = MDB_val()
        var found = MDB_val()
        let status = mdb_cursor_get(cursor, &keyValue, &found, MDB_LAST)
        if status == MDB_NOTFOUND { return 0 }
        try check("mdb_cursor_get", status)
        guard let start = keyValue.mv_data else { return 0 }
        return UInt64(bigEndian: start.loadUnaligned(as: UInt64.self))
    }

    private func entryCount(of table: MDB_dbi, in transaction: OpaquePointer?) throws -> Int {
        var found = MDB_stat()
        try check("mdb_stat", mdb_stat(transaction, table, &found))
        return found.ms_entries
    }

    private func check(_ call: String, _ status: Int32) throws {
        guard status == MDB_SUCCESS else {
            throw PeerFailure(call, String(cString: mdb_strerror(status)))
        }
    }
}
