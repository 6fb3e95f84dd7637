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
