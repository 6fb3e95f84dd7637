import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// The model, which is needed to read everything else, is in the first entry and in a table.
struct ModelTableTests {
    /// A model with a property that exports must leave out.
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "pay", type: .int64, isConfidential: true),
            ])
    ])

    @Test func `no bit of the model can change unnoticed, in the table or in the first entry`()
        throws
    {
        let temporary = try TemporaryStore(Self.model)
        let store = temporary.store
        let person = try store.newObject("Person")
        try store.commit(
            SaveRequest(changes: [
                store.insert(person, ["name": .string("Ada"), "pay": .int(4711)])
            ]))
        let model = Data(store.schema.model.canonicalBytes)
        try store.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: temporary.path))
        var offsets: [Int] = []
        var next = bytes.startIndex
        while let found = bytes.range(of: model, in: next..<bytes.endIndex) {
            offsets.append(found.lowerBound)
            next = found.upperBound
        }
        // The table and the first entry; a freed page may contain it once more.
        try #require(offsets.count >= 2)

        var refused: [Int: Int] = [:]
        for offset in offsets {
            for bit in 0..<(model.count * 8) {
                bytes[offset + bit / 8] ^= 1 << (bit % 8)
                try bytes.write(to: URL(fileURLWithPath: temporary.path))
                bytes[offset + bit / 8] ^= 1 << (bit % 8)
                do {
                    let store = try TestStore.open(
                        at: temporary.path, options: StoreOptions(isReadOnly: true))
                    try store.close()
                } catch let error as StoreError {
                    #expect(error.code == .corrupt, "bit \(bit): \(error)")
                    #expect(error.message.contains("'daybook verify'"), "bit \(bit): \(error)")
                    refused[offset, default: 0] += 1
                }
            }
        }

        // Every bit of the used pages matters, and none elsewhere.
        #expect(refused.values.count { $0 == model.count * 8 } == 2, "\(refused)")
        #expect(refused.count == 2, "\(refused)")
    }

    @Test(arguments: ["missing", "second", "other number"])
    func `a table of models that differs from the journal is refused`(how: String) throws {
        let temporary = try TemporaryStore(Self.model)
        try temporary.store.close()
        do {
            let environment = try Environment.open(
                at: temporary.path, options: EnvironmentOptions(tables: ["models"], create: false))
            let models = try environment.table("models")
            try environment.write { transaction in
                let (one, two) = (
                    StoreKey.sequence(SequenceNumber(1)), StoreKey.sequence(SequenceNumber(2))
                )
                let value = try transaction.get(models, one.span.bytes) { $0.array } ?? []
                if how != "second" { _ = try transaction.delete(models, one.span.bytes) }
                if how != "missing" {
                    try transaction.put(models, two.span.bytes, value.span.bytes, .upsert)
                }
            }
        }

        let refusal = #expect(throws: StoreError.self) { try TestStore.open(at: temporary.path) }

        #expect(refusal?.code == .corrupt)
        let report = try Store.verify(path: temporary.path)
        #expect(!report.isSound)
    }

    @Test func `a store without its first entry is refused`() throws {
        let temporary = try TemporaryStore(Self.model)
        try temporary.store.close()
        do {
            let environment = try Environment.open(
                at: temporary.path, options: EnvironmentOptions(tables: ["journal"], create: false))
            let journal = try environment.table("journal")
            try environment.write { try $0.clear(journal) }
        }

        let refusal = #expect(throws: StoreError.self) { try TestStore.open(at: temporary.path) }

        #expect(refusal?.code == .corrupt)
        #expect(refusal?.message.contains("no first entry") == true)
        #expect(try !Store.verify(path: temporary.path).isSound)
    }
}
