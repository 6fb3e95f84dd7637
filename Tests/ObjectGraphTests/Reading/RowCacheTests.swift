import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

@Suite struct RowCacheTests {
    private let cache = RowCache()
    private let held = GraphID(
        store: 1, object: ObjectID(entity: EntityNumber(rawValue: 1), number: 1))

    /// Makes the cache hold a row, up to date with entry 1.
    private func holdRow() throws {
        save(1)
        cache.hold(try row(since: 1), of: held, cache.ticket(), isNewHolder: true)
    }

    private func row(since number: UInt64) throws -> EncodedRow {
        var encoder = RowEncoder()
        let nothing: [UInt8] = []
        encoder.encode(
            since: SequenceNumber(rawValue: number), new: [], from: nothing.span.bytes, parts: 1)
        return try EncodedRow(encoder.bytes)
    }

    /// Rows of six neighbours as a fetch reads them, the first of which is ``held``; changed ones
    /// were changed by the entry 100 later.
    private func batch(changed: Set<UInt64> = []) throws -> RowPage {
        var encoder = RowEncoder()
        var collector = RowCollector()
        let nothing: [UInt8] = []
        for number in 1...6 as ClosedRange<UInt64> {
            encoder.encode(
                since: SequenceNumber(rawValue: changed.contains(number) ? number + 100 : number),
                new: [], from: nothing.span.bytes, parts: 1)
            collector.append(
                ObjectID(entity: EntityNumber(rawValue: 1), number: number),
                encoder.bytes.span.bytes)
        }
        return RowPage(collector.take(), in: 1, for: cache)
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
        var batch: RowPage? = try batch()
        batch.map { cache.hold($0, cache.ticket()) }
        #expect((1...7).map { since($0) } == [1, 2, 3, 4, 5, 6, nil])

        batch = nil

        #expect((1...7).allSatisfy { since($0) == nil })
    }

