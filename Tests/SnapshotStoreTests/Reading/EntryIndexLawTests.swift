import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Random histories: what the index of entries gives is what walking gives.
@Suite struct EntryIndexLawTests {
    /// A store, with and without indexes as it goes on.
    private struct Chronicle {
        private static let long = String(repeating: "x", count: 4_000)
        /// Texts that are easily taken for another: empty and blank ones, spellings, beginnings, and such as differ
        /// beyond the cut. The last one has a letter that Unicode 15 does not have.
        static let texts = [
            "ada", "bob", "ad", "", " ", "\0", "ada\0", "Andr\u{e9}", "Andre\u{301}", "\u{212b}",
            "\u{c5}", long + "1", long + "2", long, "\u{113c5}",
        ]
        static let keys = ["request", "req", "device", "cl\u{e9}", "cle\u{301}", "rare"]
        private static let indexable: [IndexedAttribution] = [
            .author, .info("request"), .info("req"), .info("cl\u{e9}"), .info("rare"),
        ]

        var evolving: Evolving
        var random: SeededGenerator
        var indexed: Set<IndexedAttribution>

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            indexed = Self.some(&random)
            evolving = try Evolving(model: Self.model(indexed, "first"))
        }

        var store: Store { evolving.store }

        private static func some(_ random: inout SeededGenerator) -> Set<IndexedAttribution> {
            Set(indexable.filter { _ in Bool.random(using: &random) })
        }

        /// A model; one with another note is never taken for one that was there before.
        private static func model(
            _ indexed: Set<IndexedAttribution>, _ note: String
        ) -> ManagedObjectModel {
            var thing = entity("Thing", [attribute("a", .int64, indexed: true)])
            thing.versionHashModifier = note
            return ManagedObjectModel(entities: [thing], indexesEntries: indexed)
        }

        mutating func number(_ range: ClosedRange<Int>) -> Int {
            Int.random(in: range, using: &random)
        }

        private mutating func text() -> String {
            // A few are common, and others are not.
            let last = number(0...1) == 0 ? 1 : Self.texts.count - 1
            return Self.texts[number(0...last)]
        }

        private mutating func info() -> [String: String] {
            var info: [String: String] = [:]
            for key in Self.keys where number(0...(key == "rare" ? 20 : 2)) == 0 {
                info[key] = text()
            }
            return info
        }

        /// Saves, as one of the programs that have the store open, or takes an entry back.
        mutating func save() throws {
            let program = evolving.openings[number(0...(evolving.openings.count - 1))]
            let author = number(0...3) == 0 ? nil : text()
            let head = try program.head()
            if number(0...5) == 0, try program.entry(head).version == nil {
                let request = try program.undoRequest(
                    of: head...head, author: author, info: info())
                try program.commit(request)
                return
            }
            let kind: EntryKind = number(0...3) == 0 ? .batch : .save
            let changes = try (0...number(0...2)).map { _ in
                program.insert(
                    try program.newObject("Thing"), ["a": .int(Int64(number(0...5)))])
            }
            try program.commit(
                SaveRequest(
                    header: EntryHeader(
                        kind: kind, author: author, info: info(),
                        occurredAt: number(0...3) == 0 ? nil : Int64(number(-50...400))),
                    changes: changes))
        }

        /// Begins and ends indexes; now and then that is taken back at once.
        mutating func migrate() throws {
            let before = (indexed, try store.projectionDigest()["index"])
            indexed = Self.some(&random)
            let note = "\(try store.head())"
            try evolving.open(model: Self.model(indexed, note))
            guard number(0...2) == 0 else { return }
            let head = try store.head()
            try store.commit(try store.undoRequest(of: head...head))
            #expect(try store.projectionDigest()["index"] == before.1)
            indexed = before.0
            try evolving.open(model: Self.model(indexed, note + ", again"))
        }

        mutating func selection() -> HeaderSelection {
            var selection = HeaderSelection()
            if number(0...1) == 0 {
                selection.authors = Set((0...number(0...2)).map { _ in text() })
            }
            if number(0...5) == 0 { selection.excludedAuthors = [text()] }
            for _ in 0..<number(0...2) {
                let key = Self.keys[number(0...(Self.keys.count - 1))]
                // More than are looked up in turn, now and then.
                let count = number(0...9) == 0 ? 40 : number(0...3)
                selection.info[key] = Set((0..<count).map { $0 < 4 ? text() : "none \($0)" })
            }
            if number(0...2) == 0 { selection.earliest = Int64(number(-60...410)) }
            if number(0...2) == 0 { selection.latest = Int64(number(-60...410)) }
            return selection
        }
    }

    private func expectFound(_ chronicle: inout Chronicle, _ about: Comment) throws {
        let store = chronicle.store
        let selection = chronicle.selection()
        let head = try store.head()
        let bounds = [
            chronicle.number(0...Int(head.rawValue)), chronicle.number(1...Int(head.rawValue) + 3),
        ]
        let (first, last) = (
            SequenceNumber(UInt64(bounds.min() ?? 0)), SequenceNumber(UInt64(bounds.max() ?? 0))
        )
        let order = chronicle.number(0...1) == 0 ? EntryOrder.oldestFirst : .newestFirst
        let limit = chronicle.number(0...2) == 0 ? chronicle.number(1...20) : .max
        var all: [Entry] = []
        try store.entries(from: first, through: min(last, head)) { entry in
            all.append(entry)
            return .proceed
        }
        if order == .newestFirst { all.reverse() }

        var found: [SequenceNumber] = []
        try store.entries(selectedBy: selection, from: first, through: last, order) { entry in
            if selection.includes(entry) { found.append(entry.sequence) }
            return found.count < limit ? .proceed : .stop
        }
        let expected = all.filter(selection.includes).map(\.sequence)
        #expect(found == Array(expected.prefix(limit)), "\(about): \(selection)")

        // Each index by itself, whether it pays or not.
        guard first > .zero else { return }
        for attribution in chronicle.indexed {
            let key = attribution.key
            let texts = attribution == .author ? selection.authors : selection.info[key]
            guard let texts, attribution != .author || !texts.isEmpty else { continue }
            var search = EntrySearch(
                store, attribution, texts, in: first...max(first, min(last, head)), order)
            var passed: [SequenceNumber] = []
            while let portion = try search.next() {
                passed += portion.entries.map(\.sequence)
            }
            let said = all.filter { entry in
                guard let text = attribution.text(entry.header.author, entry.header.info) else {
                    return false
                }
                return texts.isEmpty || texts.contains(text)
            }
            #expect(passed == said.map(\.sequence), "\(about): \(attribution), \(texts)")
        }
    }

    @Test(arguments: 1...25 as ClosedRange<UInt64>)
    func `the index gives what walking gives, in any range, order and number`(seed: UInt64) throws {
        var chronicle = try Chronicle(seed: seed)
        for step in 1...90 {
            try chronicle.save()
            if step.isMultiple(of: 29) {
                try chronicle.migrate()
                try chronicle.store.expectSound()
            }
            if step.isMultiple(of: 9) {
                for _ in 0..<6 { try expectFound(&chronicle, "seed \(seed), step \(step)") }
            }
        }
        try chronicle.store.expectSound()
    }
}
