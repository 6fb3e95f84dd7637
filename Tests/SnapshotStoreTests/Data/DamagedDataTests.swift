import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

@Suite struct DamagedDataTests {
    enum Damage: CaseIterable {
        case flipped, shortened, missing

        func apply(_ bytes: [UInt8]) -> [UInt8]? {
            var bytes = bytes
            switch self {
            case .flipped: bytes[bytes.count / 2] ^= 1
            case .shortened: bytes.removeLast()
            case .missing: return nil
            }
            return bytes
        }
    }

    @Test(arguments: Damage.allCases, [0, 2, 4, 5])
    func `damage to a chunk or a node is found where it is read and by a check, which names it`(
        damage: Damage, record: Int
    ) throws {
        let album = try Album()
        let (image, other) = (Data.noise(300_000, seed: 1), Data.noise(300_000, seed: 2))
        let photo = try album.add(.data(image), title: "Dawn")
        let sound = try album.add(.data(other))
        let keys = image.chunkKeys
        #expect(keys.count == 6)

        try album.damage(keys[record]) { damage.apply($0) }

        let error = #expect(throws: StoreError.self) { try album.image(photo) }
        #expect(error?.code == (record == 5 && damage == .missing ? .noSuchData : .corrupt))
        #expect(try album.image(sound) == other)
        #expect(try album.store.row(of: photo, at: nil)?.values.contains(.string("Dawn")) == true)
        let report = try album.verify()
        #expect(report.findings.map(\.kind) == [.data])
        #expect(report.findings.first?.place == "'image' of Photo/\(photo.number), entry 2")
    }

    @Test func `what is not damaged of the data can be read`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        let photo = try album.add(.data(image))
        guard case .large(let data) = try album.stored(photo) else {
            Issue.record("The image is not kept by reference.")
            return
        }

        try album.damage(image.chunkKeys[2]) { Damage.flipped.apply($0) }

        let attached = data.attached(to: album.store)
        #expect(try attached.bytes(in: 0..<131_040) == image[0..<131_040])
        #expect(try attached.bytes(in: 196_560..<300_000) == image[196_560..<300_000])
        #expect(throws: StoreError.self) { try attached.bytes(in: 131_040..<131_041) }
    }

    @Test func `a damaged chunk that no entry refers to is a finding, too`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        var staging = DataStaging(in: album.store)
        try staging.append(image)
        _ = try staging.finish()

        try album.damage(image.chunkKeys[1]) { Damage.flipped.apply($0) }

        let report = try album.verify()
        #expect(report.findings.map(\.kind) == [.data])
        #expect(report.findings.first?.message.contains("which no entry refers to") == true)
    }

    @Test(arguments: Damage.allCases, [0, 2, 4, 5])
    func `importing or saving the same bytes again mends what is damaged`(
        damage: Damage, record: Int
    ) throws {
        for isImported in [true, false] {
            let album = try Album()
            let image = Data.noise(300_000)
            let photo = try album.add(.data(image), title: "Dawn")
            try album.damage(image.chunkKeys[record]) { damage.apply($0) }
            #expect(throws: StoreError.self) { try album.image(photo) }

            if isImported {
                var staging = DataStaging(in: album.store)
                try staging.append(image)
                _ = try staging.finish()
            } else {
                _ = try album.add(.large(LargeData(image)), title: "Copy")
            }

            #expect(try album.image(photo) == image)
            #expect(try album.verify().isSound)
        }
    }

    @Test func `the first large data, saved while a check begins, are not missing to it`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        var saved: Result<ObjectID, any Error>?

        let report = try album.store.verify { step, _ in
            guard step == "journal", saved == nil else { return }
            saved = Result { try album.add(.data(image)) }
        }

        let photo = try #require(try saved?.get())
        #expect(report.isSound, "\(report.findings)")
        #expect(report.head == SequenceNumber(2))
        #expect(try album.image(photo) == image)
    }

    @Test func `a wrong number of bytes in a reference is found`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        _ = try album.add(.data(image))
        let data = LargeData(image)

        // The digest is there, so only reading and checking can tell. No save makes such an entry.
        let photo = try album.store.newObject("Photo")
        let wrong = Value.large(LargeData(count: 299_999, digest: data.digest))
        let forged = album.store.insert(photo, ["image": wrong])
        try album.store.forge([forged])

        #expect(throws: StoreError.self) { try album.image(photo) }
        #expect(try album.verify().findings.map(\.kind) == [.data])
    }
}
