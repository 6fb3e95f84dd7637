import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

/// LMDB files of another program, or of a later version of this one.
enum ForeignStore {
    /// Another program's tables.
    static func make(at path: String, tables: [String]) throws {
        let environment = try Environment.open(
            at: path, options: EnvironmentOptions(tables: tables))
        let first = try environment.table(tables[0])
        try environment.write { transaction in
            let (key, value): ([UInt8], [UInt8]) = (Array("ada".utf8), Array("lovelace".utf8))
            try transaction.put(first, key.span.bytes, value.span.bytes, .upsert)
        }
    }

    /// A store with a format that no present version knows.
    static func makeNewer(at path: String) throws {
        let store = try Store.create(at: path, model: .sample)
        try store.close()
        let environment = try Environment.open(
            at: path, options: EnvironmentOptions(tables: ["meta"], create: false))
        let meta = try environment.table("meta")
        try environment.write { transaction in
            let key = Array("format".utf8)
            let content: [UInt8] = [0, 0, 0, 200]
            let value = content + Digest.of(key + content).bytes
            try transaction.put(meta, key.span.bytes, value.span.bytes, .upsert)
        }
    }
}
