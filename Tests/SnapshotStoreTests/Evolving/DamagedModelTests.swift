import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The record of a model that a migration has set.
struct DamagedModelTests {
    @Test func `no byte of a later model can change unnoticed`() throws {
        let evolving = try Evolving(entity("A", [attribute("x")]))
        let a = try evolving.store.add("A", ["x": .string("1")])
        let new = try evolving.open(
            entity("A", [attribute("n", .int64, default: .int(1)), attribute("x", .int64)]))
        let version = new.schema.version
        for opening in evolving.openings { try opening.close() }
        let place = URL(fileURLWithPath: evolving.temporary.path)
        let bytes = try Data(contentsOf: place)
        let record = Data(version.canonicalBytes)
        var offsets: [Int] = []
        var next = bytes.startIndex
        while let found = bytes.range(of: record, in: next..<bytes.endIndex) {
            offsets.append(found.lowerBound)
            next = found.upperBound
        }
        // The table and the entry; a freed page may contain it once more.
        try #require(offsets.count >= 2)
        var options = StoreOptions()
        options.isReadOnly = true

        var refused: [Int: Int] = [:]
        let file = try FileHandle(forUpdating: place)
        func write(_ byte: UInt8, at offset: Int) throws {
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: [byte])
        }
        for offset in offsets {
            for index in record.indices {
                // One bit of each byte, another one in the next.
                let (bit, was) = (index % 8, bytes[offset + index])
                try write(was ^ (1 << bit), at: offset + index)
                defer { do { try write(was, at: offset + index) } catch { Issue.record(error) } }
                do {
                    let store = try TestStore.open(at: place.path, options: options)
                    #expect(store.schema.version == version, "byte \(index)")
                    #expect(try store.value("x", of: a) == .int(1), "byte \(index)")
                    try store.close()
                } catch let error as StoreError {
                    #expect(error.code == .corrupt, "byte \(index): \(error)")
                    refused[offset, default: 0] += 1
                }
            }
        }

        // The table is read at every opening, the entry is not; `verify` reads both.
        #expect(refused.count == 1, "\(refused)")
        #expect(refused.values.first == record.count, "\(refused)")
        var unsound = 0
        for offset in offsets {
            let middle = offset + record.count / 2
            try write(bytes[middle] ^ 1, at: middle)
            if try !Store.verify(path: place.path).isSound { unsound += 1 }
            try write(bytes[middle], at: middle)
        }
        #expect(unsound == 2)
    }
}
