import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookSnapshotStore

/// Entries that other cores read ahead, and one thread takes in order.
@Suite struct EntriesAheadTests {
    /// How helpers come.
    enum Helpers: String, CaseIterable, Sendable {
        case shared
        case none
        /// Each on a thread of its own, and more than the machine may have cores.
        case many
        /// All threads are busy for good.
        case never
        /// On the thread that asks for it, before that goes on.
        case atOnce

        var cores: OtherCores {
            switch self {
            case .shared: .all
            case .none: .none
            case .many: OtherCores(count: 5) { Thread(block: $0).start() }
            case .never: OtherCores(count: 5) { _ in }
            case .atOnce: OtherCores(count: 5) { $0() }
            }
        }
    }

    private struct Failure: Error, Equatable {
        let number: UInt64
    }

    private static func digest(of number: UInt64) -> Digest {
        Digest.of(Array("\(number)".utf8))
    }

    /// A piece of entries that are only numbers.
    ///
    /// - Parameters:
    ///   - range: The entries asked for.
    ///   - count: How many go together at most.
    ///   - bad: An entry that cannot be read.
    ///   - loose: An entry that does not carry the digest of the one before.
    /// - Returns: The piece.
    private static func piece(
        _ range: ClosedRange<SequenceNumber>, atMost count: UInt64 = .max, bad: UInt64 = 0,
        loose: UInt64 = 0
    ) -> EntryPiece<UInt64> {
        var piece = EntryPiece<UInt64>()
        let first = range.lowerBound.rawValue
        for number in first...min(range.upperBound.rawValue, first + min(count - 1, 1_000)) {
            if number == bad {
                piece.failure = Failure(number: number)
                break
            }
            piece.made.append(number)
            if piece.first == nil {
                let carried = digest(of: number == loose ? 0 : number - 1)
                piece.first = JournalPlace(SequenceNumber(number), carried)
            }
            piece.last = JournalPlace(SequenceNumber(number), digest(of: number))
            piece.byteCount += 10
        }
        return piece
    }

    private static func checkChain(_ older: JournalPlace, _ newer: JournalPlace) throws {
        if older.digest != newer.digest { throw Failure(number: newer.sequence.rawValue) }
    }

    private static func range(_ lower: UInt64, _ upper: UInt64) -> ClosedRange<SequenceNumber> {
        SequenceNumber(lower)...SequenceNumber(upper)
    }

    // MARK: - Order

    @Test(arguments: Helpers.allCases)
    func `what was made is taken in order and once`(helpers: Helpers) throws {
        for count in [1, 63, 64, 65, 700, 5_000] as [UInt64] {
            for together in [1, 3, .max] as [UInt64] {
                let ahead = EntriesAhead(Self.range(1, count), on: helpers.cores) {
                    Self.piece($0, atMost: together)
                }
                var taken: [UInt64] = []
                try ahead.forEach(
                    readHere: { Self.piece($0, atMost: together) }, checkChain: Self.checkChain
                ) {
                    taken.append($0)
                    return .proceed
                }
                #expect(taken == Array(1...count), "\(count) entries, \(together) together")
            }
        }
    }

