internal import DaybookJournalLog
package import DaybookSnapshotStore

/// What goes wrong with the calls of one node, in order.
///
/// Each call uses up the first fault of its kind; when there is none left, all goes well.
///
/// ```swift
/// FaultScript(
///     appends: [.goesWell, .overtaken { try $0.add([1]) }, .inDoubt(.landed)], pages: [.cut(to: 1)])
/// ```
package struct FaultScript: Sendable {
    /// For ``SharedJournal/append(_:)``.
    package var appends: [WriteFault]
    /// For ``SharedJournal/page(after:bytes:)`` and ``SharedJournal/enter(after:bytes:)``.
    package var pages: [PageFault]
    /// For ``SharedJournal/takeNumbers(_:)``. One that is in doubt is told as unreachable.
    package var numbers: [WriteFault]
    /// For ``SharedJournal/set(_:)``.
    package var marks: [WriteFault]
    /// For ``SharedRecords/keep(_:)``. One that is in doubt is told as unreachable.
    package var records: [WriteFault]
    /// For news that this node would be told.
    package var news: [NewsFault]

    /// A script of these faults.
    package init(
        appends: [WriteFault] = [], pages: [PageFault] = [], numbers: [WriteFault] = [],
        marks: [WriteFault] = [], records: [WriteFault] = [], news: [NewsFault] = []
    ) {
        self.appends = appends
        self.pages = pages
        self.numbers = numbers
        self.marks = marks
        self.records = records
        self.news = news
    }

    /// Random faults that a node has to overcome by itself: others are faster, answers and news are lost, servers
    /// are not reached for a while, and pages are short.
    ///
    /// - Parameters:
    ///   - seed: The same faults for the same seed.
    ///   - count: How many calls of each kind may meet one; all later ones go well.
    ///   - rarity: One call in so many meets one.
    ///   - overtaking: What somebody else appends who is faster; nothing when nil.
    /// - Returns: The script.
    package static func random(
        seed: UInt64, count: Int = 64, rarity: Int = 3, overtaking: WriteFault.Deed? = nil
    ) -> FaultScript {
        var random = SeededGenerator(seed: seed)
        func draw<Fault>(_ well: Fault, _ faults: [Fault]) -> [Fault] {
            (0..<count).map { _ in
                let isFault = Int.random(in: 0..<max(rarity, 1), using: &random) == 0
                return isFault ? faults.randomElement(using: &random) ?? well : well
            }
        }
        let writes: [WriteFault] = [.inDoubt(.landed), .inDoubt(.lost), .fails(.unreachable)]
        return FaultScript(
            appends: draw(.goesWell, writes + (overtaking.map { [.overtaken($0)] } ?? [])),
            pages: draw(.goesWell, [.cut(to: 1), .cut(to: 2), .fails(.unreachable)]),
            numbers: draw(.goesWell, writes), marks: draw(.goesWell, writes),
            records: draw(.goesWell, writes), news: draw(.goesWell, [.lost, .doubled]))
    }
}

/// What goes wrong with a call that changes something.
package enum WriteFault: Sendable {
    /// What is done on the server before a call comes there.
    package typealias Deed = @Sendable (ScriptedServer) throws -> Void

    /// What becomes of a call whose answer is lost.
    package enum Landing: Sendable, Hashable {
        /// It is done, if the server accepts it.
        case landed
        /// It never comes to the server.
        case lost
        /// It comes there when the test says so, by ``ScriptedJournal/land()``.
        case later
    }

    /// Nothing.
    case goesWell
    /// Something else is done first, such as the append of a foreign entry.
    case overtaken(Deed)
    /// The answer is lost.
    case inDoubt(Landing)
    /// Nothing is done.
    case fails(SharedJournalError.Code)
}

/// What goes wrong with a call that reads entries.
package enum PageFault: Sendable, Hashable {
    /// Nothing.
    case goesWell
    /// Only so many entries come, whatever was asked for. It waits for a page that has more.
    case cut(to: Int)
    /// One entry is not what was appended, or the last one where the page is shorter. It waits for a page that has
    /// entries.
    case damaged(at: Int, EntryDamage)
    /// Nothing comes.
    case fails(SharedJournalError.Code)
}

/// What becomes of a piece of news.
package enum NewsFault: Sendable, Hashable {
    /// It is told.
    case goesWell
    /// It is not told.
    case lost
    /// It is told twice.
    case doubled
    /// It is told when the test says so, by ``ScriptedJournal/tellHeldNews()``.
    case held
}

/// What is wrong with an entry that is handed out.
package enum EntryDamage: Sendable, Hashable, CaseIterable {
    /// A byte of its payload.
    case payload
    /// A byte of its digest.
    case digest
    /// Its digest fits its payload, and not the entry before.
    case chain
    /// Its number, and those after it, are one too great, as if an entry were missing.
    case gap
}

extension SharedPage {
    /// The first entries of the page; nil when it has no more than that.
    func cut(to count: Int) -> SharedPage? {
        entries.count > count ? SharedPage(Array(entries.prefix(count)), isLast: false) : nil
    }

    /// The page with a damaged entry; nil when it has none.
    func damaged(at index: Int, _ damage: EntryDamage) -> SharedPage? {
        guard !entries.isEmpty else { return nil }
        let place = min(index, entries.count - 1)
        var entries = entries
        switch damage {
        case .payload:
            var payload = entries[place].payload
            if payload.isEmpty { payload = [0] } else { payload[payload.count / 2] ^= 0x10 }
            entries[place] = entries[place].changed(payload: payload)
        case .digest:
            entries[place] = entries[place].changed(digest: entries[place].digest.damaged)
        case .chain:
            let entry = entries[place]
            let elsewhere = SharedHead(
                SequenceNumber(entry.sequence.rawValue - 1), entry.digest.damaged)
            let other = JournalEntry(
                after: elsewhere, at: entry.recordedAt, payload: entry.payload)
            entries[place] = entry.changed(digest: other.digest)
        case .gap:
            for index in place..<entries.count {
                entries[index] = entries[index].changed(sequence: entries[index].sequence.next)
            }
        }
        return SharedPage(entries, isLast: isLast)
    }
}

extension SharedEntry {
    fileprivate func changed(
        sequence: SequenceNumber? = nil, payload: [UInt8]? = nil, digest: Digest? = nil
    ) -> SharedEntry {
        SharedEntry(
            sequence: sequence ?? self.sequence, recordedAt: recordedAt,
            payload: payload ?? self.payload, digest: digest ?? self.digest, token: token,
            login: login)
    }
}

extension Digest {
    /// Another digest.
    fileprivate var damaged: Digest {
        var bytes = bytes
        bytes[0] ^= 0x10
        return Digest(bytes: bytes) ?? .zero
    }
}
