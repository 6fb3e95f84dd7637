import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation

@testable import DaybookSnapshotStore

/// A store of photos, whose images are of any size.
struct Album {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Photo",
            attributes: [
                AttributeDescription(name: "image", type: .data),
                AttributeDescription(name: "title", type: .string),
            ])
    ])

    let temporary: TemporaryStore
    var store: Store { temporary.store }

    init() throws {
        temporary = try TemporaryStore(Self.model)
    }

    /// Saves a new photo.
    func add(_ image: Value, title: String = "") throws -> ObjectID {
        let photo = try store.newObject("Photo")
        try store.commit(
            SaveRequest(
                changes: [store.insert(photo, ["image": image, "title": .string(title)])]))
        return photo
    }

    /// The image of a photo after an entry, as it is in the row.
    func stored(_ photo: ObjectID, at sequence: SequenceNumber? = nil) throws -> Value? {
        let slot = store.property("image", of: photo).slot
        return try store.row(of: photo, at: sequence).flatMap { row in slot.map { row.values[$0] } }
    }

    /// The bytes of a photo after an entry; nil when there is no photo or no image.
    func image(_ photo: ObjectID, at sequence: SequenceNumber? = nil) throws -> Data? {
        switch try stored(photo, at: sequence) {
        case .data(let data): data
        case .large(let data): try data.attached(to: store).data()
        default: nil
        }
    }

    /// Saves another image.
    func replace(_ photo: ObjectID, with image: Value) throws {
        let old = try stored(photo) ?? .null
        try store.commit(
            SaveRequest(changes: [store.update(photo, "image", from: old, to: image)]))
    }

    /// How many records of chunks and nodes there are.
    func recordCount() throws -> Int {
        guard let chunks = try store.chunkTable() else { return 0 }
        return try store.reading { try $0.count(chunks.table) }
    }

    /// Changes a record of a chunk or node, or removes it, behind the store's back.
    func damage(_ key: ChunkKey, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]?) throws {
        guard let table = try store.chunkTable()?.table else { return }
        let key = ChunkTable.bytes(of: key)
        try store.openEnvironment().write { transaction in
            let old = try transaction.get(table, key.span.bytes) { $0.array }
            _ = try transaction.delete(table, key.span.bytes)
            guard let old, let new = change(old) else { return }
            try transaction.put(table, key.span.bytes, new.span.bytes, .upsert)
        }
    }

    /// Closes the store and checks all of it.
    func verify() throws -> VerifyReport {
        try store.close()
        return try Store.verify(path: temporary.path)
    }
}

extension Data {
    /// Bytes in which no two chunks are the same.
    static func noise(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        var data = Data(capacity: count + 8)
        while data.count < count {
            Swift.withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) }
        }
        return data.prefix(count)
    }

    /// The keys of all records of a tree over these bytes, found by grouping all of them at once.
    var chunkKeys: [ChunkKey] {
        var records = stride(from: 0, to: Swift.max(1, count), by: 65_520).map { start in
            [UInt8](self[startIndex + start..<Swift.min(startIndex + start + 65_520, endIndex)])
        }
        var keys: [ChunkKey] = []
        var level: UInt8 = 0
        while true {
            let digests = records.map { Digest.of([level] + $0) }
            keys += digests.map { ChunkKey(level: Int(level), digest: $0) }
            if digests.count == 1 { return keys }
            records = stride(from: 0, to: digests.count, by: 2_047).map { start in
                digests[start..<Swift.min(start + 2_047, digests.count)].flatMap(\.bytes)
            }
            level += 1
        }
    }
}
