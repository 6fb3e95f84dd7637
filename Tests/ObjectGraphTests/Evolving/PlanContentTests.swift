import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// An album whose plan derives attributes, derives them from something else, and moves large data.
private enum AlbumV1: VersionedSchema {
    static let models: [ManagedObject.Type] = [Album.self, Photo.self]

    final class Album: ManagedObject {
        @Attribute var title: String = ""
        @Relationship(inverse: \Photo.album) var photos: Set<Photo>
    }

    final class Photo: ManagedObject {
        @Attribute var image: Data?
        @Attribute var stars: Int = 0
        @Relationship var album: Album?
    }
}

/// Derived attributes are new.
private enum AlbumV2: VersionedSchema {
    static let models: [ManagedObject.Type] = [Album.self, Photo.self]

    final class Album: ManagedObject {
        @Attribute var title: String = ""
        @Attribute(.derived("photos.@count")) private(set) var total: Int = 0
        @Attribute([.derived("canonical:(title)"), .indexed]) private(set) var sortTitle: String?
        @Relationship(inverse: \Photo.album) var photos: Set<Photo>
    }

    final class Photo: ManagedObject {
        @Attribute var image: Data?
        @Attribute var stars: Int = 0
        @Relationship var album: Album?
    }
}

/// The total is of something else, by a custom stage that makes photos, and gives the images another
/// name.
private enum AlbumV3: VersionedSchema {
    static let models: [ManagedObject.Type] = [Album.self, Photo.self]

    final class Album: ManagedObject {
        @Attribute var title: String = ""
        @Attribute(.derived("photos.stars.@sum")) private(set) var total: Int = 0
        @Attribute([.derived("canonical:(title)"), .indexed]) private(set) var sortTitle: String?
        @Relationship(inverse: \Photo.album) var photos: Set<Photo>
    }

    final class Photo: ManagedObject {
        @Attribute(.renamed("image")) var picture: LargeData?
        @Attribute var preview: Data?
        @Attribute var stars: Int = 0
        @Relationship var album: Album?
    }
}

private enum AlbumPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [AlbumV1.self, AlbumV2.self, AlbumV3.self]

    static let stages: [MigrationStage] = [
        .lightweight(fromVersion: AlbumV1.self, toVersion: AlbumV2.self),
        .custom(fromVersion: AlbumV2.self, toVersion: AlbumV3.self) { old, new in
            for photo in try old.fetch(FetchRequest<AlbumV2.Photo>()) {
                let same = new.object(with: photo.objectID) as? AlbumV3.Photo
                same?.preview = photo.image.map { Data($0.reversed()) }
            }
            for album in try new.fetch(FetchRequest<AlbumV3.Album>()) {
                let cover = AlbumV3.Photo(context: new)
                cover.stars = 10
                cover.album = album
            }
        },
    ]
}

/// Plans together with derived attributes and large data.
@Suite struct PlanContentTests {
    private static let image = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 97) })

    private func makeAlbums(at url: URL) throws {
        let container = try TestContainer.make(url, model: AlbumV1.models)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            for (title, stars) in [("Été", [3, 4]), ("Winter", [])] {
                let album = AlbumV1.Album(context: context)
                album.title = title
                for count in stars {
                    let photo = AlbumV1.Photo(context: context)
                    photo.stars = count
                    photo.image = Self.image
                    photo.album = album
                }
            }
            try context.save()
        }
        try close(container)
    }

    private func close(_ container: PersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test
    func `a plan derives attributes anew and keeps large data, and is undone with both`()
        throws
    {
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(path: "albums.daybook")
        try makeAlbums(at: url)

        let container = try TestContainer.make(url, migrationPlan: AlbumPlan.self)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let albums = try context.fetch(FetchRequest<AlbumV3.Album>())
            let totals = Dictionary(uniqueKeysWithValues: albums.map { ($0.title, $0.total) })
            #expect(totals == ["Été": 17, "Winter": 10])
            #expect(albums.compactMap(\.sortTitle).sorted() == ["ete", "winter"])
            let photos = try context.fetch(FetchRequest<AlbumV3.Photo>())
            let pictures = try photos.compactMap { try $0.picture?.data() }
            #expect(pictures == [Self.image, Self.image])
            let previews = photos.compactMap(\.preview)
            let mirrored = Data(Self.image.reversed())
            #expect(previews == [mirrored, mirrored])
        }
        try close(container)
        let report = try Store.verify(path: url.path)
        #expect(report.isSound, "\(report.findings)")

        try expectHistory(at: url)
    }

    /// What was derived and kept before each stage, and what undoing the last one leaves.
    private func expectHistory(at url: URL) throws {
        let store = try TestStore.open(at: url.path)
        let head = try store.head()
        #expect(head == SequenceNumber(4))
        let album = try #require(store.schema.entity(named: "Album"))
        let total = try #require(album.property(named: "total"))
        func totals(at sequence: SequenceNumber?) throws -> [Value] {
            try store.read(at: sequence) { snapshot in
                try snapshot.fetch(Query(album)).map { try snapshot.value(of: total, in: $0) }
            }
        }
        #expect(Set(try totals(at: SequenceNumber(2))) == [.int(0)])
        #expect(Set(try totals(at: SequenceNumber(3))) == [.int(2), .int(0)])
        #expect(Set(try totals(at: head)) == [.int(17), .int(10)])

        try store.commit(try store.undoRequest(of: head))
        try store.close()

        let container = try TestContainer.make(url, model: AlbumV2.models)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let albums = try context.fetch(FetchRequest<AlbumV2.Album>())
            let totals = Dictionary(uniqueKeysWithValues: albums.map { ($0.title, $0.total) })
            #expect(totals == ["Été": 2, "Winter": 0])
            let photos = try context.fetch(FetchRequest<AlbumV2.Photo>())
            #expect(photos.map(\.image) == [Self.image, Self.image])
        }
        try close(container)
        #expect(try Store.verify(path: url.path).isSound)
    }
}
