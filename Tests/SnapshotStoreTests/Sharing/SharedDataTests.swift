import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Large data in values of shared stores: their bytes go to the servers before an entry refers to them, and come into a
/// file before the entry does.
@Suite struct SharedDataTests {
    let server = ScriptedServer()
    let ada: SharedNode
    let ben: SharedNode

    init() throws {
        ada = try SharedNode.first("ada", of: server, model: Album.model)
        ben = try SharedNode.clone("ben", of: server)
    }

    /// As many chunks as are sent in three parts, and a few bytes more.
    private static let longCount = 2 * SharedRecord.countMaximum * ChunkTree.chunkBytes + 100_000

    @Test(arguments: [65_537, 131_040, 131_041, 1_000_000, longCount])
    func `what one node saves, another reads`(count: Int) throws {
        let image = Data.noise(count)

        let photo = try ada.add(image)
        try ben.store.pull()

        #expect(try ben.image(photo) == image)
        #expect(Set(server.records.keys) == Set(image.chunkKeys))
        #expect(try ben.tables() == ada.tables())
        for node in [ada, ben] { #expect(try node.store.verify().isSound) }
        #expect(try ben.store.compareWithShared().differences == [])
        #expect(try !ada.journal.hasOverlaps)
    }

    @Test func `bytes that are alike are sent and fetched once, within a value and across values`()
        throws
    {
        let zeros = Data(count: 80 * ChunkTree.chunkBytes)
        let photo = try ada.add(zeros)
        #expect(server.records.count == 2)
        #expect(try ada.journal.kept.count == 2)

        let other = try ada.add(zeros, title: "Another")
        #expect(try ada.journal.kept.count == 2)

        try ben.store.pull()
        #expect(try ben.journal.fetched.count == 2)
        for photo in [photo, other] { #expect(try ben.image(photo) == zeros) }
    }

    @Test func `of data that are nearly alike only what differs is sent`() throws {
        var image = Data.noise(Self.longCount)
        try ada.add(image)
        let before = try ada.journal.kept.count
        image[5] ^= 1

        let photo = try ada.add(image, title: "Another")

        // One chunk, and the node above all of them.
        #expect(try ada.journal.kept.count == before + 2)
        try ben.store.pull()
        #expect(try ben.image(photo) == image)
    }

    @Test func `a save that could not send all of it saves nothing, and goes on where it was`()
        throws
    {
        let image = Data.noise(Self.longCount)
        try ada.journal.script = FaultScript(records: [.goesWell, .fails(.unreachable)])

        #expect(code { try ada.add(image) } == .unreachable)
        #expect(server.head.sequence == SequenceNumber(1))
        let sent = server.records.count
        #expect(sent == SharedRecord.countMaximum)

        let photo = try ada.add(image)
        #expect(try ada.journal.kept.count == image.chunkKeys.count + SharedRecord.countMaximum)
        try ben.store.pull()
        #expect(try ben.image(photo) == image)
    }

    @Test func `records that were kept without an answer are not kept twice`() throws {
        let image = Data.noise(200_000)
        try ada.journal.script = FaultScript(records: [.inDoubt(.landed)])

        #expect(code { try ada.add(image) } == .unreachable)
        let photo = try ada.add(image)

        try ben.store.pull()
        #expect(try ben.image(photo) == image)
    }

    @Test func `a save in doubt with large data is settled`() throws {
        let image = Data.noise(200_000)
        for landing in [WriteFault.Landing.landed, .lost] {
            try ada.journal.script = FaultScript(appends: [.inDoubt(landing)])
            let head = server.head.sequence
            let doubt = #expect(throws: StoreError.self) { try ada.add(image) }?.doubt
            #expect(try ada.store.settle(#require(doubt))?.sequence == head.next)
        }
        try ben.store.pull()
        #expect(try ben.tables() == ada.tables())
        #expect(try ben.store.verify().isSound)
    }

    @Test func `bytes that came to a file before they were saved are sent when they are`() throws {
        let image = Data.noise(300_000)
        var staging = DataStaging(in: try ada.store)
        try staging.append(image)
        let data = try staging.finish()
        #expect(server.records.isEmpty)

        let photo = try ada.add(.large(data))

        try ben.store.pull()
        #expect(try ben.image(photo) == image)
    }

    @Test func `a reference to bytes that nobody has is refused before anything is saved`() throws {
        let image = LargeData(Data.noise(200_000))

        #expect(code { try ada.add(.large(image.detached)) } == .noSuchData)
        #expect(server.head.sequence == SequenceNumber(1))
        #expect(server.records.isEmpty)
    }

    @Test func `what comes back was never away`() throws {
        let image = Data.noise(200_000)
        let photo = try ada.add(image)
        try ada.replace(photo, with: .null)
        let kept = try ada.journal.kept.count

        let data = LargeData(image).detached
        try ada.replace(photo, with: .large(data))

        #expect(try ada.journal.kept.count == kept)
        try ben.store.pull()
        #expect(try ben.image(photo) == image)
    }

    // MARK: - Files that are shared later

    @Test func `a store with large data is pushed and cloned`() throws {
        let server = ScriptedServer()
        let eva = try SharedNode.first("eva", of: server, model: Album.model)
        try eva.close()
        let own = try TestStore.open(at: eva.path, options: eva.options(linked: false))
        try own.unlink()
        let image = Data.noise(Self.longCount)
        let photo = try Self.add(.large(LargeData(image)), to: own)
        #expect(server.records.isEmpty)

        try own.push(to: eva.link())
        try own.close()
        let fay = try SharedNode.clone("fay", of: server)

        #expect(try fay.image(photo) == image)
        #expect(try fay.store.verify().isSound)
        #expect(Set(server.records.keys) == Set(image.chunkKeys))
    }

    // MARK: - Servers that lack something

    /// What becomes of a record on the servers.
    enum Damage: CaseIterable, Sendable {
        case missing, changed, cut

        func done(to bytes: [UInt8]) -> [UInt8]? {
            switch self {
            case .missing: nil
            case .changed: [bytes[0] ^ 1] + bytes.dropFirst()
            case .cut: Array(bytes.dropLast())
            }
        }
    }

    @Test(arguments: Damage.allCases, [0, 1])
    func `a node stops before an entry whose data are damaged, and goes on when they are back`(
        _ damage: Damage, level: Int
    ) throws {
        try ada.addEmpty("Before")
        let image = Data.noise(Self.longCount)
        let photo = try ada.add(image)
        try ada.addEmpty("After")
        let key = try #require(image.chunkKeys.last { $0.level == level })
        let good = try #require(server.records[key])
        server.records[key] = damage.done(to: good)

        let error = #expect(throws: StoreError.self) { try ben.store.pull() }

        #expect(error?.code == .quarantined)
        #expect(error?.message.contains("Entry 3 of the shared journal, appended by 'ada'") == true)
        #expect(error?.details.first?.contains("on the servers") == true)
        #expect(try ben.store.head() == SequenceNumber(2))
        #expect(code { try ben.addEmpty("Not saved") } == .quarantined)
        #expect(try ben.store.verify().isSound)
        let differences = try ada.store.compareWithShared().differences
        #expect(differences.map(\.kind) == [.dataOnServers])
        #expect(differences.map(\.sequence) == [SequenceNumber(3)])

        server.records[key] = good
        let come = try ben.journal.fetched.count
        try ben.store.pull()
        #expect(try ben.image(photo) == image)
        #expect(try ben.store.head() == SequenceNumber(4))
        #expect(try ben.tables() == ada.tables())
        // What had come before it stopped was not asked for again: at most the last part, and the node above.
        let again = try ben.journal.fetched.count - come
        #expect(level == 1 || again <= SharedRecord.countMaximum + 2)
    }

    @Test func `an entry that gives a digest another number of bytes stops a node`() throws {
        let image = Data.noise(200_000)
        try ada.add(image)
        try ben.store.pull()
        let forged = LargeData(count: 199_999, digest: LargeData(image).digest)
        let photo = try ada.store.newObject("Photo")
        let insert = try ada.store.insert(photo, ["image": .large(forged)])
        try server.add(EntryPayload.bytes(EntryHeader(author: "quick"), [insert]))

        for node in [ada, ben] {
            #expect(code { try node.store.pull() } == .quarantined)
            #expect(try node.store.head() == SequenceNumber(2))
        }
    }

    @Test(arguments: [66_000, 131_041, 200_001])
    func `an entry whose data have another shape than their length stops a node`(count: Int) throws
    {
        let image = Data.noise(200_000)
        try ada.journal.send(LargeData(image))
        let forged = LargeData(count: count, digest: LargeData(image).digest)
        let photo = try ada.store.newObject("Photo")
        let insert = try ada.store.insert(photo, ["image": .large(forged)])
        try server.add(EntryPayload.bytes(EntryHeader(author: "quick"), [insert]))

        #expect(code { try ben.store.pull() } == .quarantined)
        #expect(try ben.store.head() == SequenceNumber(1))
        #expect(try ben.store.verify().isSound)
    }
}

// MARK: - Photos

extension SharedDataTests {
    fileprivate static func add(
        _ image: Value, title: String = "", to store: Store
    ) throws -> ObjectID {
        let photo = try store.newObject("Photo")
        try store.commit(
            SaveRequest(
                changes: [store.insert(photo, ["image": image, "title": .string(title)])]))
        return photo
    }

    fileprivate static func stored(_ photo: ObjectID, in store: Store) throws -> Value? {
        let slot = store.property("image", of: photo).slot
        return try store.row(of: photo, at: nil).flatMap { row in slot.map { row.values[$0] } }
    }

    fileprivate static func image(_ photo: ObjectID, in store: Store) throws -> Data? {
        guard case .large(let data) = try stored(photo, in: store) else { return nil }
        return try data.attached(to: store).data()
    }
}

extension SharedNode {
    @discardableResult
    fileprivate func add(_ image: Data, title: String = "") throws -> ObjectID {
        try add(.large(LargeData(image)), title: title)
    }

    @discardableResult
    fileprivate func add(_ image: Value, title: String = "") throws -> ObjectID {
        try SharedDataTests.add(image, title: title, to: store)
    }

    /// Adds a photo without an image.
    fileprivate func addEmpty(_ title: String) throws { try add(.null, title: title) }

    fileprivate func image(_ photo: ObjectID) throws -> Data? {
        try SharedDataTests.image(photo, in: store)
    }

    fileprivate func replace(_ photo: ObjectID, with image: Value) throws {
        let store = try store
        let old = try SharedDataTests.stored(photo, in: store) ?? .null
        try store.commit(
            SaveRequest(changes: [store.update(photo, "image", from: old, to: image)]))
    }
}

extension ScriptedJournal {
    /// All records that were to be kept, in order.
    fileprivate var kept: [ChunkKey] {
        calls.flatMap { call -> [ChunkKey] in
            if case .keep(let keys) = call.request { keys } else { [] }
        }
    }

    /// All records that were asked for.
    fileprivate var fetched: [ChunkKey] {
        calls.flatMap { call -> [ChunkKey] in
            if case .records(let keys) = call.request { keys } else { [] }
        }
    }
}
