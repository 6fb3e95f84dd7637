import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookLMDB
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

private final class Photo: ManagedObject {
    @Attribute var title: String = ""
    @Attribute var image: Data?
    @Attribute var thumbnail: Data = Data()
    @Attribute var scan: LargeData?
    @Attribute var tags: [String] = []
}

@Suite struct LargeDataPropertyTests {
    private static func noise(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        var data = Data(capacity: count + 8)
        while data.count < count {
            withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) }
        }
        return Data(data.prefix(count))
    }

    private func photo(_ title: String, in context: ManagedObjectContext) throws -> Photo {
        let request = FetchRequest<Photo>(where: \Photo.title == title)
        return try #require(try context.fetch(request).first)
    }

    @Test func `a property of type Data has the bytes, before and after a save and elsewhere`()
        throws
    {
        let store = try ClassStore([Photo.self])
        let image = Self.noise(300_000)
        try store.inContext { context in
            let photo = Photo(context: context)
            photo.title = "Dawn"
            photo.image = image
            photo.thumbnail = image
            #expect(photo.image == image)
            try context.save()
            #expect(photo.image == image)
            #expect(!photo.hasChanges)
            photo.image = image
            #expect(!photo.hasChanges)
        }

        try store.inContext { context in
            let photo = try photo("Dawn", in: context)
            #expect(photo.image == image)
            #expect(photo.thumbnail == image)
            #expect(photo.scan == nil)
            #expect(photo.value(forKey: "image") as? Data == image)
            guard case .large(let data) = photo.storedValue(forKey: "image") else {
                Issue.record("The image is not kept by reference.")
                return
            }
            #expect(data == LargeData(image))
            #expect(try data.bytes(in: 5..<70_000) == image[5..<70_000])
            photo.image = nil
            #expect(photo.committedValues()["image"] as? Data == image)
            #expect(photo.changedValuesForCurrentEvent()["image"] as? Data == image)
            context.undo()
            #expect(photo.image == image)
        }
    }

    @Test(arguments: [0, 10, 65_536, 65_537, 300_000])
    func `a property of type LargeData has bytes of any number`(count: Int) throws {
        let store = try ClassStore([Photo.self])
        let bytes = Self.noise(count)
        try store.inContext { context in
            let photo = Photo(context: context)
            photo.title = "Dawn"
            photo.scan = LargeData(bytes)
            try context.save()
        }

        try store.inContext { context in
            let photo = try photo("Dawn", in: context)
            #expect(photo.scan == LargeData(bytes))
            #expect(try photo.scan?.data() == bytes)
            #expect(photo.value(forKey: "scan") as? LargeData == LargeData(bytes))
        }
    }

    @Test func `fetching reads no bytes, and what is damaged leaves the rest readable`() throws {
        let store = try ClassStore([Photo.self])
        try store.inContext { context in
            for number in 0..<50 {
                let photo = Photo(context: context)
                photo.title = "\(number)"
                photo.image = Self.noise(100_000, seed: UInt64(number))
            }
            try context.save()
        }
        let table = try #require(try store.store.store.chunkTable()?.table)
        // All chunks of the first photo are gone.
        let gone = LargeData(Self.noise(100_000, seed: 0))
        try store.store.store.writing { transaction in
            let key = ChunkTable.bytes(of: gone.top)
            _ = try transaction.delete(table, key.span.bytes)
        }

        try store.inContext { context in
            var errors: [StoreError] = []
            context.inaccessibleFaultHandler = { _, error in
                if let error = error as? StoreError { errors.append(error) }
            }
            let photos = try context.fetch(FetchRequest<Photo>())
            #expect(photos.count == 50)
            #expect(errors.isEmpty)
            let damaged = try photo("0", in: context)
            #expect(damaged.title == "0")
            #expect(damaged.image == nil)
            let error = try #require(errors.first)
            #expect(error.code == .noSuchData)
            #expect(error.message.hasPrefix("'\(damaged.objectID).image' cannot be read."))
            #expect(throws: StoreError.self) { try damaged.willAccessValue(forKey: "image") }
            #expect(try photo("7", in: context).image == Self.noise(100_000, seed: 7))
        }
    }

    @Test func `a context in the past reads the bytes of then, and undo brings them back`() throws {
        let store = try ClassStore([Photo.self])
        let (dawn, dusk) = (Self.noise(200_000, seed: 1), Self.noise(200_000, seed: 2))
        try store.inContext { context in
            let photo = Photo(context: context)
            photo.title = "Light"
            photo.image = dawn
            try context.save()
            photo.image = dusk
            try context.save()
            context.delete(photo)
            try context.save()
        }
        let count = try store.store.store.statistics().tables.first { $0.name == "chunks" }?.records

        let past = try store.container.context(at: .sequence(SequenceNumber(2)))
        try past.performAndWait { () throws in #expect(try photo("Light", in: past).image == dawn) }
        try store.container.undo(SequenceNumber(4))
        try store.inContext { context in
            let photo = try photo("Light", in: context)
            #expect(photo.image == dusk)
        }
        try store.container.undo(SequenceNumber(3))
        try store.inContext { context in
            let photo = try photo("Light", in: context)
            #expect(photo.image == dawn)
            let history = try context.history(of: photo.objectID)
            let change = try #require(
                history.flatMap(\.changes).first { $0.name == "image" && $0.new.dataCount != nil })
            guard case .large(let data) = change.new else {
                Issue.record("The history has no reference.")
                return
            }
            #expect(try data.data() == dawn)
        }
        #expect(count == 10)
        #expect(
            try store.store.store.statistics().tables.first { $0.name == "chunks" }?.records
                == count)
    }

    @Test func `a child context hands the bytes up, and a conflict shows references`() throws {
        let store = try ClassStore([Photo.self])
        let (dawn, dusk, noon) = (
            Self.noise(200_000, seed: 1), Self.noise(200_000, seed: 2), Self.noise(200_000, seed: 3)
        )
        try store.inContext { context in
            let photo = Photo(context: context)
            photo.title = "Light"
            photo.image = dawn
            try context.save()
        }

        let context = store.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let mine = try photo("Light", in: context)
            mine.image = dusk
        }
        try store.inContext { parent in
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                try photo("Light", in: child).image = noon
                try child.save()
            }
            #expect(try photo("Light", in: parent).image == noon)
            try parent.save()
        }
        let error = try context.performAndWait {
            try #require(throws: StoreError.self) { try context.save() }
        }
        let conflict = try #require(error.conflicts.first)
        guard case .large(let theirs) = conflict.theirs else {
            Issue.record("The conflict has \(conflict.theirs).")
            return
        }
        #expect(theirs == LargeData(noon))
        #expect(try store.store.largeData(theirs).data() == noon)
        #expect(error.message.count < 1_000)
    }

    @Test func `predicates compare whole values`() throws {
        let store = try ClassStore([Photo.self])
        let (dawn, dusk) = (Self.noise(200_000, seed: 1), Self.noise(200_000, seed: 2))
        try store.inContext { context in
            for (title, image) in [("Dawn", dawn as Data?), ("Dusk", dusk), ("None", nil)] {
                let photo = Photo(context: context)
                photo.title = title
                photo.image = image
            }
            try context.save()

            func titles(_ filter: Condition<Photo>) throws -> [String] {
                try context.fetch(FetchRequest<Photo>(where: filter)).map(\.title).sorted()
            }
            #expect(try titles(\Photo.image == dawn) == ["Dawn"])
            #expect(try titles(\Photo.image != dawn) == ["Dusk", "None"])
            #expect(try titles(\Photo.image == nil) == ["None"])
            #expect(try titles(\Photo.image == Self.noise(100_000)) == [])
        }
    }

    @Test func `a file goes in and out without being held in memory`() async throws {
        let store = try ClassStore([Photo.self])
        let bytes = Self.noise(3_000_000)
        let (source, target) = (
            store.folder.url.appending(path: "in"), store.folder.url.appending(path: "out")
        )
        try bytes.write(to: source)
        try Data().write(to: target)
        try store.inContext { context in
            let photo = Photo(context: context)
            photo.title = "Scan"
            photo.scan = try context.importData(contentsOf: source)
            try context.save()
        }

        try store.inContext { context in
            let photo = try photo("Scan", in: context)
            #expect(photo.scan?.count == 3_000_000)
            let file = try FileHandle(forWritingTo: target)
            try photo.scan?.copy(to: file)
            try file.close()
        }
        #expect(try Data(contentsOf: target) == bytes)
        let pieces = AsyncStream<Data> { stream in
            for start in stride(from: 0, to: bytes.count, by: 70_001) {
                stream.yield(bytes[start..<min(start + 70_001, bytes.count)])
            }
            stream.finish()
        }
        #expect(try await store.store.importData(pieces) == LargeData(bytes))
        #expect(throws: (any Error).self) {
            try store.store.importData(contentsOf: store.folder.url.appending(path: "none"))
        }
    }

    @Test func `a store in memory keeps large data, too`() throws {
        let container = try TestContainer.make(inMemory: [Photo.self])
        let image = Self.noise(300_000)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let photo = Photo(context: context)
            photo.title = "Dawn"
            photo.image = image
            try context.save()
        }

        let other = container.newBackgroundContext()
        try other.performAndWait { () throws in #expect(try photo("Dawn", in: other).image == image)
        }
    }

    @Test func `coded values of any length stay in the record`() throws {
        let store = try ClassStore([Photo.self])
        let tags = (0..<20_000).map { "tag \($0)" }
        try store.inContext { context in
            let photo = Photo(context: context)
            photo.title = "Tagged"
            photo.tags = tags
            try context.save()
        }

        try store.inContext { context in
            let photo = try photo("Tagged", in: context)
            #expect(photo.tags == tags)
        }
        #expect(try store.store.store.hasLargeData() == false)
    }
}
