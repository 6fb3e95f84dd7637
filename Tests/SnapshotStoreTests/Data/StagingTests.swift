import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

@Suite struct StagingTests {
    private static func stage(
        _ data: Data, in store: Store, pieces: [Int] = [1_000_000]
    ) throws -> LargeData {
        var staging = DataStaging(in: store)
        var rest = data
        var sizes = pieces
        while !rest.isEmpty {
            let size = sizes.removeFirst()
            sizes.append(size)
            try staging.append(Data(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return try staging.finish()
    }

    @Test func `a reference with another number of bytes than its digest has is refused`() throws {
        let album = try Album()
        let image = LargeData(Data.noise(200_000))
        _ = try album.add(.large(image))

        let wrong = LargeData(count: 70_000, digest: image.digest)
        let error = #expect(throws: StoreError.self) { try album.add(.large(wrong)) }

        #expect(error?.code == .noSuchData)
        _ = try album.add(.large(LargeData(count: 200_000, digest: image.digest)))
        #expect(try album.verify().isSound)
    }

    @Test(arguments: [0, 1, 65_520, 65_536, 65_537, 131_040, 131_041, 20_000_000])
    func `bytes that come in pieces are the same data as all at once`(count: Int) throws {
        let album = try Album()
        let image = Data.noise(count)

        let data = try Self.stage(
            image, in: album.store, pieces: [1, 65_520, 7, 65_536, 3_000_000, 100_000])

        #expect(data == LargeData(image))
        #expect(try data.data() == image)
        #expect(try album.recordCount() == (count > 65_536 ? image.chunkKeys.count : 0))
        let photo = try album.add(count > 65_536 ? .large(data) : .data(try data.data()))
        #expect(try album.image(photo) == image)
        #expect(try album.verify().isSound)
    }

    @Test func `bytes that come one by one are the same data`() throws {
        let album = try Album()
        let image = Data.noise(140_000)

        let data = try Self.stage(image, in: album.store, pieces: [1])

        #expect(data == LargeData(image))
        #expect(try data.data() == image)
    }

    @Test func `a sweep removes what no entry refers to and nothing else`() throws {
        let album = try Album()
        let kept = Data.noise(5 * 65_520)
        let past = Data.noise(5 * 65_520, seed: 2)
        let photo = try album.add(.data(kept))
        try album.replace(photo, with: .data(past))
        try album.replace(photo, with: .null)
        // Shares five chunks with what is kept.
        _ = try Self.stage(kept + Data.noise(3 * 65_520, seed: 3), in: album.store)
        let count = try album.recordCount()

        let sweep = try album.store.sweep()

        #expect(count == 6 + 6 + 4)
        #expect(sweep == DataSweep(records: 4, bytes: 3 * 65_520 + 8 * 32))
        #expect(try album.recordCount() == 12)
        #expect(try album.image(photo, at: SequenceNumber(2)) == kept)
        #expect(try album.image(photo, at: SequenceNumber(3)) == past)
        #expect(try album.store.sweep() == DataSweep())
        #expect(try album.verify().isSound)
    }

    @Test(.ownStores("A copy of a shared store has a mark beside it."))
    func `a compacted copy has no chunk that no entry refers to`() throws {
        let album = try Album()
        let kept = Data.noise(300_000)
        let photo = try album.add(.data(kept))
        _ = try Self.stage(Data.noise(5_000_000, seed: 2), in: album.store)
        let path = album.temporary.folder.appending(path: "copy").path

        try album.store.copy(to: path, compacting: true)

        let copy = try TestStore.open(at: path)
        let chunks = try #require(try copy.chunkTable())
        #expect(try copy.reading { try $0.count(chunks.table) } == kept.chunkKeys.count)
        #expect(try copy.row(of: photo, at: nil) == album.store.row(of: photo, at: nil))
        #expect(try copy.data(of: LargeData(kept).detached) == kept)
        #expect(try copy.statistics().fileSize < 2_000_000)
        try copy.close()
        #expect(try Store.verify(path: path).isSound)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: album.temporary.folder.path)
                .sorted()
                == ["copy", "copy-lock", "test.daybook", "test.daybook-lock"])
    }

    @Test func `data that were swept before they were saved are refused, and a new import helps`()
        throws
    {
        let album = try Album()
        let image = Data.noise(300_000)
        let data = try Self.stage(image, in: album.store)
        _ = try album.store.sweep()

        let error = #expect(throws: StoreError.self) { try album.add(.large(data)) }

        #expect(error?.code == .noSuchData)
        let photo = try album.add(.large(try Self.stage(image, in: album.store)))
        #expect(try album.image(photo) == image)
    }

    @Test func `an import during which the store is swept fails and leaves no half of it`() throws {
        let album = try Album()
        let image = Data.noise(20_000_000)
        var staging = DataStaging(in: album.store)
        try staging.append(image.prefix(15_000_000))
        #expect(try album.recordCount() > 0)
        _ = try album.store.sweep()
        try staging.append(Data(image.dropFirst(15_000_000)))

        let error = #expect(throws: StoreError.self) { try staging.finish() }

        #expect(error?.code == .noSuchData)
        let top = LargeData(image).top
        let chunks = try #require(try album.store.chunkTable())
        #expect(try !album.store.reading { try chunks.contains(top, in: $0) })
    }

    @Test func `a sweep of a store whose journal is damaged removes nothing`() throws {
        let album = try Album()
        let image = Data.noise(300_000)
        _ = try album.add(.data(image))
        let count = try album.recordCount()
        try album.damage(image.chunkKeys[5]) { bytes in bytes.dropLast() }

        let error = #expect(throws: StoreError.self) { try album.store.sweep() }

        #expect(error?.code == .corrupt)
        #expect(try album.recordCount() == count)
    }

    @Test func `300 MB go in and out in little memory`() async throws {
        await #expect(processExitsWith: .success) {
            let album = try Album()
            let piece = Data.noise(1_000_000)
            var staging = DataStaging(in: album.store)
            let before = Memory.anonymousBytes()
            var greatest = before
            for number in 0..<300 {
                var bytes = piece
                bytes[0] = UInt8(truncatingIfNeeded: number)
                bytes[1] = UInt8(truncatingIfNeeded: number >> 8)
                try staging.append(bytes)
                greatest = max(greatest, Memory.anonymousBytes())
            }
            let photo = try album.add(.large(try staging.finish()))
            guard case .large(let data) = try album.stored(photo) else { preconditionFailure() }
            precondition(data.count == 300_000_000)
            var read = 0
            try data.attached(to: album.store).forEachPiece(of: 0..<data.count) { bytes in
                read += bytes.count
                greatest = max(greatest, Memory.anonymousBytes())
            }
            precondition(read == data.count)
            precondition(greatest - before < 100 << 20, "\(greatest - before) bytes were needed.")
            try album.store.close()
            try FileManager.default.removeItem(at: album.temporary.folder)
        }
    }
}

enum Memory {
    /// The memory that is the process's own; pages of the file's map are the system's to take back.
    static func anonymousBytes() -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
            let number = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
        else { preconditionFailure("The system does not say how much memory the process has.") }
        return number << 10
    }
}
