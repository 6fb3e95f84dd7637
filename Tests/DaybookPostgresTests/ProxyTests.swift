import DaybookObjectGraph
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// What a program saves is there once, whatever becomes of any message between it and the server.
@Suite struct ProxyTests {
    struct Place: Hashable, CustomTestStringConvertible {
        let fault: FaultyProxy.Fault
        let direction: FaultyProxy.Direction

        var testDescription: String { "\(fault) \(direction)" }
    }

    static let places = FaultyProxy.Fault.allCases.flatMap { fault in
        FaultyProxy.Direction.allCases.map { Place(fault: fault, direction: $0) }
    }

    /// Every so many pieces; all with `DAYBOOK_PROXY_STEP=1`.
    static let step =
        ProcessInfo.processInfo.environment["DAYBOOK_PROXY_STEP"].flatMap { Int($0) } ?? 7

    @Test(arguments: places)
    func `each message may be lost, halved, late or slow`(_ place: Place) async throws {
        try await onThread {
            // Another first piece for each fault, so that all of them together come near to all pieces.
            var piece = Self.places.firstIndex(of: place) ?? 0
            while try Self.run(place, piece) { piece += Self.step }
            #expect(piece > 30, "Only \(piece) pieces passed.")
        }
    }

    /// One run: a program opens a copy, saves, is overtaken, closes and opens it again, with a fault at one piece.
    ///
    /// - Returns: Whether the fault has happened: whether there were so many pieces.
    /// - Throws: What should have been settled by trying again.
    private static func run(_ place: Place, _ piece: Int) throws -> Bool {
        let store = try SharedStore()
        let proxy = try FaultyProxy(to: store.server)
        var limits = PostgresTerms.Limits.patient
        if place.fault == .late {
            limits.connecting = .milliseconds(300)
            limits.answering = .milliseconds(300)
            limits.appending = .milliseconds(300)
        }
        let servers = try store.servers(through: proxy)
        let other = try SharedProgram(store)
        let folder = try TemporaryDirectory()
        proxy.arm(place.fault, place.direction, after: piece)
        func open() throws -> SharedProgram {
            try again { try SharedProgram(store, through: servers, limits: limits, in: folder) }
        }

        var program = try open()
        try add("first", program)
        try add("theirs", other)
        try add("second", program)
        try again { try program.store.catchUp(within: .seconds(20)) }
        try again { try program.close() }
        program = try open()
        try add("third", program)

        let names = ["first", "second", "theirs", "third"]
        for (who, node) in [("other", other), ("program", program)] {
            #expect(try again(node.bookings) == names, "\(who), \(place.testDescription) \(piece)")
        }
        let happened = !proxy.isArmed
        try SharedProgram.expectAlike([other, program], "\(place.testDescription) \(piece)")
        return happened
    }

    private static func add(_ text: String, _ program: SharedProgram) throws {
        let context = program.container.newBackgroundContext()
        try context.performAndWait {
            SharedProgram.Booking(context: context).text = text
            _ = try again { try context.save() }
        }
    }

    /// Does something until it is done, as its errors say.
    private static func again<R>(_ body: () throws -> R) throws -> R {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try body()
            } catch let error as StoreError {
                guard [.unreachable, .inDoubt].contains(error.code), .now < end else { throw error }
            }
        }
    }
}
