import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport

/// A journal in a temporary file.
struct TemporaryJournal {
    let directory: TemporaryDirectory
    let environment: Environment
    let journal: Journal

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"), options: EnvironmentOptions(tables: Journal.tableNames))
        journal = try Journal(in: environment)
    }

    /// A journal of entries with payloads of the given lengths.
    init(payloads lengths: [Int]) throws {
        try self.init()
        for (index, length) in lengths.enumerated() {
            try append(Self.payload(length, seed: index), recordedAt: Int64(index))
        }
    }

    @discardableResult
    func append(_ payload: [UInt8], recordedAt: Int64) throws -> JournalEntry {
        let journal = journal
        return try environment.write {
            try journal.append(payload: payload, recordedAt: recordedAt, in: $0)
        }
    }

    func findings() throws -> [JournalFinding] {
        var findings: [JournalFinding] = []
        try environment.read { try journal.verify(in: $0, { findings.append($0) }) }
        return findings
    }

    /// Changes one record behind the journal's back; nil removes it.
    func damage(_ table: String, _ key: [UInt8], _ value: [UInt8]?) throws {
        let table = try environment.table(table)
        try environment.write { transaction in
            if let value {
                try transaction.put(table, key.span.bytes, value.span.bytes, .upsert)
            } else {
                _ = try transaction.delete(table, key.span.bytes)
            }
        }
    }

    /// Keeps another root for a tile, as somebody would who knows the check.
    func forgeRoot(_ key: [UInt8], _ root: Digest) throws {
        let table = try environment.table("journal").checked
        try environment.write { transaction in
            try transaction.put(table, key.span.bytes, root.bytes.span.bytes, .upsert)
        }
    }

    func record(_ table: String, _ key: [UInt8]) throws -> [UInt8]? {
        let table = try environment.table(table)
        return try environment.read {
            try $0.get(table, key.span.bytes) { value in value.withUnsafeBytes { Array($0) } }
        }
    }

    static func payload(_ length: Int, seed: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 7) }
    }

    static func key(_ sequence: UInt64, chunk: UInt32? = nil) -> [UInt8] {
        var writer = KeyWriter()
        writer.append(sequence)
        if let chunk { writer.append(chunk) }
        return writer.bytes
    }
}
