import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Random histories of data around the size from which on they are kept in chunks, against a
/// dictionary of plain bytes.
@Suite struct DataHistoryTests {
    private static let sizes = [
        0, 1, 1_000, 65_519, 65_520, 65_521, 65_535, 65_536, 65_537, 65_538, 131_039, 131_040,
        131_041, 200_000,
    ]

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `what was written is there, now and then, and equal chunks once`(seed: UInt64) throws {
        let album = try Album()
        let store = album.store
        var generator = SeededGenerator(seed: seed)
        var photos: [ObjectID: Data] = [:]
        var states: [(SequenceNumber, [ObjectID: Data])] = []
        var written: Set<ChunkKey> = []
        var undoable: [SequenceNumber] = []

        func image() -> Data {
            let size = Self.sizes[Int.random(in: 0..<Self.sizes.count, using: &generator)]
            return .noise(size, seed: UInt64.random(in: 1...2, using: &generator))
        }
        func note(_ image: Data) {
            if image.count > 65_536 { written.formUnion(image.chunkKeys) }
        }
        for _ in 0..<60 {
            let known = photos.keys.sorted()
            var result: SaveResult
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<3 where !known.isEmpty, 3 where known.count > 6:
                let photo = known[Int.random(in: 0..<known.count, using: &generator)]
                result = try store.commit(SaveRequest(changes: [try store.delete(photo)]))
                photos[photo] = nil
            case 4..<7 where !known.isEmpty:
                let photo = known[Int.random(in: 0..<known.count, using: &generator)]
                let new = image()
                let old = try album.stored(photo) ?? .null
                result = try store.commit(
                    SaveRequest(changes: [store.update(photo, "image", from: old, to: .data(new))]))
                photos[photo] = new
                note(new)
            case 7 where !undoable.isEmpty:
                // The last entry can always be undone.
                let last = undoable.removeLast()
                result = try store.commit(try store.undoRequest(of: last))
                photos = states.last { $0.0 < last }?.1 ?? [:]
            default:
                let photo = try store.newObject("Photo")
                let new = image()
                result = try store.commit(
                    SaveRequest(changes: [store.insert(photo, ["image": .data(new)])]))
                photos[photo] = new
                note(new)
            }
            guard let sequence = result.sequence else { continue }
            undoable = [sequence]
            states.append((sequence, photos))
        }

        for (sequence, photos) in states {
            for (photo, image) in photos {
                #expect(try album.image(photo, at: sequence) == image)
            }
        }
        #expect(try album.recordCount() == written.count)
        let tables = try store.projectionDigest()
        try store.rebuild()
        #expect(try store.projectionDigest() == tables)
        #expect(try store.sweep() == DataSweep())
        #expect(try album.verify().isSound)
    }
}
