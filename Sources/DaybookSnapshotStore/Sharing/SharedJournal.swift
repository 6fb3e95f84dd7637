// The room of sharing: one journal that several nodes append to, each with its own file beside it. This
// room knows the journal by a protocol only, and reads and writes it nowhere but between the bodies of a
// write and LMDB's commit.

package import DaybookJournalLog

/// A journal outside of the file, to which the stores of several machines append.
///
/// Every call is made on a thread that may wait, mostly the one that writes to the file, and returns when it
/// is done or has failed; none is made from two threads at once, except ``announce(_:)`` and ``now()``. A call
/// that failed with ``SharedJournalError/Code/unreachable`` may be made again: the conformer connects anew.
///
/// Invariants:
/// - Numbers run from 1 without a gap, and each entry carries the digest of the one before it.
/// - What ``append(_:)`` has accepted, or ``page(after:bytes:)`` has handed out, is never lost or changed. Nor are the
///   records of large data that it refers to.
package protocol SharedJournal: SharedRecords, AnyObject, Sendable {
    /// Which store it is: the same on every node.
    var identity: StoreIdentity { get }

    /// The time of the clock that the entries of all nodes follow, as far as it is known here, in microseconds
    /// since 1970. It asks nobody.
    func now() -> Int64

    /// How many bytes of payload one entry has at most.
    var entryBytesMaximum: Int { get }

    /// Appends entries, all or none, if the journal ends where they begin.
    ///
    /// It tries once. Where the outcome is not known, the caller appends the same group again, with the same
    /// token: absence proves nothing, as the first attempt may still be under way.
    ///
    /// - Parameter group: The entries.
    /// - Returns: Whether they were appended, and are held by as many servers as must not be lost together. A
    ///   turn ends with ``SharedAnswer/accepted``, and goes on with ``SharedAnswer/behind``; who has one is not
    ///   turned away.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/inDoubt`` when the outcome is not
    ///   known; with ``SharedJournalError/Code/unreachable``, ``SharedJournalError/Code/unprotected``,
    ///   ``SharedJournalError/Code/tooLarge`` or ``SharedJournalError/Code/refused`` when nothing was appended.
    func append(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer

    /// The entries after a place, in order, until they have so many bytes together.
    ///
    /// They are handed out as they were found; the caller checks them.
    ///
    /// - Parameters:
    ///   - head: The place where the caller's own journal ends.
    ///   - bytes: How many bytes of payloads are enough; one entry more may come than fits.
    /// - Returns: The entries, none when there are none after that place.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/diverged`` when the journal ends
    ///   before that place, or has another digest there; with ``SharedJournalError/Code/unreachable``,
    ///   ``SharedJournalError/Code/unprotected`` or ``SharedJournalError/Code/refused``.
    func page(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage

    /// Waits for its turn, and then reads as ``page(after:bytes:)`` does. Nobody else appends until this side
    /// has appended or called ``leave()``.
    ///
    /// Nodes that lost a race queue up this way: those that only tried again would starve.
    ///
    /// - Parameters:
    ///   - head: As there.
    ///   - bytes: As there.
    /// - Returns: As there.
    /// - Throws: As there; nobody is kept from appending then.
    func enter(after head: SharedHead, bytes: Int) throws(SharedJournalError) -> SharedPage

    /// Gives up the turn without appending. Nothing happens to a side that does not have it.
    func leave()

    /// Takes object numbers that nobody else has or will get.
    ///
    /// - Parameter count: How many.
    /// - Returns: The numbers, in a row.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/unreachable``; numbers may be lost
    ///   then. With ``SharedJournalError/Code/refused`` when too few are left, or this side may not write; with
    ///   ``SharedJournalError/Code/unprotected``.
    func takeNumbers(_ count: UInt64) throws(SharedJournalError) -> Range<UInt64>

    /// All marks of a kind, sorted by name.
    ///
    /// - Parameter kind: Their kind.
    /// - Returns: The marks that have a body.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/unreachable``,
    ///   ``SharedJournalError/Code/unprotected`` or ``SharedJournalError/Code/refused``.
    func marks(_ kind: SharedMark.Kind) throws(SharedJournalError) -> [SharedMark]

    /// Sets a mark that still has the version that the caller has read.
    ///
    /// - Parameter mark: The mark, with the version it had; 0 when there was none.
    /// - Returns: The new version; nil when the mark has another version by now, and stays what it is.
    /// - Throws: ``SharedJournalError`` with ``SharedJournalError/Code/unreachable`` or
    ///   ``SharedJournalError/Code/inDoubt``; setting the same mark again settles it. With
    ///   ``SharedJournalError/Code/unprotected`` or ``SharedJournalError/Code/refused`` when nothing was set.
    func set(_ mark: SharedMark) throws(SharedJournalError) -> Int64?

    /// Calls `body` with the number of the last entry, as far as it is known, when there may be news.
    ///
    /// News may come late, twice, or for nothing, and some may be lost: the conformer also looks now and then.
    ///
    /// - Parameter body: Called on any thread; it must not wait.
    /// - Returns: What ends the calls when it is released.
    func follow(_ body: @escaping @Sendable (SequenceNumber) -> Void) -> any AnyObject & Sendable

    /// Tells those who follow that the journal ends with this entry, which was accepted. It may fail in silence.
    ///
    /// - Parameter head: The last entry.
    func announce(_ head: SharedHead)
}

extension SharedJournal {
    /// The greatest number that an object can have.
    package static var numberMaximum: UInt64 { StoreLayout.objectNumberMaximum }
}

/// Where a journal ends: what the next entry is chained to.
package struct SharedHead: Sendable, Hashable {
    /// The number of the last entry; zero before the first.
    package let sequence: SequenceNumber
    /// Its digest.
    package let digest: Digest

    /// The place after an entry.
    package init(_ sequence: SequenceNumber, _ digest: Digest) {
        self.sequence = sequence
        self.digest = digest
    }

    /// Before the first entry.
    package static let start = SharedHead(.zero, .zero)
}

/// Entries that are appended together, or not at all.
package struct SharedGroup: Sendable, Hashable {
    /// Where the journal must end for them to fit.
    package let head: SharedHead
    /// Drawn at random for this group, and kept with each of its entries: who finds it behind `head` knows
    /// that the group was appended.
    package let token: Int64
    /// The entries, at least one, in order and chained.
    package let entries: [JournalEntry]

    /// A group that begins after `head`.
    package init(after head: SharedHead, token: Int64, _ entries: [JournalEntry]) {
        self.head = head
        self.token = token
        self.entries = entries
    }

    /// How many entries a group has at most.
    package static let entriesMaximum = 256
    /// How many bytes of payloads of several entries are sent at once; a longer group takes longer.
    package static let bytesMaximum = 8 << 20
    /// How many bytes of payload one entry has at most.
    package static let entryBytesMaximum = 512 << 20
}

/// What became of a group.
package enum SharedAnswer: Sendable, Hashable {
    /// It was appended, now or by an earlier attempt with the same token.
    case accepted
    /// The group is not there and never will be: the journal does not end where the group begins, or the clock that
    /// ``SharedJournal/now()`` told has been set right, and the group was made with a later time.
    case behind
    /// This call has appended nothing: somebody else has the turn or waits for it. Of earlier attempts it says
    /// nothing.
    case turnedAway
}

/// An entry as it was found in a shared journal. Nothing about it has been checked.
package struct SharedEntry: Sendable, Hashable {
    /// Its number.
    package let sequence: SequenceNumber
    /// When it was recorded, in microseconds since 1970.
    package let recordedAt: Int64
    /// Its content.
    package let payload: [UInt8]
    /// The digest it was appended with.
    package let digest: Digest
    /// The token of its group.
    package let token: Int64
    /// The name under which its writer was let in.
    package let login: String

    /// An entry with all that was found.
    package init(
        sequence: SequenceNumber, recordedAt: Int64, payload: [UInt8], digest: Digest,
        token: Int64, login: String
    ) {
        self.sequence = sequence
        self.recordedAt = recordedAt
        self.payload = payload
        self.digest = digest
        self.token = token
        self.login = login
    }
}

/// Some entries of a shared journal, in order.
package struct SharedPage: Sendable, Hashable {
    /// The entries.
    package let entries: [SharedEntry]
    /// Whether the journal ended with the last of them when they were read.
    package let isLast: Bool

    /// A page of entries.
    package init(_ entries: [SharedEntry], isLast: Bool) {
        self.entries = entries
        self.isLast = isLast
    }

    /// How many bytes of payloads are read together.
    package static let bytesUsual = 8 << 20
}

/// Something kept beside the journal under a name, such as a tag.
package struct SharedMark: Sendable, Hashable {
    /// What a mark is for.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        /// A name of an entry.
        case tag = 1
        /// A value that users keep about the store.
        case value = 2
        /// How far a reader has come. The last move of one may be lost: who has made it, or seen it, makes it again.
        case cursor = 3
    }

    /// What it is for.
    package let kind: Kind
    /// Its name, alone among those of its kind.
    package let name: String
    /// What it says; nil when it is to be removed.
    package let body: [UInt8]?
    /// Grows each time that it is set, and also when it is removed.
    package let version: Int64

    /// A mark with all that it says.
    package init(_ kind: Kind, _ name: String, _ body: [UInt8]?, version: Int64) {
        self.kind = kind
        self.name = name
        self.body = body
        self.version = version
    }
}