    @Test(arguments: Helpers.allCases)
    func `an entry that cannot be read is told after those before it`(helpers: Helpers) {
        for bad in [1, 64, 65, 1_000, 2_999] as [UInt64] {
            let ahead = EntriesAhead(Self.range(1, 3_000), on: helpers.cores) {
                Self.piece($0, bad: bad)
            }
            var taken: [UInt64] = []
            #expect(throws: Failure(number: bad)) {
                try ahead.forEach(
                    readHere: { Self.piece($0, bad: bad) }, checkChain: Self.checkChain
                ) {
                    taken.append($0)
                    return .proceed
                }
            }
            #expect(taken == Array(1..<bad))
        }
    }

    @Test(arguments: Helpers.allCases)
    func `what only helpers cannot read is read by the walk itself`(helpers: Helpers) throws {
        // As where a process may open no more files, or have no more readers.
        let ahead = EntriesAhead(Self.range(1, 3_000), on: helpers.cores) { range in
            Self.piece(
                range,
                bad: range.lowerBound.rawValue.isMultiple(of: 2) ? 0 : range.lowerBound.rawValue + 5
            )
        }
        var taken: [UInt64] = []

        try ahead.forEach(readHere: { Self.piece($0) }, checkChain: Self.checkChain) {
            taken.append($0)
            return .proceed
        }

        #expect(taken == Array(1...3_000))
    }

    @Test(arguments: Helpers.allCases)
    func `pieces must follow each other, whoever has read them`(helpers: Helpers) {
        // Behind the first piece of 64 begins another one.
        let ahead = EntriesAhead(Self.range(1, 3_000), on: helpers.cores) {
            Self.piece($0, loose: 65)
        }
        var taken: [UInt64] = []

        #expect(throws: Failure(number: 65)) {
            try ahead.forEach(
                readHere: { Self.piece($0, loose: 65) }, checkChain: Self.checkChain
            ) {
                taken.append($0)
                return .proceed
            }
        }

        #expect(taken == Array(1...64))
    }

    // MARK: - Ends

    @Test(arguments: Helpers.allCases)
    func `after the end nobody reads, whether the walk was stopped or failed`(helpers: Helpers)
        throws
    {
        for fails in [false, true] {
            let isOver = Atomic(false)
            let late = Atomic(0)
            let ahead = EntriesAhead(Self.range(1, 100_000), on: helpers.cores) { range in
                let piece = Self.piece(range)
                if isOver.load(ordering: .sequentiallyConsistent) {
                    late.add(1, ordering: .sequentiallyConsistent)
                }
                return piece
            }
            var count = 0
            func walk() throws {
                try ahead.forEach(readHere: { Self.piece($0) }, checkChain: Self.checkChain) {
                    count += 1
                    guard $0 == 900 else { return .proceed }
                    if fails { throw Failure(number: $0) }
                    return .stop
                }
            }

            if fails {
                #expect(throws: Failure(number: 900)) { try walk() }
            } else {
                try walk()
            }
            isOver.store(true, ordering: .sequentiallyConsistent)

            #expect(count == 900)
            #expect(late.load(ordering: .sequentiallyConsistent) == 0)
        }
    }

    @Test func `a helper that begins after the end finds nothing to do`() throws {
        let asked = Mutex<[@Sendable () -> Void]>([])
        let cores = OtherCores(count: 2) { work in asked.withLock { $0.append(work) } }
        let read = Mutex(0)
        let ahead = EntriesAhead(Self.range(1, 2_000), on: cores) { range in
            read.withLock { $0 += 1 }
            return Self.piece(range)
        }
        try ahead.forEach(readHere: { Self.piece($0) }, checkChain: Self.checkChain) { _ in
            .proceed
        }

        for work in asked.withLock(\.self) { work() }

        #expect(asked.withLock(\.count) == 2)
        #expect(read.withLock(\.self) == 0)
    }

    @Test func `little is read ahead at first, and never very much`() throws {
        let cores = Helpers.atOnce.cores
        let furthest = Mutex<UInt64>(0)
        let ahead = EntriesAhead(Self.range(1, 200_000), on: cores) { range in
            furthest.withLock { $0 = max($0, range.upperBound.rawValue) }
            return Self.piece(range)
        }
        var most: UInt64 = 0
        try ahead.forEach(readHere: { Self.piece($0) }, checkChain: Self.checkChain) { number in
            let ahead = furthest.withLock(\.self)
            if number <= 64 { #expect(ahead <= 64 + 128) }
            if ahead > number { most = max(most, ahead - number) }
            return .proceed
        }

        // Four pieces of at most 256 entries for each of six cores, and the one that is taken.
        #expect(most > 1_000)
        #expect(most <= 25 * 256)
    }

    @Test func `pieces with very many bytes are not gathered`() throws {
        let made = Mutex(0)
        let ahead = EntriesAhead(Self.range(1, 500), on: Helpers.atOnce.cores) { range in
            // Each entry has 100 MB.
            var piece = Self.piece(range, atMost: 1)
            piece.byteCount = 100 << 20
            made.withLock { $0 += 1 }
            return piece
        }
        var taken = 0
        try ahead.forEach(
            readHere: { Self.piece($0, atMost: 1) }, checkChain: Self.checkChain
        ) { _ in
            taken += 1
            #expect(made.withLock(\.self) <= taken + 2)
            return .proceed
        }

        #expect(taken == 500)
    }

    // MARK: - Stores

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item", attributes: [AttributeDescription(name: "text", type: .string)])
    ])

    /// A store with a small entry for each number, a large one now and then.
    private static func makeStore(entries: Int) throws -> TemporaryStore {
        let temporary = try TemporaryStore(model, options: .counting(verification: .off))
        let store = temporary.store
        for number in 1..<entries {
            let text = String(repeating: "\(number)", count: number.isMultiple(of: 90) ? 90_000 : 3)
            let object = try store.newObject("Item")
            try store.commit(
                SaveRequest(changes: [store.insert(object, ["text": .string(text)])]))
        }
        return temporary
    }

    @Test(arguments: Helpers.allCases)
    func `the entries of a store are the same as without helpers`(helpers: Helpers) throws {
        let temporary = try Self.makeStore(entries: 600)
        let store = temporary.store
        var expected: [(SequenceNumber, Digest, Int)] = []
        try store.entries { entry in
            expected.append((entry.sequence, entry.digest, entry.changes.count))
            return .proceed
        }

        for (first, last) in [(1, 600), (37, 500), (300, 300), (5, 2_000)] as [(UInt64, UInt64)] {
            var found: [(SequenceNumber, Digest, Int)] = []
            try store.entries(
                from: SequenceNumber(first), through: SequenceNumber(last), on: helpers.cores
            ) { entry in
                (entry.sequence, entry.digest, entry.changes.count)
            } _: { made in
                found.append(made)
                return .proceed
            }
            let wanted = expected.filter { $0.0.rawValue >= first && $0.0.rawValue <= last }
            #expect(found.elementsEqual(wanted, by: ==), "\(first) to \(last)")
        }
    }

    @Test(arguments: Helpers.allCases, [TimeTests.Damage.lastByte, .noBytes, .noDigest])
    func `a damaged entry is told as without helpers, after those before it`(
        helpers: Helpers, damage: TimeTests.Damage
    ) throws {
        let temporary = try Self.makeStore(entries: 400)
        let store = temporary.store
        try damage.apply(to: 301, of: store)
        let plain = #expect(throws: StoreError.self) { try store.entries { _ in .proceed } }

        var found: [SequenceNumber] = []
        let error = #expect(throws: StoreError.self) {
            try store.entries(
                from: SequenceNumber(1), through: SequenceNumber(400), on: helpers.cores,
                making: \.sequence
            ) {
                found.append($0)
                return .proceed
            }
        }

        #expect(error?.code == .corrupt)
        #expect(error?.message == plain?.message)
        #expect(found.map(\.rawValue) == Array(1...300))
    }

    @Test(arguments: Helpers.allCases)
    func `entries are read inside a read, and while the body saves`(helpers: Helpers) throws {
        let temporary = try Self.makeStore(entries: 400)
        let store = temporary.store
        let last = SequenceNumber(400)

        var inside = 0
        try store.read { _ in
            try store.entries(
                from: SequenceNumber(1), through: last, on: helpers.cores, making: \.sequence
            ) { _ in
                inside += 1
                return .proceed
            }
        }
        var outside = 0
        try store.entries(
            from: SequenceNumber(1), through: last, on: helpers.cores, making: \.sequence
        ) { sequence in
            outside += 1
            if sequence.rawValue.isMultiple(of: 100) {
                let object = try store.newObject("Item")
                try store.commit(SaveRequest(changes: [store.insert(object)]))
            }
            return .proceed
        }

        #expect(inside == 400)
        #expect(outside == 400)
        #expect(try store.head() == SequenceNumber(404))
    }

    @Test(arguments: Helpers.allCases)
    func `a store that is closed meanwhile is told, in order`(helpers: Helpers) throws {
        let temporary = try Self.makeStore(entries: 600)
        let store = temporary.store
        var found: [UInt64] = []

        let error = #expect(throws: StoreError.self) {
            try store.entries(
                from: SequenceNumber(1), through: SequenceNumber(600), on: helpers.cores,
                making: \.sequence.rawValue
            ) {
                found.append($0)
                if $0 == 10 { try store.close() }
                return .proceed
            }
        }

        #expect(error?.code == .closed)
        #expect(found == Array(1...UInt64(max(1, found.count))))
    }
}
