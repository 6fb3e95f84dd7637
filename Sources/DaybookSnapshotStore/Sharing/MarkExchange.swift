internal import DaybookJournalLog
internal import DaybookObjectModel

/// What has to happen for a file and the servers to keep the same beside the journal.
///
/// What was changed on one side only goes to the other. When both were, the servers' tag stands, since a name is
/// given once; of a cursor the further place; and of a value the file's, which reaches the servers last. Servers that
/// fail over may have lost the last move of a cursor: then the further place stands, too, as what was done up to there
/// must not be done again.
struct MarkExchange: Sendable {
    /// What the file is to have instead; no body for what it is to forget.
    private(set) var toKeep: [MarkName: [UInt8]?] = [:]
    /// What the servers are to have, with the version that they have now.
    private(set) var toSend: [SharedMark] = []
    /// What the servers are known to have, until that is sent.
    private(set) var known: KnownMarks

    private let local: MarkBodies
    private let found: KnownMarks

    /// Compares what the file has, what the servers were known to have, and what they have now.
    ///
    /// - Parameters:
    ///   - local: The bodies in the file.
    ///   - known: What the servers were known to have.
    ///   - found: What they have now.
    ///   - deferred: What the servers have and the file cannot keep yet, such as the tag of an entry that is
    ///   still missing.
    init(local: MarkBodies, known: KnownMarks, found: KnownMarks, deferred: Set<MarkName>) {
        (self.local, self.known, self.found) = (local, known, found)
        let names = Set(local.keys).union(known.keys).union(found.keys).subtracting(deferred)
        for name in names.sorted() { settle(name) }
    }

    private mutating func settle(_ name: MarkName) {
        let (here, there, before) = (local[name], found[name], known[name])
        if here == there?.body { return known[name] = there }
        let isLost = isLostMove(of: name)
        let isUnchangedHere = here == before?.body && !isLost
        let isChangedThere = there?.version != before?.version || isLost
        if isUnchangedHere || isChangedThere && theirs(name) {
            toKeep[name] = .some(there?.body)
            known[name] = there
        } else if SharedMark.fits(name.name, here) {
            toSend.append(SharedMark(name.kind, name.name, here, version: there?.version ?? 0))
            known[name] = there
        }
    }

    /// Whether the servers have another place of a cursor than they were known to have, and no later one.
    private func isLostMove(of name: MarkName) -> Bool {
        guard name.kind == .cursor, let there = found[name], let before = known[name] else {
            return false
        }
        return there.version <= before.version && there.body != before.body
    }

    /// Whether the servers' stands where both sides have changed something.
    private func theirs(_ name: MarkName) -> Bool {
        switch name.kind {
        case .tag: return true
        case .value: return false
        case .cursor:
            let places = [local[name], found[name]?.body].map { $0.flatMap(StoreCursor.sequence) }
            guard let here = places[0], let there = places[1] else { return false }
            return there >= here
        }
    }
}

extension SharedMark {
    /// Whether servers keep a mark of this form.
    static func fits(_ name: String, _ body: [UInt8]?) -> Bool {
        // No text of PostgreSQL has a zero byte.
        name.utf8.count <= nameBytesMaximum && !name.utf8.contains(0)
            && body?.count ?? 0 <= bodyBytesMaximum
    }

    private static let nameBytesMaximum = 1_024
    private static let bodyBytesMaximum = 1 << 20
}
