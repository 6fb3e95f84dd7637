// The room of shared journals without a server: what the servers hold, in memory, and connections of nodes to it,
// which fail as their scripts say. It knows the protocol `SharedJournal` and nothing of stores or of PostgreSQL;
// `SharedJournalRule` checks that both kinds of journal keep the same rules.

package import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore
internal import Dispatch
internal import Foundation
internal import Synchronization

/// What the servers of one shared store hold, for the nodes of one process.
///
/// It accepts what the functions of the real servers accept, and refuses what they refuse. It outlives its
/// nodes: a test opens and closes these as often as it likes. Its clock and its numbers are counted, so that
/// the same calls have the same answers.
///
/// ```swift
/// let server = ScriptedServer()
/// let ada = ScriptedJournal(server, login: "ada")
/// let ben = ScriptedJournal(server, login: "ben", script: FaultScript(appends: [.inDoubt(.landed)]))
/// ```
package final class ScriptedServer: Sendable {
    /// Whether the servers do what they are asked for.
    package enum Condition: Sendable, Hashable {
        /// They do.
        case serving
        /// They fail every call with this code, and have ended all connections.
        case failing(SharedJournalError.Code)
    }

    /// Which store it is.
    package let identity: StoreIdentity
    private let clock: @Sendable () -> Int64
    private let state: Mutex<State>
    /// News are told one after the other, on no thread of a node.
    private let telling = DispatchQueue(label: "news of a scripted server")

    private struct State {
        var entries = ScriptedEntries()
        var marks = ScriptedMarks()
        var records: [ChunkKey: [UInt8]] = [:]
        var turns = ScriptedTurns()
        var numbers: UInt64
        var withdrawn: Set<String> = []
        var condition = Condition.serving
        var followers: [Int: @Sendable (SequenceNumber) -> Void] = [:]
        var followersSoFar = 0
        var nodesSoFar = 0
    }

    /// A server with a store that has no entries.
    ///
    /// - Parameters:
    ///   - identity: Which store it is.
    ///   - numbers: The first object number that it gives.
    ///   - clock: The time, in microseconds since 1970; a millisecond later at each reading unless told otherwise.
    package init(
        _ identity: StoreIdentity = .scripted, numbers: UInt64 = 1,
        clock: @escaping @Sendable () -> Int64 = ScriptedServer.countedClock()
    ) {
        self.identity = identity
        self.clock = clock
        state = Mutex(State(numbers: numbers))
    }

    /// A clock that begins at a fixed time and is a millisecond later at each reading.
    package static func countedClock() -> @Sendable () -> Int64 {
        let counter = Counter(1_700_000_000_000_000, step: 1_000)
        return { counter.next() }
    }

    // MARK: - What tests do

    /// Where the journal ends.
    package var head: SharedHead { state.withLock { $0.entries.head } }

    /// All entries, as they were appended.
    package var entries: [SharedEntry] { state.withLock { $0.entries.all } }

    /// The time of its clock.
    package func now() -> Int64 { clock() }

    /// Appends entries at the end, as a node does that nobody looks at.
    ///
    /// - Parameters:
    ///   - payloads: What they say, one or more.
    ///   - login: Who appends them.
    /// - Returns: Whether they were appended; they are not while a node has its turn.
    /// - Throws: ``SharedJournalError`` as for a node.
    @discardableResult package func add(
        _ payloads: [UInt8]..., login: String = "somebody else"
    ) throws(SharedJournalError) -> SharedAnswer {
        let writer = ScriptedWriter(login: login, node: login)
        return try serve(writer, nil) { state throws(SharedJournalError) in
            guard state.turns.present == nil else { return .turnedAway }
            let head = state.entries.head
            let now = clock()
            let group = SharedGroup(
                after: head, at: max(now, state.entries.all.last?.recordedAt ?? now),
                token: -Int64(clamping: head.sequence.rawValue) - 1, payloads: payloads)
            return try state.entries.append(group, by: writer, at: now)
        }
    }

    /// Takes the end off the journal, as the owner of the servers may.
    ///
    /// - Parameter sequence: The first entry that goes.
    package func cut(from sequence: SequenceNumber) {
        state.withLock { $0.entries.cut(from: sequence) }
    }

    /// The records of large data, as they are; a test may change them, which the real servers allow to nobody but
    /// superusers.
    package var records: [ChunkKey: [UInt8]] {
        get { state.withLock { $0.records } }
        set { state.withLock { $0.records = newValue } }
    }

    /// The names that the servers cannot write: marks that have one are refused.
    package var unwritableNames: Set<String> {
        get { state.withLock { $0.marks.unwritableNames } }
        set { state.withLock { $0.marks.unwritableNames = newValue } }
    }

    /// Has a mark be what it was before, as after a fail-over to a server that lacks its last change.
    ///
    /// - Parameter mark: The mark, as it was.
    package func setBack(_ mark: SharedMark) {
        state.withLock { $0.marks.setBack(mark) }
    }

    /// Lets a login do nothing any more.
    package func withdrawRights(of login: String) {
        state.withLock { _ = $0.withdrawn.insert(login) }
    }

    /// Whether the servers do what they are asked for. When they stop, all connections end.
    package var condition: Condition {
        get { state.withLock { $0.condition } }
        set {
            state.withLock { $0.condition = newValue }
            if newValue != .serving { endConnections() }
        }
    }

    /// Ends all connections: who has the turn loses it, and who waits for one fails.
    package func endConnections() {
        state.withLock { $0.turns.endAll() }
    }

    /// Waits until so many nodes wait for their turns.
    package func awaitQueue(of count: Int) {
        state.withLock { $0.turns.bell(at: count) }?.wait()
    }

    /// Waits until all news so far were told.
    ///
    /// - Precondition: It is not called by one who is told news.
    package func awaitNews() {
        telling.sync {}
    }

    // MARK: - What connections do

    /// Appends a group as ``SharedJournal/append(_:)``.
    ///
    /// - Parameters:
    ///   - group: The group.
    ///   - writer: Who appends.
    ///   - turn: The turn that the connection believes to have.
    /// - Returns: Whether it was appended; the turn has ended then.
    /// - Throws: ``SharedJournalError``; the turn has ended then.
    func append(
        _ group: SharedGroup, by writer: ScriptedWriter, turn: ScriptedTurns.Turn?
    ) throws(SharedJournalError) -> SharedAnswer {
        try serve(writer, turn) { state throws(SharedJournalError) in
            if let turn, state.turns.present != turn {
                throw SharedJournalError(
                    .inDoubt, "It is not known whether the server has done it: the turn was lost.")
            }
            guard state.turns.present == turn else { return .turnedAway }
            let answer = try state.entries.append(group, by: writer, at: clock())
            if answer == .accepted, let turn { state.turns.end(turn) }
            return answer
        }
    }

    func page(
        after head: SharedHead, bytes: Int, for writer: ScriptedWriter, turn: ScriptedTurns.Turn?
    ) throws(SharedJournalError) -> SharedPage {
        try serve(writer, turn) { state throws(SharedJournalError) in
            guard let page = state.entries.page(after: head, bytes: bytes) else {
                throw SharedJournalError(
                    .diverged,
                    "The shared journal does not have this side's entry \(head.sequence): it ends "
                        + "before, or went another way.")
            }
            return page
        }
    }

    /// Waits until nobody else has the turn; not for the turn that the connection has.
    func enter(
        _ writer: ScriptedWriter, turn: ScriptedTurns.Turn?
    ) throws(SharedJournalError) -> ScriptedTurns.Turn {
        let wait = try serve(writer, turn) { state throws(SharedJournalError) in
            guard let turn else { return state.turns.enter() }
            guard state.turns.present == turn else { throw .ended }
            return .over(turn)
        }
        wait.bell.wait()
        guard let turn = wait.turn else { throw .ended }
        return turn
    }

    func leave(_ turn: ScriptedTurns.Turn) {
        state.withLock { $0.turns.end(turn) }
    }

    func takeNumbers(
        _ count: UInt64, for writer: ScriptedWriter
    ) throws(SharedJournalError) -> Range<UInt64> {
        try serve(writer, nil) { state throws(SharedJournalError) in
            guard 1...(1 << 30) ~= count, state.numbers <= (1 << 48) - count else {
                throw .refused("so many numbers are not left", "DB011")
            }
            defer { state.numbers += count }
            return state.numbers..<state.numbers + count
        }
    }

    func marks(
        _ kind: SharedMark.Kind, for writer: ScriptedWriter
    ) throws(SharedJournalError) -> [SharedMark] {
        try serve(writer, nil) { state in state.marks.all(kind) }
    }

    func set(_ mark: SharedMark, for writer: ScriptedWriter) throws(SharedJournalError) -> Int64? {
        try serve(writer, nil) { state throws(SharedJournalError) in try state.marks.set(mark) }
    }

    func lacking(
        _ keys: [ChunkKey], for writer: ScriptedWriter
    ) throws(SharedJournalError) -> [ChunkKey] {
        try serve(writer, nil) { state in keys.filter { state.records[$0] == nil } }
    }

    /// Keeps records, as the servers' `keep_data` does.
    func keep(
        _ records: [SharedRecord], for writer: ScriptedWriter
    ) throws(SharedJournalError) {
        try serve(writer, nil) { state throws(SharedJournalError) in
            guard 1...256 ~= records.count else {
                throw .refused("records have an impossible form", "DB008")
            }
            for record in records {
                guard 0...3 ~= record.key.level, 1...ChunkTree.chunkBytes ~= record.bytes.count
                else { throw .refused("a record has an impossible form", "DB008") }
                guard ChunkKey(level: record.key.level, of: record.bytes.span.bytes) == record.key
                else { throw .refused("a digest does not fit its record", "DB004") }
            }
            for record in records where state.records[record.key] == nil {
                state.records[record.key] = record.bytes
            }
        }
    }

    func records(
        _ keys: [ChunkKey], for writer: ScriptedWriter
    ) throws(SharedJournalError) -> [SharedRecord] {
        try serve(writer, nil) { state in
            keys.compactMap { key in state.records[key].map { SharedRecord(key, $0) } }
        }
    }

    /// Answers a call. A call that fails in a turn ends it.
    private func serve<R: Sendable>(
        _ writer: ScriptedWriter, _ turn: ScriptedTurns.Turn?,
        _ body: (inout State) throws(SharedJournalError) -> R
    ) throws(SharedJournalError) -> R {
        try state.withLock { state throws(SharedJournalError) in
            do throws(SharedJournalError) {
                if case .failing(let code) = state.condition {
                    throw SharedJournalError(code, "The scripted servers fail.")
                }
                guard !state.withdrawn.contains(writer.login) else {
                    throw .refused("this login may not write to the store", "42501")
                }
                return try body(&state)
            } catch {
                if let turn { state.turns.end(turn) }
                throw error
            }
        }
    }

    // MARK: - News

    /// Adds one who is told when somebody announces.
    func follow(_ body: @escaping @Sendable (SequenceNumber) -> Void) -> Int {
        state.withLock { state in
            state.followersSoFar += 1
            state.followers[state.followersSoFar] = body
            return state.followersSoFar
        }
    }

    func unfollow(_ number: Int) {
        state.withLock { $0.followers[number] = nil }
    }

    /// Has all who follow told where the journal ends.
    func announce() {
        telling.async { [self] in
            let (head, followers) = state.withLock { ($0.entries.head, $0.followers) }
            guard head.sequence != .zero else { return }
            for number in followers.keys.sorted() { followers[number]?(head.sequence) }
        }
    }

    /// Has something done between two pieces of news.
    package func tell(_ body: @escaping @Sendable () -> Void) {
        telling.async(execute: body)
    }
}

extension ScriptedServer: SharedJournalPlace {
    /// Who all nodes are that have no login of their own.
    package var login: String { "ada" }

    /// A connection of a node that there was not before.
    package func journal() -> ScriptedJournal {
        let number = state.withLock { state in
            state.nodesSoFar += 1
            return state.nodesSoFar
        }
        return ScriptedJournal(self, login: login, node: "\(login) \(number)")
    }
}

extension StoreIdentity {
    /// The store of scripted servers, unless told otherwise.
    package static let scripted = StoreIdentity(
        uuid: UUID(uuid: (0x5c, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)),
        createdAt: 1_700_000_000_000_000)
}

/// Who appends: a node under a login.
struct ScriptedWriter: Sendable, Hashable {
    let login: String
    let node: String
}

extension SharedJournalError {
    /// A connection that ended, before anything was asked for.
    fileprivate static let ended = SharedJournalError(
        .unreachable, "No server can be reached: the connection has ended.")

    /// What the servers refuse, with the name that they give to the reason.
    static func refused(_ reason: String, _ name: String) -> Self {
        SharedJournalError(.refused, "The server refused: \(reason) (\(name))")
    }
}