    @Test func `of rows that were read together the one that was saved is no longer served`() throws
    {
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

    @Test func `a store that a backup has replaced is followed from its own last entry`()
        throws
    {
        cache.learn(of: SequenceNumber(rawValue: 120), in: 1)
        cache.forgetAll(of: 1)
        cache.learn(of: SequenceNumber(rawValue: 60), in: 1)
        cache.hold(try row(since: 50), of: held, cache.ticket(), isNewHolder: true)
        #expect(isServed)

        cache.learn(of: SequenceNumber(rawValue: 61), in: 1)

        #expect(!isServed)
    }

    @Test func `an older batch that goes leaves the newer one that replaced it`() throws {
        var older: RowPage? = try batch()
        older.map { cache.hold($0, cache.ticket()) }
        let newer = try batch()
        cache.hold(newer, cache.ticket())

        older = nil

        #expect(since(6) == 6)
        withExtendedLifetime(newer) {}
    }

    @Test func `a newer batch that goes leaves the older one that is still held`() throws {
        let older = try batch()
        cache.hold(older, cache.ticket())
        var newer: RowPage? = try batch()
        newer.map { cache.hold($0, cache.ticket()) }

        newer = nil

        #expect((1...6).map { since($0) } == [1, 2, 3, 4, 5, 6])
        withExtendedLifetime(older) {}
    }

    @Test func `of several batches the newest serves, and the others only what it has as well`()
        throws
    {
        let older = try batch()
        cache.hold(older, cache.ticket())
        var newer: RowPage? = try batch(changed: [2, 5])
        newer.map { cache.hold($0, cache.ticket()) }
        #expect((1...6).map { since($0) } == [1, 102, 3, 4, 105, 6])

        newer = nil

        #expect((1...6).map { since($0) } == [1, nil, 3, 4, nil, 6])
        withExtendedLifetime(older) {}
    }

    @Test func `a row that was saved is served by none of several batches`() throws {
        let batches = [try batch(), try batch()]
        for batch in batches { cache.hold(batch, cache.ticket()) }

        cache.forget(held)

        #expect((1...6).map { since($0) } == [nil, 2, 3, 4, 5, 6])
        cache.forgetAll(of: 1)
        #expect((1...6).allSatisfy { since($0) == nil })
        withExtendedLifetime(batches) {}
    }

    @Test(arguments: [(1, 1), (7, nil)] as [(UInt64, UInt64?)])
    func `a row that was read by itself ends what batches serve of it only where they differ`(
        read: UInt64, left: UInt64?
    ) throws {
        let batches = [try batch(), try batch()]
        for batch in batches { cache.hold(batch, cache.ticket()) }

        cache.hold(try row(since: read), of: held, cache.ticket(), isNewHolder: true)

        #expect(since(1) == read)
        cache.release(held)
        #expect((1...6).map { since($0) } == [left, 2, 3, 4, 5, 6])
        withExtendedLifetime(batches) {}
    }

    @Test func `what is read while a save is under way ends what is held of it`() throws {
        let older = try batch()
        cache.hold(older, cache.ticket())
        cache.hold(try row(since: 1), of: held, cache.ticket(), isNewHolder: true)
        let ticket = cache.ticket()
        cache.beginSaving()

        cache.hold(try row(since: 7), of: held, ticket, isNewHolder: false)
        let newer = try batch(changed: [2])
        cache.hold(newer, ticket)

        end(1)
        #expect((1...6).map { since($0) } == [nil, nil, 3, 4, 5, 6])
        withExtendedLifetime((older, newer)) {}
    }

    @Test func `a row that a batch has served may be held when the batch has gone`() throws {
        var batch: RowPage? = try batch()
        batch.map { cache.hold($0, cache.ticket()) }
        #expect(cache.row(held, within: -1, isHeld: true) != nil)

        batch = nil

        #expect(since(1) == 1)
        #expect(since(2) == nil)
        cache.release(held)
        #expect(since(1) == nil)
    }

    @Test(arguments: [true, false])
    func `a row that is handed in late leaves the later one that another context has read`(
        isNewHolder: Bool
    ) throws {
        save(1)
        let ticket = cache.ticket()
        cache.hold(try row(since: 7), of: held, cache.ticket(), isNewHolder: true)

        cache.hold(try row(since: 5), of: held, ticket, isNewHolder: isNewHolder)

        #expect(since(1) == 7)
    }

    @Test func `a row that is handed in late leaves the later one of a batch`() throws {
        let ticket = cache.ticket()
        let batch = try batch(changed: [1])
        cache.hold(batch, cache.ticket())

        cache.hold(try row(since: 1), of: held, ticket, isNewHolder: true)

        #expect((1...6).map { since($0) } == [101, 2, 3, 4, 5, 6])
        withExtendedLifetime(batch) {}
    }

    @Test func `a batch that is handed in late serves only what nobody has read later`() throws {
        let ticket = cache.ticket()
        let newer = try batch(changed: [2, 5])
        cache.hold(newer, cache.ticket())
        cache.hold(try row(since: 7), of: held, cache.ticket(), isNewHolder: true)

        var late: RowPage? = try batch(changed: [5, 6])
        late.map { cache.hold($0, ticket) }

        #expect((1...6).map { since($0) } == [7, 102, 3, 4, 105, 106])
        late = nil
        #expect((1...6).map { since($0) } == [7, 102, 3, 4, 105, nil])
        withExtendedLifetime(newer) {}
    }

    @Test func `a row of before that comes in while a save is under way leaves the later one`()
        throws
    {
        try holdRow()
        let ticket = cache.ticket()
        cache.beginSaving()

        cache.hold(try row(since: 0), of: held, ticket, isNewHolder: false)

        end(2)
        #expect(since(1) == 1)
    }

    @Test
    func `a store that is opened again serves its own rows, even if they are of earlier entries`()
        throws
    {
        let batch = try batch(changed: [1, 2])
        cache.hold(batch, cache.ticket())
        cache.hold(try row(since: 101), of: held, cache.ticket(), isNewHolder: true)

        cache.forgetAll(of: 1)
        let anew = try self.batch()
        cache.hold(anew, cache.ticket())
        cache.hold(try row(since: 1), of: held, cache.ticket(), isNewHolder: true)

        #expect((1...6).map { since($0) } == [1, 2, 3, 4, 5, 6])
        withExtendedLifetime((batch, anew)) {}
    }

    @Test func `what a fetch reads replaces older rows that are held one by one`() throws {
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
