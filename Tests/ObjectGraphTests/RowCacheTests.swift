import JournalLog
import ObjectModel
import TestSupport
import Testing

@testable import ObjectGraph
@testable import SnapshotStore

@Suite struct RowCacheTests {
    private let cache = RowCache()
    private let held = GraphID(
        store: 1, object: ObjectID(entity: EntityNumber(rawValue: 1), number: 1))

    /// Has the cache hold a row, abreast with entry 1.
    private func holdRow() throws {
        save(1)
        var encoder = RowEncoder()
        let nothing: [UInt8] = []
        encoder.encode(
            since: SequenceNumber(rawValue: 1), new: [], from: nothing.span.bytes, parts: 1)
        cache.hold(try PackedRow(encoder.bytes), of: held, cache.ticket(), isNewHolder: true)
    }

    /// Rows of six neighbours as a fetch reads them, the first of which is ``held``.
    private func batch() throws -> RowBatch {
        var encoder = RowEncoder()
        var collector = RowCollector()
        let nothing: [UInt8] = []
        for number in 1...6 as ClosedRange<UInt64> {
            encoder.encode(
                since: SequenceNumber(rawValue: number), new: [], from: nothing.span.bytes,
                parts: 1)
            collector.append(
                ObjectID(entity: EntityNumber(rawValue: 1), number: number),
                encoder.bytes.span.bytes)
        }
        return RowBatch(collector.take(), in: 1, for: cache)
    }

    private func since(_ number: UInt64) -> UInt64? {
        let id = GraphID(
            store: 1, object: ObjectID(entity: EntityNumber(rawValue: 1), number: number))
        return cache.row(id, within: -1, isHeld: false)?.since.rawValue
    }

    private func save(_ number: UInt64) {
        cache.beginSaving()
        end(number)
    }

    private func end(_ number: UInt64) {
        cache.endSaving(SequenceNumber(rawValue: number), of: [], in: 1)
    }

    private var isServed: Bool { cache.row(held, within: -1, isHeld: false) != nil }

    @Test func `saves that end in another order than that of their entries leave rows alone`()
        throws
    {
        try holdRow()
        cache.beginSaving()
        cache.beginSaving()
        cache.beginSaving()

        end(4)
        end(2)
        end(3)

        #expect(isServed)
        save(5)
        #expect(isServed)
    }

    @Test func `rows that were read together are served as long as somebody holds them`() throws {
        var batch: RowBatch? = try batch()
        batch.map { cache.hold($0, cache.ticket()) }
        #expect((1...7).map { since($0) } == [1, 2, 3, 4, 5, 6, nil])

        batch = nil

        #expect((1...7).allSatisfy { since($0) == nil })
    }

    @Test func `of rows that were read together the one that was saved is served no more`() throws {
        let batch = try batch()
        cache.hold(batch, cache.ticket())

        cache.forget(held)

        #expect((1...6).map { since($0) } == [nil, 2, 3, 4, 5, 6])
        cache.forgetAll(of: 2)
        #expect(since(2) == 2)
        cache.forgetAll(of: 1)
        #expect((1...6).allSatisfy { since($0) == nil })
        withExtendedLifetime(batch) {}
    }

    @Test func `rows that were read together before a save are not taken in after it`() throws {
        let batch = try batch()
        let ticket = cache.ticket()
        save(1)

        cache.hold(batch, ticket)

        #expect(!isServed)
        withExtendedLifetime(batch) {}
    }

    @Test func `an older batch that goes leaves the newer one that took its place`() throws {
        var older: RowBatch? = try batch()
        older.map { cache.hold($0, cache.ticket()) }
        let newer = try batch()
        cache.hold(newer, cache.ticket())

        older = nil

        #expect(since(6) == 6)
        withExtendedLifetime(newer) {}
    }

    @Test func `who is served a row of a batch may hold it when the batch has gone`() throws {
        var batch: RowBatch? = try batch()
        batch.map { cache.hold($0, cache.ticket()) }
        #expect(cache.row(held, within: -1, isHeld: true) != nil)

        batch = nil

        #expect(since(1) == 1)
        #expect(since(2) == nil)
        cache.release(held)
        #expect(since(1) == nil)
    }

    @Test func `what a fetch reads takes the place of older rows that are held one by one`() throws
    {
        try holdRow()
        cache.forget(held)
        #expect(!isServed)
        let batch = try batch()

        cache.hold(batch, cache.ticket())

        #expect(isServed)
        withExtendedLifetime(batch) {}
    }

    @Test func `nothing is served while a save is under way`() throws {
        try holdRow()
        cache.beginSaving()
        cache.beginSaving()

        end(3)

        #expect(!isServed)
    }

    @Test func `an entry from elsewhere between those of two saves empties the cache`() throws {
        try holdRow()
        cache.beginSaving()
        cache.beginSaving()

        end(4)
        end(2)

        #expect(!isServed)
    }

    @Test func `an entry from elsewhere before that of a save empties the cache`() throws {
        try holdRow()

        save(3)

        #expect(!isServed)
    }
}
