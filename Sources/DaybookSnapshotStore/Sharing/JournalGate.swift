internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Synchronization

/// Lets saves pass when the shared journal has their entries, and brings what others have appended into the
/// file.
///
/// A save settles and folds in an LMDB transaction as ever, on top of the file's last entry. The entries of a
/// group of saves are then appended to the shared journal if that ends with the same entry. Otherwise the
/// transaction is given up, the missing entries are folded, and the saves run again on top of them.
///
/// Invariants:
/// - The file has an entry only if the shared journal has accepted it, or has handed it out.
/// - The journal is called by one thread at a time.
final class JournalGate: CommitGate {
    let journal: any SharedJournal
    let foreign: ForeignEntries
    private let link: SharedLink
    let state: Mutex<State>
    let calling = Mutex(())
    /// What the first opening of the file waits for.
    let beginning = SharedPull()

    struct State {
        /// The last entry of the journal that is known to be in the file.
        var head: SequenceNumber
        /// Whether that was read from the file since the last write that failed there.
        var isHeadKnown = true
        /// The last entry of the journal that there was news of.
        var told: UInt64 = 0
        /// Since when nobody was reached, and why.
        var failure: (since: Int64, error: SharedJournalError)?
        /// Why nothing is saved until a person has seen to it.
        var stopped: StoreError?
        /// What asks for the missing entries.
        var pulls: [SharedPull] = []
        /// How many of the next groups queue up for their turn at once, because others were quicker before.
        var queueing = 0
        var hasTurn = false
        /// How often the present group had to run again.
        var rounds = 0
        /// Whether saves run again when the file has caught up.
        var hasSaves = false
        /// Whether somebody else was quicker than the last attempt of the present group, or has the turn.
        var isOvertaken = false
        var doubt: SharedGroup?
        /// Kept by the errors of the saves of that group, and so by whoever may make one again.
        weak var watch: DoubtWatch?
        /// What the saves in doubt would have answered, by the digests of their entries.
        var results: [Digest: SaveResult] = [:]
        /// The last entry that was folded and not told of yet.
        var news: SequenceNumber?

        /// Notes that the journal has this entry: in the place of one in doubt that does not come after it there is an
        /// entry for good, that one or another.
        mutating func settleDoubt(upTo sequence: SequenceNumber) {
            if let doubt, sequence > doubt.head.sequence { self.doubt = nil }
        }
    }

    /// A gate before which nobody was reached yet.
    init(
        _ journal: any SharedJournal, _ link: SharedLink, _ foreign: ForeignEntries,
        head: SequenceNumber
    ) {
        self.journal = journal
        self.link = link
        self.foreign = foreign
        state = Mutex(State(head: head))
    }

    /// How the file stands to the journal.
    var condition: SharedCondition {
        state.withLock { state in
            if let stopped = state.stopped { return .stopped(stopped) }
            if let failure = state.failure { return .offline(since: failure.since, failure.error) }
            return .connected(
                head: state.head, behind: max(state.told, state.head.rawValue) - state.head.rawValue
            )
        }
    }

    /// The time of the clock that the entries of all nodes follow.
    func now() -> Int64 { journal.now() }

    /// Calls `body` when there may be news, until the result is released.
    func follow(
        _ body: @escaping @Sendable (SequenceNumber) -> Void
    ) -> any AnyObject & Sendable {
        journal.follow { [weak self] sequence in
            self?.state.withLock { $0.told = max($0.told, sequence.rawValue) }
            body(sequence)
        }
    }

    /// Whether the file may lack this entry, or it has to be seen how it stands to the journal. News of what this node has
    /// appended itself come, too.
    func mayLack(_ sequence: SequenceNumber) -> Bool {
        state.withLock { state in
            !state.isHeadKnown || state.head < sequence || state.failure != nil
                || state.stopped != nil
        }
    }

    /// Whether the last attempt has reached the journal.
    var isReached: Bool { state.withLock { $0.failure == nil } }

    /// Takes object numbers that no other node has. Unless it is told otherwise, it tries as long as a save would: an
    /// object that could not get a number can never be saved.
    func takeNumbers(_ count: UInt64, once: Bool = false) throws -> Range<UInt64> {
        func take() throws(SharedJournalError) -> Range<UInt64> {
            try reaching(endsTurn: false) { journal throws(SharedJournalError) in
                try journal.takeNumbers(count)
            }
        }
        return try asStoreError { once ? try take() : try trying(take) }
    }

