internal import DaybookJournalLog
internal import Dispatch
internal import Synchronization

/// What was made of entries that lie side by side.
struct EntryPiece<Made: Sendable>: Sendable {
    /// What was made, in the order of the entries.
    var made: [Made] = []
    /// The first entry, and the digest that it carries of the one before; nil without entries.
    var first: JournalPlace?
    /// The last entry and its digest; nil without entries.
    var last: JournalPlace?
    /// The bytes of the entries.
    var byteCount = 0
    /// Why the entry behind the last one is not among them; nil where there were enough bytes.
    var failure: (any Error)?
}

/// A walk over entries that other cores read ahead of, while one thread takes in order what they have made.
///
/// The journal is cut into pieces of so many entries. Each is read by whoever comes first: a helper on another
/// core, or the thread that takes, which reads a later piece while a helper is still reading the one it needs next.
/// So that thread never waits for a helper to begin, and nothing waits forever where all threads are busy. A helper
/// never waits at all: where there is nothing to do it ends, and the thread that takes asks for another one.
///
/// Invariants:
/// - The pieces are numbered in the order of the journal, and each is claimed once.
/// - No more pieces are ahead than four for each core, nor are more read while those ahead have very many bytes.
/// - After the walk no helper reads anything, and a late one finds nothing to do.
final class EntriesAhead<Made: Sendable>: Sendable {
    /// Reads entries up to one, as many as go together, and makes something of each.
    typealias Read = @Sendable (ClosedRange<SequenceNumber>) -> EntryPiece<Made>

    /// A piece whose turn has come, or will: what was made of it ahead, or nothing yet.
    private struct Turn {
        let range: ClosedRange<SequenceNumber>
        let piece: EntryPiece<Made>?
    }

    private struct State {
        /// The first entry of no piece.
        var next: SequenceNumber
        let last: SequenceNumber
        /// How many entries a new piece has.
        var together = 64
        var claimed = 0
        var taken = 0
        /// What was made ahead, by the numbers of the pieces.
        var ready: [Int: Turn] = [:]
        var bytesReady = 0
        /// Helpers that were asked for and have not ended.
        var helpers = 0
        /// Those of them that are reading.
        var reading = 0
        /// Nil at the end.
        var read: Read?

        /// The next piece, which is the caller's.
        mutating func claim() -> (number: Int, range: ClosedRange<SequenceNumber>)? {
            guard next <= last else { return nil }
            let rest = last.rawValue - next.rawValue
            let end = SequenceNumber(next.rawValue + min(rest, UInt64(together - 1)))
            defer {
                next = end.next
                claimed += 1
            }
            return (claimed, next...end)
        }

        /// Whether another piece may be read ahead: few at first, so that whoever soon has enough reads little in
        /// vain.
        func hasRoom(_ cores: Int) -> Bool {
            next <= last && bytesReady < EntriesAhead.bytesReadyMaximum
                && claimed - taken < min(taken, 4 * (cores + 1))
        }

        /// Lets pieces have fewer entries where these are large, and more where they are small.
        mutating func adapt(to piece: EntryPiece<Made>, of range: ClosedRange<SequenceNumber>) {
            guard let reached = piece.last?.sequence else { return }
            if reached < range.upperBound {
                together = max(1, together / 2)
            } else if piece.byteCount < EntriesAhead.pieceBytesLimit / 4 {
                together = min(EntriesAhead.togetherMaximum, 2 * together)
            }
        }
    }

    /// With so many bytes a piece has enough entries.
    static var pieceBytesLimit: Int { 1 << 18 }
    private static var togetherMaximum: Int { 256 }
    /// With so many bytes ahead no more are read.
    private static var bytesReadyMaximum: Int { 8 << 20 }

    private let state: Mutex<State>
    private let cores: OtherCores
    /// Signalled whenever a helper has read a piece.
    private let progress = DispatchSemaphore(value: 0)

    /// A walk that has not begun.
    ///
    /// - Parameters:
    ///   - range: The entries.
    ///   - cores: Who reads ahead.
    ///   - read: Reads entries on their threads. What it fails to read is read again by the walk itself.
    init(
        _ range: ClosedRange<SequenceNumber>, on cores: OtherCores,
        read: @escaping Read
    ) {
        self.cores = cores
        state = Mutex(State(next: range.lowerBound, last: range.upperBound, read: read))
    }

