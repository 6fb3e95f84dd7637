import CDaybookSQLite
import Foundation

/// A blob of the right length, made first and then filled piece by piece: what SQLite calls incremental
/// blob I/O. No trigger sees it.
extension SQLiteContender: KeepsLargeData {
    static func writeLargeData(from file: URL, in folder: URL) throws -> Double {
        let database = try openRecordings(in: folder)
        defer { sqlite3_close_v2(database) }
        try execute("CREATE TABLE recording (id INTEGER PRIMARY KEY, sound BLOB)", database)
        let source = try FileHandle(forReadingFrom: file)
        let size = try source.seekToEnd()
        try source.seek(toOffset: 0)
        return try Stopwatch.seconds {
            try execute(
                "BEGIN IMMEDIATE; INSERT INTO recording VALUES (1, zeroblob(\(size)))", database)
            try withBlob(in: database, writing: 1) { blob in
                var offset: Int32 = 0
                while let piece = try source.read(upToCount: LargeSample.pieceBytes), !piece.isEmpty
                {
                    let status = piece.withUnsafeBytes {
                        sqlite3_blob_write(blob, $0.baseAddress, Int32($0.count), offset)
                    }
                    guard status == SQLITE_OK else { throw failure("sqlite3_blob_write", status) }
                    offset += Int32(piece.count)
                }
            }
            try execute("COMMIT", database)
        }
    }

    static func readLargeData(expecting bytes: Data, in folder: URL) throws -> Double {
        let database = try openRecordings(in: folder)
        defer { sqlite3_close_v2(database) }
        return try Stopwatch.seconds {
            try withBlob(in: database, writing: 0) { blob in
                try LargeSample.compare(bytes, with: name) { range in
                    var piece = Data(count: range.count)
                    let status = piece.withUnsafeMutableBytes {
                        sqlite3_blob_read(
                            blob, $0.baseAddress, Int32($0.count), Int32(range.lowerBound))
                    }
                    guard status == SQLITE_OK else { throw failure("sqlite3_blob_read", status) }
                    return piece
                }
            }
        }
    }

    private static func withBlob(
        in database: OpaquePointer?, writing flag: Int32, _ body: (OpaquePointer?) throws -> Void
    ) throws {
        var blob: OpaquePointer?
        let status = sqlite3_blob_open(database, "main", "recording", "sound", 1, flag, &blob)
        guard status == SQLITE_OK else { throw failure("sqlite3_blob_open", status) }
        defer { sqlite3_blob_close(blob) }
        try body(blob)
    }

    private static func openRecordings(in folder: URL) throws -> OpaquePointer? {
        try open(
            folder.appendingPathComponent("recordings.sqlite"), flags: SQLITE_OPEN_CREATE)
    }

    private static func failure(_ call: String, _ status: Int32) -> PeerFailure {
        PeerFailure(call, String(cString: sqlite3_errstr(status)))
    }
}
