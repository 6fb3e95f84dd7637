package import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore
internal import Synchronization

/// One node's connection to a ``ScriptedServer``, which fails as its script says and keeps a list of its calls.
///
/// It answers as a connection to PostgreSQL does. Waits have no end of their own here: who has the turn keeps
/// it until it appends, leaves, fails, or the test ends the connections.
package final class ScriptedJournal: SharedJournal {
    private let server: ScriptedServer
    private let writer: ScriptedWriter
    private let state: Mutex<State>

    private typealias Follower = @Sendable (SequenceNumber) -> Void

    private struct State {
        var script: FaultScript
        var failures: (count: Int, code: SharedJournalError.Code) = (0, .unreachable)
        var calls: [ScriptedCall] = []
        var callsNow = 0
        var hasOverlaps = false
        var turn: ScriptedTurns.Turn?
        /// Calls whose answers were lost, and which have not come to the server yet.
        var underWay: [@Sendable () throws -> Void] = []
        var heldNews: [@Sendable () -> Void] = []
        var followers: [Int: Follower] = [:]
        var ahead: Int64
        var lastTime = Int64.min
        var entryBytesMaximum = SharedGroup.entryBytesMaximum
    }

    /// A connection of a node.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - login: The name under which it is let in.
    ///   - node: The node; nil for one that is called like its login. A node that is opened again is the same
    ///     writer, and may repeat a group of the time before.
    ///   - ahead: How far it believes the clock of the server to be ahead of what that is, in microseconds, until the
    ///     server refuses a time.
    ///   - script: What goes wrong.
    package init(
        _ server: ScriptedServer, login: String, node: String? = nil, ahead: Int64 = 0,
        script: FaultScript = FaultScript()
    ) {
        self.server = server
        writer = ScriptedWriter(login: login, node: node ?? login)
        state = Mutex(State(script: script, ahead: ahead))
    }

    deinit { leaveTurn() }

    package var identity: StoreIdentity { server.identity }

    package func now() -> Int64 {
        let now = server.now()
        return state.withLock { state in
            state.lastTime = max(state.lastTime, now + state.ahead)
            return state.lastTime
        }
    }

    // MARK: - What tests do

    /// The calls so far, in the order in which they ended.
    package var calls: [ScriptedCall] { state.withLock { $0.calls } }

    /// Whether a call was made while another one was under way, which the protocol does not allow.
    package var hasOverlaps: Bool { state.withLock { $0.hasOverlaps } }

    /// Whether this node is alone in appending.
    package var hasTurn: Bool { state.withLock { $0.turn != nil } }

    /// Sets the clock of this node forward, of which it learns when the server refuses a time.
    ///
    /// - Parameter microseconds: By how much.
    package func setClockForward(by microseconds: Int64) {
        state.withLock { $0.ahead += microseconds }
    }

    /// What is still to go wrong.
    package var script: FaultScript {
        get { state.withLock { $0.script } }
        set { state.withLock { $0.script = newValue } }
    }

    package var entryBytesMaximum: Int {
        get { state.withLock { $0.entryBytesMaximum } }
        set { state.withLock { $0.entryBytesMaximum = newValue } }
    }

    /// Has the next calls fail, whatever they ask for, before the script is looked at.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - code: With which code.
    package func fail(next count: Int, with code: SharedJournalError.Code = .unreachable) {
        state.withLock { $0.failures = (count, code) }
    }

    /// Lets the calls come to the server that are still under way, whatever it says to them.
    ///
    /// - Returns: The errors of those that it did not take.
    @discardableResult package func land() -> [any Error] {
        let underWay = state.withLock { state in
            defer { state.underWay = [] }
            return state.underWay
        }
        return underWay.compactMap { call in
            do { try call() } catch { return error }
            return nil
        }
    }

    /// Tells the news that were held, in order.
    package func tellHeldNews() {
        let held = state.withLock { state in
            defer { state.heldNews = [] }
            return state.heldNews
        }
        for news in held { server.tell(news) }
    }

    // MARK: - Entries

    package func append(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer {
        try call(.append(group), { .answered($0) }) { () throws(SharedJournalError) in
            let maximum = entryBytesMaximum
            for entry in group.entries {
                guard let error = SharedJournalError.tooLarge(entry, maximum: maximum) else {
                    continue
                }
                throw error
            }
            do throws(SharedJournalError) {
                return try write(\.appends, endsTurn: true) {
                    [server, writer] turn throws(SharedJournalError) in
                    try server.append(group, by: writer, turn: turn)
                }
            } catch {
                guard error.message.contains("DB007"), followClock() else { throw error }
                leaveTurn()
                return .behind
            }
        } failing: { _ in
            leaveTurn()
        }
    }

    /// Whether the clock was ahead until now.
    private func followClock() -> Bool {
        state.withLock { state in
            defer { (state.ahead, state.lastTime) = (0, .min) }
            return state.ahead > 0
        }
    }

    package func page(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage {
        try call(.page(after: head, bytes: bytes), { .entries($0.entries.count) }) {
            () throws(SharedJournalError) in
            try read(after: head, bytes: bytes)
        } failing: { _ in
            leaveTurn()
        }
    }

    package func enter(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage
    {
        try call(.enter(after: head, bytes: bytes), { .entries($0.entries.count) }) {
            () throws(SharedJournalError) in
            let turn = try server.enter(writer, turn: state.withLock { $0.turn })
            state.withLock { $0.turn = turn }
            return try read(after: head, bytes: bytes)
        } failing: { _ in
            leaveTurn()
        }
    }

    package func leave() {
        leaveTurn()
        state.withLock { $0.calls.append(ScriptedCall(.leave, .done)) }
    }

    private func read(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage {
        let fault = state.withLock { $0.script.pages.first }
        if case .fails(let code) = fault {
            state.withLock { _ = $0.script.pages.removeFirst() }
            throw .scripted(code)
        }
        let page = try server.page(
            after: head, bytes: bytes, for: writer, turn: state.withLock { $0.turn })
        let shown: SharedPage?
        switch fault {
        case .cut(let count): shown = page.cut(to: count)
        case .damaged(let index, let damage): shown = page.damaged(at: index, damage)
        default: shown = page
        }
        if fault != nil && shown != nil { state.withLock { _ = $0.script.pages.removeFirst() } }
        return shown ?? page
    }

    private func leaveTurn() {
        let turn = state.withLock { state in
            defer { state.turn = nil }
            return state.turn
        }
        if let turn { server.leave(turn) }
    }

    // MARK: - Beside entries

    package func takeNumbers(_ count: UInt64) throws(SharedJournalError) -> Range<UInt64> {
        try call(.takeNumbers(count), { .numbers($0) }) { () throws(SharedJournalError) in
            do throws(SharedJournalError) {
                return try write(\.numbers, endsTurn: false) {
                    [server, writer] _ throws(SharedJournalError) in
                    try server.takeNumbers(count, for: writer)
                }
            } catch {
                throw error.code == .inDoubt ? .scripted(.unreachable) : error
            }
        }
    }

    package func marks(_ kind: SharedMark.Kind) throws(SharedJournalError) -> [SharedMark] {
        try call(.marks(kind), { .marks($0.count) }) { () throws(SharedJournalError) in
            try server.marks(kind, for: writer)
        }
    }

    package func set(_ mark: SharedMark) throws(SharedJournalError) -> Int64? {
        try call(.set(mark), { .version($0) }) { () throws(SharedJournalError) in
            try write(\.marks, endsTurn: false) { [server, writer] _ throws(SharedJournalError) in
                try server.set(mark, for: writer)
            }
        }
    }

    package func lacking(_ keys: [ChunkKey]) throws(SharedJournalError) -> [ChunkKey] {
        try call(.lacking(keys), { .records($0.count) }) { () throws(SharedJournalError) in
            try server.lacking(keys, for: writer)
        }
    }

    package func keep(_ records: [SharedRecord]) throws(SharedJournalError) {
        try call(.keep(records.map(\.key)), { .done }) { () throws(SharedJournalError) in
            do throws(SharedJournalError) {
                try write(\.records, endsTurn: false) {
                    [server, writer] _ throws(SharedJournalError) in
                    try server.keep(records, for: writer)
                }
            } catch {
                throw error.code == .inDoubt ? .scripted(.unreachable) : error
            }
        }
    }

    package func records(_ keys: [ChunkKey]) throws(SharedJournalError) -> [SharedRecord] {
        try call(.records(keys), { .records($0.count) }) { () throws(SharedJournalError) in
            try server.records(keys, for: writer)
        }
    }

    // MARK: - News

    package func follow(
        _ body: @escaping @Sendable (SequenceNumber) -> Void
    ) -> any AnyObject & Sendable {
        let number = server.follow { [weak self] sequence in self?.tell(body, sequence) }
        state.withLock { $0.followers[number] = body }
        look(for: [body])
        return Following { [weak self, server] in
            server.unfollow(number)
            self?.state.withLock { $0.followers[number] = nil }
        }
    }

    package func announce(_ head: SharedHead) {
        state.withLock { $0.calls.append(ScriptedCall(.announce(head.sequence), .done)) }
        server.announce()
    }

    /// Looks where the journal ends, as every node does now and then. The script has no faults for that.
    package func look() {
        look(for: state.withLock { $0.followers }.sorted { $0.key < $1.key }.map(\.value))
    }

    private func look(for followers: [Follower]) {
        server.tell { [server] in
            let sequence = server.head.sequence
            guard sequence != .zero else { return }
            for follower in followers { follower(sequence) }
        }
    }

    private func tell(_ body: @escaping Follower, _ sequence: SequenceNumber) {
        let times = state.withLock { state in
            let fault = state.script.news.isEmpty ? .goesWell : state.script.news.removeFirst()
            switch fault {
            case .goesWell: return 1
            case .doubled: return 2
            case .lost: return 0
            case .held:
                state.heldNews.append { body(sequence) }
                return 0
            }
        }
        for _ in 0..<times { body(sequence) }
    }

    private final class Following: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    // MARK: - Faults

    /// Makes a call and notes it.
    private func call<R>(
        _ request: ScriptedCall.Request, _ outcome: (R) -> ScriptedCall.Outcome,
        _ body: () throws(SharedJournalError) -> R, failing: (SharedJournalError) -> Void = { _ in }
    ) throws(SharedJournalError) -> R {
        let failure = state.withLock { state -> SharedJournalError.Code? in
            state.hasOverlaps = state.hasOverlaps || state.callsNow > 0
            state.callsNow += 1
            guard state.failures.count > 0 else { return nil }
            state.failures.count -= 1
            return state.failures.code
        }
        let noted: ScriptedCall.Outcome
        defer {
            state.withLock { state in
                state.callsNow -= 1
                state.calls.append(ScriptedCall(request, noted))
            }
        }
        do throws(SharedJournalError) {
            if let failure { throw .scripted(failure) }
            let answer = try body()
            noted = outcome(answer)
            return answer
        } catch {
            failing(error)
            noted = .failed(error.code)
            throw error
        }
    }

    /// Makes a call that changes something, with the next fault.
    private func write<R>(
        _ faults: WritableKeyPath<FaultScript, [WriteFault]>, endsTurn: Bool,
        _ body: @escaping @Sendable (ScriptedTurns.Turn?) throws(SharedJournalError) -> R
    ) throws(SharedJournalError) -> R {
        let (fault, turn) = state.withLock { state in
            let fault =
                state.script[keyPath: faults].isEmpty
                ? .goesWell : state.script[keyPath: faults].removeFirst()
            return (fault, state.turn)
        }
        switch fault {
        case .goesWell: break
        case .overtaken(let deed): try overtake(deed)
        case .fails(let code): throw .scripted(code)
        case .inDoubt(let landing):
            lose(landing, turn, body)
            throw .scripted(.inDoubt)
        }
        let answer = try body(turn)
        if endsTurn && answer as? SharedAnswer == .accepted { leaveTurn() }
        return answer
    }

    private func overtake(_ deed: WriteFault.Deed) throws(SharedJournalError) {
        do {
            try deed(server)
        } catch {
            throw SharedJournalError(.refused, "What was to come first has failed.", cause: error)
        }
    }

    /// Has a call land as it should, without an answer.
    private func lose<R>(
        _ landing: WriteFault.Landing, _ turn: ScriptedTurns.Turn?,
        _ body: @escaping @Sendable (ScriptedTurns.Turn?) throws(SharedJournalError) -> R
    ) {
        switch landing {
        case .lost: return
        // Its turn is over by then: the connection has ended.
        case .later: state.withLock { $0.underWay.append { _ = try body(nil) } }
        case .landed:
            do { _ = try body(turn) } catch {
                // What the server says to it is what nobody gets to know.
                return
            }
        }
    }
}

extension SharedJournalError {
    /// An error that a script asks for.
    fileprivate static func scripted(_ code: Code) -> Self {
        SharedJournalError(code, "The script has this call fail: \(code).")
    }
}