    /// Asks the journal something that is no part of a save.
    func ask<R: Sendable>(_ body: (any SharedJournal) throws -> R) throws -> R {
        try asStoreError { try calling.withLock { _ in try body(journal) } }
    }

    /// The last entry that was folded since this was called last; nil when there was none.
    func takeNews() -> SequenceNumber? {
        state.withLock { $0.news.take() }
    }

    // MARK: - Deciding

    /// Refuses an entry that the journal would not take, before others of its group are refused with it.
    func check(_ item: any Sendable) throws {
        guard let entry = item as? JournalEntry else { return }
        if let error = SharedJournalError.tooLarge(entry, maximum: journal.entryBytesMaximum) {
            throw StoreError(error)
        }
    }

    func decide(on submitted: [any Sendable]) -> CommitDecision {
        let pulls = submitted.compactMap { $0 as? SharedPull }
        let entries = submitted.compactMap { $0 as? JournalEntry }
        if !pulls.isEmpty {
            // In its turn the file has everything, and to pull would be to give the turn up. Whether this side still has
            // its turn, the append tells.
            let hasAll = state.withLock { state in
                let isToSettle = state.doubt != nil && pulls.contains(where: \.settlesDoubt)
                let hasAll = state.hasTurn && !entries.isEmpty && !isToSettle
                if !hasAll {
                    state.pulls += pulls
                    state.hasSaves = !entries.isEmpty
                }
                return hasAll
            }
            guard hasAll else { return .again }
            for pull in pulls { pull.finish() }
        }
        guard let first = entries.first else { return .commit }
        if let error = state.withLock(\.stopped) { return .refuse(error) }
        let head = SharedHead(first.sequence.previous, first.previous)
        // The turn is waited for while other processes of this machine can write: one of them may have it, and wait for
        // the file.
        if state.withLock({ $0.queueing > 0 && !$0.hasTurn }) { return runAgain() }
        return append(SharedGroup(after: head, token: link.makeToken(), entries))
    }

    private func runAgain() -> CommitDecision {
        let rounds = state.withLock { state in
            state.rounds += 1
            state.hasSaves = true
            return state.rounds
        }
        guard rounds <= Self.roundsMaximum else {
            return .refuse(
                StoreError(
                    .unreachable,
                    "Other nodes have appended \(rounds) times before this save could. Save again.")
            )
        }
        return .again
    }

    /// Appends a group until it is known what became of it, or the time for that is over.
    private func append(_ group: SharedGroup) -> CommitDecision {
        let end = endOfTrying
        var isInDoubt = false
        while true {
            do {
                switch try isInDoubt ? appendInTurn(group) : appendOnce(group) {
                case .accepted: return .commit
                case .behind, .turnedAway:
                    state.withLock { state in
                        (state.queueing, state.isOvertaken) = (Self.groupsQueueing, true)
                    }
                    return runAgain()
                }
            } catch {
                isInDoubt = isInDoubt || error.code == .inDoubt
                if isInDoubt || error.code == .unreachable, .now < end { continue }
                guard isInDoubt else { return .refuse(StoreError(error)) }
                return .refuse(StoreError.inDoubt(group.sequences, error, doubt(group)))
            }
        }
    }

