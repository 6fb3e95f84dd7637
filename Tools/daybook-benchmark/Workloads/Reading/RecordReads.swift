import CDaybookLMDB
import DaybookLMDB
import Foundation

/// (k) Records of one table found by their keys of twelve bytes in random order, in one read; (k') all of
/// them walked. Daybook's reader of pages against LMDB's own calls, on files of the same records.
struct RecordReads: Workload {
    enum Manner {
        case random
        case walk
    }

    let manner: Manner
    let count: Int

    let measure = Measure.perSecond
    var letter: String { manner == .random ? "k" : "k'" }
    var title: String {
        manner == .random
            ? "\(count.grouped) records of a table found by random keys"
            : "\(count.grouped) records of a table walked"
    }

    func concerns(_ contender: any Contender.Type) -> Bool {
        contender.name != SQLiteContender.name
    }

    func measure(_ stage: Stage) throws -> Double {
        let folder = try stage.makeFolder("records")
        let path = folder.appendingPathComponent("records.lmdb").path
        if !FileManager.default.fileExists(atPath: path) { try fill(path) }
        var generator = ReadingOrder(seed: 21)
        let order = manner == .random ? (0..<count).shuffled(using: &generator) : []
        var sum = 0
        let rate =
            stage.type.name == LMDBContender.name
            ? try measureLMDB(path, order, &sum) : try measureDaybook(path, order, &sum)
        try stage.expect(count, "the sum of first bytes", sum)
        return rate
    }

    /// Makes a file of records of 140 bytes, each with a one in front.
    private func fill(_ path: String) throws {
        let environment = try Environment.open(at: path, options: Self.options)
        let table = try environment.table(Self.tableName)
        let count = count
        try environment.write { transaction in
            var value = [UInt8](repeating: 7, count: 140)
            value[0] = 1
            try transaction.putAscendingRun(table) { run in
                for number in 0..<count {
                    try run.put(Self.key(number).span.bytes, value.span.bytes)
                }
            }
        }
    }

    private static func key(_ number: Int) -> [UInt8] {
        var key = KeyWriter()
        key.append(UInt32(3))
        key.append(UInt64(number))
        return key.bytes
    }

    private static let tableName = "records"
    private static let options = EnvironmentOptions(tables: [tableName], durability: .relaxed)

    // MARK: - Daybook

    private func measureDaybook(_ path: String, _ order: [Int], _ sum: inout Int) throws -> Double {
        let environment = try Environment.open(at: path, options: Self.options)
        let table = try environment.table(Self.tableName)
        var found = 0
        let rate = try rate(count) {
            try environment.read { transaction in
                for number in order {
                    let key = ObjectKey(3, UInt64(number))
                    try transaction.get(table, key) { found += Self.firstByte($0) }
                }
                guard manner == .walk else { return }
                let start: [UInt8] = []
                try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                    found += Self.firstByte($1)
                    return .proceed
                }
            }
        }
        sum = found
        return rate
    }

    private static func firstByte(_ value: RawSpan) -> Int {
        Int(value.unsafeLoad(fromByteOffset: 0, as: UInt8.self))
    }

    // MARK: - LMDB

    private func measureLMDB(_ path: String, _ order: [Int], _ sum: inout Int) throws -> Double {
        var environment: OpaquePointer?
        try check("mdb_env_create", mdb_env_create(&environment))
        defer { mdb_env_close(environment) }
        try check("mdb_env_set_maxdbs", mdb_env_set_maxdbs(environment, 8))
        try check("mdb_env_set_mapsize", mdb_env_set_mapsize(environment, 1 << 30))
        let flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS | MDB_RDONLY)
        try check("mdb_env_open", mdb_env_open(environment, path, flags, 0o644))
        var reader: OpaquePointer?
        try check("mdb_txn_begin", mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
        defer { mdb_txn_abort(reader) }
        var table: MDB_dbi = 0
        try check("mdb_dbi_open", mdb_dbi_open(reader, Self.tableName, 0, &table))
        var found = 0
        let rate = try rate(count) {
            switch manner {
            case .random: found = try lookUp(order, table, reader)
            case .walk: found = try walk(table, reader)
            }
        }
        sum = found
        return rate
    }

    private func lookUp(_ order: [Int], _ table: MDB_dbi, _ reader: OpaquePointer?) throws -> Int {
        var found = 0
        var key = (UInt32(0), UInt32(3).bigEndian, UInt64(0))
        try withUnsafeMutableBytes(of: &key) { bytes in
            let start = bytes.baseAddress.map { $0 + 4 }
            for number in order {
                bytes.storeBytes(of: UInt64(number).bigEndian, toByteOffset: 8, as: UInt64.self)
                var sought = MDB_val(mv_size: 12, mv_data: start)
                var value = MDB_val()
                try check("mdb_get", mdb_get(reader, table, &sought, &value))
                found += Int(value.mv_data.load(as: UInt8.self))
            }
        }
        return found
    }

    private func walk(_ table: MDB_dbi, _ reader: OpaquePointer?) throws -> Int {
        var cursor: OpaquePointer?
        try check("mdb_cursor_open", mdb_cursor_open(reader, table, &cursor))
        defer { mdb_cursor_close(cursor) }
        var (found, key, value) = (0, MDB_val(), MDB_val())
        var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while status == MDB_SUCCESS {
            found += Int(value.mv_data.load(as: UInt8.self))
            status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        if status != MDB_NOTFOUND { try check("mdb_cursor_get", status) }
        return found
    }

    private func check(_ call: String, _ status: Int32) throws {
        guard status == MDB_SUCCESS else {
            throw PeerFailure(call, String(cString: mdb_strerror(status)))
        }
    }
}
