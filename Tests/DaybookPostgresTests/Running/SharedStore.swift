import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import Foundation
import Synchronization

@testable import DaybookJournalLog

/// A store on the server of the tests, with roles and logins of its own.
final class SharedStore: Sendable {
    let server: PostgresServer
    let name: String
    let identity = StoreIdentity(uuid: UUID(), createdAt: 1_700_000_000_000_000)

    private static let made = Atomic(0)

    /// Makes a store without entries, a writer of it called like it, and a reader called like it with `_reader`.
    init(numbers: UInt64 = 1, on server: PostgresServer? = nil) throws {
        self.server = try server ?? PostgresServer.shared.get()
        let number = Self.made.wrappingAdd(1, ordering: .relaxed).newValue
        name = "store\(number)"
        try self.server.administer(
            """
            CREATE ROLE \(name)_readers; CREATE ROLE \(name)_writers;
            CREATE ROLE \(name) LOGIN IN ROLE \(name)_writers;
            CREATE ROLE \(name)_reader LOGIN IN ROLE \(name)_readers
            """)
        try PostgresSchema.addStore(
            name, identity, numbers: numbers, roles: ("\(name)_readers", "\(name)_writers"),
            on: self.server.connection(as: "postgres"), until: .now + .seconds(20))
    }

    /// The terms of a node of it.
    func terms(
        as login: String? = nil, protection: PostgresTerms.Protection = .waived,
        limits: PostgresTerms.Limits = .patient, node: UUID = UUID()
    ) throws -> PostgresTerms {
        PostgresTerms(
            servers: try server.description(as: login ?? name), store: name, node: node,
            program: "tests", protection: protection, limits: limits, clock: microseconds)
    }

    /// A journal of a node of its own.
    func journal() throws -> PostgresJournal {
        PostgresJournal(try terms(), identity)
    }

    /// One number that a query answers the owner.
    func number(_ query: String) throws -> Int64 {
        let connection = try server.connection(as: "postgres")
        let rows = try connection.run(
            PostgresStatement("question", query), until: .now + .seconds(20))
        return try rows[0].integer(0)
    }

    /// Its number on the server.
    var number: Int64 {
        get throws { try number("SELECT store FROM daybook.store WHERE name = '\(name)'") }
    }
}

extension PostgresTerms.Limits {
    /// For machines that do much else.
    static var patient: Self {
        var limits = Self()
        limits.connecting = .seconds(20)
        limits.answering = .seconds(60)
        return limits
    }
}

/// The time of this machine, in microseconds since 1970.
@Sendable func microseconds() -> Int64 {
    Int64(Date().timeIntervalSince1970 * 1_000_000)
}

/// Entries with these payloads, after a place.
func entries(after head: SharedHead, at time: Int64 = microseconds(), _ payloads: [[UInt8]])
    -> [JournalEntry]
{
    var head = head
    return payloads.map { payload in
        let bare = JournalEntry(
            sequence: head.sequence.next, recordedAt: time, previous: head.digest, payload: payload,
            digest: .zero)
        let entry = JournalEntry(
            sequence: bare.sequence, recordedAt: time, previous: head.digest, payload: payload,
            digest: .ofEntry(bare.bytes))
        head = SharedHead(entry.sequence, entry.digest)
        return entry
    }
}

/// A group of entries with these payloads.
func group(
    after head: SharedHead, at time: Int64 = microseconds(), token: Int64 = .random(in: 1 ... .max),
    _ payloads: [UInt8]...
) -> SharedGroup {
    SharedGroup(after: head, token: token, entries(after: head, at: time, payloads))
}

extension JournalEntry {
    /// An entry with another payload, whose digest does not fit it.
    init(_ other: JournalEntry, payload: [UInt8]) {
        self.init(
            sequence: other.sequence, recordedAt: other.recordedAt, previous: other.previous,
            payload: payload, digest: other.digest)
    }
}

extension SharedGroup {
    /// The place after it.
    var after: SharedHead {
        guard let last = entries.last else { return head }
        return SharedHead(last.sequence, last.digest)
    }
}

extension SharedPage {
    /// The place after it, or the one before where it is empty.
    func after(_ head: SharedHead) -> SharedHead {
        guard let last = entries.last else { return head }
        return SharedHead(last.sequence, last.digest)
    }
}

/// Waits in `body` on a thread of its own: the threads that run tests are few.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { done in
        Thread { done.resume(with: Result { try body() }) }.start()
    }
}

/// Runs `body` on several threads at once and waits for all.
func onThreads<R: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> R
) async throws -> [R] {
    try await withThrowingTaskGroup(of: R.self) { tasks in
        for index in 0..<count {
            tasks.addTask { try await onThread { try body(index) } }
        }
        return try await tasks.reduce(into: []) { $0.append($1) }
    }
}