    /// Walks; once only.
    ///
    /// - Parameters:
    ///   - readHere: Reads entries on this thread.
    ///   - checkChain: Checks that a piece follows another: with the last entry of that one and its digest, and the
    ///     first entry of this one and the digest that it carries.
    ///   - body: Takes what was made of each entry, in order, on this thread, and says whether to go on.
    /// - Throws: Why an entry could not be read by `readHere`; what the closures throw. What was made of all
    ///   entries before has been taken then.
    func forEach(
        readHere: (ClosedRange<SequenceNumber>) -> EntryPiece<Made>,
        checkChain: (_ older: JournalPlace, _ newer: JournalPlace) throws -> Void,
        _ body: (Made) throws -> WalkStep
    ) throws {
        defer { end() }
        var last: JournalPlace?
        func take(_ piece: EntryPiece<Made>) throws -> WalkStep {
            if let last, let first = piece.first { try checkChain(last, first) }
            last = piece.last ?? last
            for made in piece.made where try body(made) == .stop { return .stop }
            return .proceed
        }
        while let turn = nextTurn(readHere) {
            var rest: SequenceNumber? = turn.range.lowerBound
            if let piece = turn.piece {
                if try take(piece) == .stop { return }
                rest = piece.last?.sequence.next ?? rest
            }
            while let first = rest, first <= turn.range.upperBound {
                let range = first...turn.range.upperBound
                let piece = readHere(range)
                state.withLock { $0.adapt(to: piece, of: range) }
                if try take(piece) == .stop { return }
                if let failure = piece.failure { throw failure }
                // The journal is shorter than it was said to be.
                guard let reached = piece.last?.sequence else { return }
                rest = reached.next
            }
        }
    }

    // MARK: - The thread that takes

    /// What the thread that takes does next.
    private enum Next {
        case take(Turn)
        /// Its turn is being read by a helper, so it reads a later piece meanwhile.
        case readAhead(number: Int, range: ClosedRange<SequenceNumber>)
        case wait
        case end
    }

    private func nextTurn(_ readHere: (ClosedRange<SequenceNumber>) -> EntryPiece<Made>) -> Turn? {
        while true {
            let next = state.withLock { state -> Next in
                if let turn = state.ready.removeValue(forKey: state.taken) {
                    state.taken += 1
                    state.bytesReady -= turn.piece?.byteCount ?? 0
                    return .take(turn)
                }
                guard state.taken == state.claimed else {
                    guard state.hasRoom(cores.count), let claim = state.claim() else {
                        return .wait
                    }
                    return .readAhead(number: claim.number, range: claim.range)
                }
                guard let claim = state.claim() else { return .end }
                state.taken += 1
                return .take(Turn(range: claim.range, piece: nil))
            }
            switch next {
            case .take(let turn):
                askForHelp()
                return turn
            case .readAhead(let number, let range): keep(readHere(range), number, range)
            case .wait: progress.wait()
            case .end: return nil
            }
        }
    }

    /// Keeps a piece until its turn comes.
    private func keep(
        _ piece: EntryPiece<Made>, _ number: Int, _ range: ClosedRange<SequenceNumber>
    ) {
        state.withLock { state in
            state.adapt(to: piece, of: range)
            state.ready[number] = Turn(range: range, piece: piece)
            state.bytesReady += piece.byteCount
        }
    }

    private func askForHelp() {
        let isAsked = state.withLock { state in
            guard state.helpers < cores.count, state.hasRoom(cores.count) else { return false }
            state.helpers += 1
            return true
        }
        if isAsked { cores.run { self.help() } }
    }

    /// Lets no helper begin another piece, and waits for those that are reading.
    private func end() {
        state.withLock { state in
            state.next = state.last.next
            state.read = nil
        }
        while state.withLock({ $0.reading > 0 }) { progress.wait() }
    }

    // MARK: - Helpers

    private func help() {
        while true {
            let work = state.withLock { state -> (Read, Int, ClosedRange<SequenceNumber>)? in
                guard let read = state.read, state.hasRoom(cores.count), let claim = state.claim()
                else {
                    state.helpers -= 1
                    return nil
                }
                state.reading += 1
                return (read, claim.number, claim.range)
            }
            guard let (read, number, range) = work else { return }
            keep(read(range), number, range)
            state.withLock { $0.reading -= 1 }
            progress.signal()
        }
    }
}
