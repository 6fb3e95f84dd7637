import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

@Suite struct LargeDataTests {
    private static let limit = LargeData.inlineBytesMaximum

    @Test(arguments: [0, 1, 65_519, 65_520, 65_521, limit])
    func `data of at most 64 KiB are in the row, and there is no table of chunks`(
        count: Int
    ) throws {
        let album = try Album()
        let image = Data.noise(count)

        let photo = try album.add(.data(image))

        guard case .data(image) = try album.stored(photo) else {
            Issue.record("The image of \(count) bytes is not in the row.")
            return
        }
        #expect(try album.store.hasLargeData() == false)
        #expect(try album.verify().isSound)
    }

    @Test(arguments: [limit + 1, 131_040, 131_041, 1_000_000])
    func `more than 64 KiB are kept in chunks, and the row has their number and digest`(
        count: Int
    ) throws {
        let album = try Album()
        let image = Data.noise(count)

        let photo = try album.add(.data(image))

        guard case .large(let data) = try album.stored(photo) else {
            Issue.record("The image of \(count) bytes is not kept by reference.")
            return
        }
        #expect(data.count == count)
        #expect(data.top == image.chunkKeys.last)
        #expect(try album.recordCount() == image.chunkKeys.count)
        #expect(try album.image(photo) == image)
        let entry = try album.store.entry(try album.store.head())
        #expect(EntryPayload.bytes(entry.header, entry.changes).count < 200)
        #expect(try album.verify().isSound)
    }

    @Test(arguments: [
        0..<1, 65_519..<65_521, 65_520..<131_040, 199_999..<200_000, 5..<5, 0..<200_000,
    ])
    func `a part is read without the rest`(range: Range<Int>) throws {
        let album = try Album()
        let image = Data.noise(200_000)
        let photo = try album.add(.data(image))
        guard case .large(let data) = try album.stored(photo) else {
            Issue.record("The image is not kept by reference.")
            return
        }

        let part = try data.attached(to: album.store).bytes(in: range)

        #expect(part == image[range])
    }

    @Test func `equal data are stored once, in other objects and other entries`() throws {
        let album = try Album()
        let (dawn, dusk) = (Data.noise(300_000, seed: 1), Data.noise(300_000, seed: 2))
        let photos = try (0..<3).map { _ in try album.add(.data(dawn)) }
        let count = try album.recordCount()

        try album.replace(photos[0], with: .data(dusk))
        try album.replace(photos[0], with: .data(dawn))
        try album.store.commit(SaveRequest(changes: [try album.store.delete(photos[1])]))

        #expect(count == dawn.chunkKeys.count)
        #expect(try album.recordCount() == Set(dawn.chunkKeys + dusk.chunkKeys).count)
        #expect(try album.image(photos[0], at: SequenceNumber(5)) == dusk)
        #expect(try album.image(photos[1], at: SequenceNumber(5)) == dawn)
        #expect(try album.verify().isSound)
    }

    @Test func `equal chunks of different data are stored once`() throws {
        let album = try Album()
        let log = Data.noise(10 * 65_520)
        let longer = log + Data.noise(65_520, seed: 2)

        _ = try album.add(.data(log))
        _ = try album.add(.data(longer))

        // Ten chunks and a node, then one more of each.
        #expect(try album.recordCount() == 13)
    }

    @Test func `undoing a delete brings the data back and writes no chunk`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        let photo = try album.add(.data(image))
        let deletion = try album.store.commit(
            SaveRequest(changes: [try album.store.delete(photo)]))
        let count = try album.recordCount()

        try album.store.commit(
            try album.store.undoRequest(of: try #require(deletion.sequence)))

        #expect(try album.image(photo) == image)
        #expect(try album.recordCount() == count)
        #expect(try album.verify().isSound)
    }

    @Test func `a reference to bytes that the store does not have is refused`() throws {
        let album = try Album()
        let data = LargeData(Data.noise(100_000)).detached

        let error = #expect(throws: StoreError.self) { try album.add(.large(data)) }

        #expect(error?.code == .noSuchData)
        #expect(try album.store.head() == SequenceNumber(1))
    }

    @Test func `data of another store are copied into this one`() throws {
        let (album, other) = (try Album(), try Album())
        let image = Data.noise(500_000)
        let photo = try other.add(.data(image))
        guard case .large(let data) = try other.stored(photo) else {
            Issue.record("The image is not kept by reference.")
            return
        }

        let copy = try album.add(.large(data.attached(to: other.store)))

        #expect(try album.image(copy) == image)
        #expect(try album.verify().isSound)
    }

    @Test func `folding the journal again keeps the chunks and gives the same tables`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        let photo = try album.add(.data(image))
        let tables = try album.store.projectionDigest()

        try album.store.rebuild()

        #expect(try album.store.projectionDigest() == tables)
        #expect(try album.image(photo) == image)
    }

    @Test func `an entry loaded from another store has the same digest and brings its data`() throws
    {
        let album = try Album()
        let image = Data.noise(300_000)
        let photo = try album.add(.data(image))
        let store = album.store
        let copy = try TestStore.create(
            at: album.temporary.folder.appending(path: "copy").path,
            loading: try store.entry(SequenceNumber(1)), options: .counting())

        let result = try copy.append(
            exported: try store.entry(SequenceNumber(2)), withDataOf: store)

        #expect(try result.digest == store.headDigest())
        #expect(try copy.row(of: photo, at: nil) == store.row(of: photo, at: nil))
        #expect(try copy.data(of: LargeData(image).detached) == image)
    }

    @Test func `user values hold their bytes themselves`() throws {
        let album = try Album()
        let bytes = Data.noise(100_000)

        try album.store.setUserValues(["a": .data(bytes), "b": .large(LargeData(bytes))])

        #expect(try album.store.userValues() == ["a": .data(bytes), "b": .data(bytes)])
        #expect(try album.store.hasLargeData() == false)
    }

    @Test(.ownStores("The other process does not have the server, which is in this one."))
    func `another program's first large data can be read by one that opened the store before`()
        async throws
    {
        let album = try Album()
        #expect(try album.store.hasLargeData() == false)

        await #expect(processExitsWith: .success) { [path = album.temporary.path as String] in
            let store = try TestStore.open(at: path)
            let photo = ObjectID(entity: EntityNumber(rawValue: 1), number: 7)
            try store.commit(
                SaveRequest(changes: [store.insert(photo, ["image": .data(.noise(300_000))])]))
            try store.close()
        }

        let photo = ObjectID(entity: EntityNumber(rawValue: 1), number: 7)
        #expect(try album.image(photo) == .noise(300_000))
        let mine = try album.add(.data(.noise(300_000)))
        #expect(try album.image(mine) == .noise(300_000))
        #expect(try album.recordCount() == Data.noise(300_000).chunkKeys.count)
    }

    @Test func `a store opened for reading only reads them`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        let photo = try album.add(.data(image))
        try album.store.close()

        let store = try TestStore.open(
            at: album.temporary.path, options: StoreOptions(isReadOnly: true))

        guard
            case .large(let data)? = try store.row(of: photo, at: nil)?.values.first(where: {
                $0.dataCount == image.count
            })
        else {
            Issue.record("There is no large data.")
            return
        }
        #expect(try data.attached(to: store).data() == image)
    }
}