    /// Appends a group of which an earlier attempt may have succeeded, or may still be under way. Who is turned away
    /// does not know which: in a turn of one's own the answer is final.
    private func appendInTurn(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer {
        while true {
            let answer = try appendOnce(group)
            guard answer == .turnedAway else { return answer }
            _ = try reaching { journal throws(SharedJournalError) in
                try journal.enter(after: group.head, bytes: 1)
            }
            state.withLock { $0.hasTurn = true }
        }
    }

    private func appendOnce(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer {
        let answer = try reaching { journal throws(SharedJournalError) in try journal.append(group)
        }
        guard answer == .accepted else { return answer }
        let end = group.after
        state.withLock { state in
            (state.hasTurn, state.head) = (false, end.sequence)
            state.settleDoubt(upTo: end.sequence)
        }
        journal.announce(end)
        return answer
    }

    // MARK: - Doubts

    /// Whether it is not known of a save what became of it.
    var isInDoubt: Bool { state.withLock { $0.doubt != nil } }

    /// Notes that it is not known what became of a group.
    ///
    /// - Returns: What has to be kept as long as a save of it may be made again.
    private func doubt(_ group: SharedGroup) -> DoubtWatch {
        state.withLock { state in
            // Nobody asks any more for what was in doubt before.
            if state.watch == nil { state.results = [:] }
            let watch = state.watch ?? DoubtWatch()
            (state.doubt, state.watch) = (group, watch)
            return watch
        }
    }

    /// Forgets the doubt if none of those whose saves it concerns will make one again: then the entries are there or
    /// not, as those of others.
    func forgetAbandonedDoubt() {
        state.withLock { state in
            guard state.doubt != nil, state.watch == nil else { return }
            state.doubt = nil
            state.results = [:]
        }
    }

    /// Keeps what a save in doubt would have answered.
    func keep(_ result: SaveResult, for digest: Digest) {
        state.withLock { $0.results[digest] = result }
    }

    /// What a save in doubt would have answered.
    func result(for digest: Digest) -> SaveResult? { state.withLock { $0.results[digest] } }

    /// Appends the group in doubt again: it is there then, or another entry is in its place.
    func settleDoubt() throws(SharedJournalError) {
        guard let group = state.withLock(\.doubt) else { return }
        _ = try trying { () throws(SharedJournalError) in try appendInTurn(group) }
        state.withLock { $0.doubt = nil }
    }

    /// Does something until it is known what became of it, or the time for that is over.
    func trying<R>(
        _ body: () throws(SharedJournalError) -> R
    ) throws(SharedJournalError) -> R {
        let end = endOfTrying
        while true {
            do throws(SharedJournalError) {
                return try body()
            } catch {
                guard error.code == .inDoubt || error.code == .unreachable, .now < end else {
                    throw error
                }
            }
        }
    }

    /// Asks for what is missing, as long as a save would try where one waits for it.
    func asking<R: Sendable>(
        _ body: (any SharedJournal) throws(SharedJournalError) -> R
    ) throws(SharedJournalError) -> R {
        guard state.withLock(\.hasSaves) else { return try reaching(body) }
        return try trying { () throws(SharedJournalError) in try reaching(body) }
    }

    /// Calls the journal, and notes whether it was reached. A call that fails ends this node's turn, unless it is none
    /// of those that belong to one.
    func reaching<R: Sendable>(
        endsTurn: Bool = true, _ body: (any SharedJournal) throws(SharedJournalError) -> R
    ) throws(SharedJournalError) -> R {
        do throws(SharedJournalError) {
            let result = try calling.withLock { _ throws(SharedJournalError) in try body(journal) }
            state.withLock { $0.failure = nil }
            return result
        } catch {
            note(error, endsTurn: endsTurn)
            throw error
        }
    }

    private func note(_ error: SharedJournalError, endsTurn: Bool) {
        state.withLock { state in
            if endsTurn { state.hasTurn = false }
            switch error.code {
            case .diverged: state.stopped = StoreError(error)
            case .unreachable, .inDoubt, .unprotected, .refused:
                state.failure = (state.failure?.since ?? journal.now(), error)
            case .quarantined, .tooLarge: break
            }
        }
    }

    /// Until when to try. When nobody could be reached before, once: others of this node wait behind this write.
    private var endOfTrying: ContinuousClock.Instant {
        state.withLock { $0.failure != nil } ? .now : .now + link.saveTimeout
    }

    func asStoreError<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as SharedJournalError {
            throw StoreError(error)
        }
    }

    /// A node that has its turn is not overtaken; this bounds servers that do not keep to that.
    private static let roundsMaximum = 64
    /// How many groups queue up at once after one was overtaken.
    private static let groupsQueueing = 8
}

extension SharedGroup {
    /// Where the journal ends when it was appended.
    package var after: SharedHead {
        entries.last.map { SharedHead($0.sequence, $0.digest) } ?? head
    }

    /// The numbers of its entries.
    fileprivate var sequences: ClosedRange<SequenceNumber> {
        head.sequence.next...max(after.sequence, head.sequence.next)
    }
}
