import DaybookJournalLog
import DaybookSnapshotStore
import Foundation
import Testing

extension SharedJournalRule {
    /// What is accepted, and how it is answered.
    static let appending: [SharedJournalRule] = [
        SharedJournalRule("a group that does not begin at the end is behind, whatever else it says")
        {
            place in
            let journal = try place.journal()
            let theirs = journal.group(after: .start, [1])
            let ours = journal.group(after: .start, [2])
            let ahead = journal.group(
                after: SharedHead(SequenceNumber(9), theirs.after.digest), [3])
            let other = journal.group(
                after: SharedHead(SequenceNumber(1), ours.after.digest), [4], [5])

            #expect(try journal.append(theirs) == .accepted)
            for late in [ours, ahead, other] { #expect(try journal.append(late) == .behind) }
            #expect(try journal.payloads() == [[1]])
        },
        SharedJournalRule("appending again with the same token is accepted and adds nothing") {
            place in
            let journal = try place.journal()
            let several = journal.group(after: .start, [1], [2])
            let one = journal.group(after: several.after, [3])
            let impostor = SharedGroup(after: several.after, token: one.token + 1, one.entries)

            for again in [several, several, one, one, several] {
                #expect(try journal.append(again) == .accepted)
            }
            #expect(try journal.append(impostor) == .behind)
            #expect(try place.journal().append(one) == .behind)
            #expect(try journal.payloads() == [[1], [2], [3]])
        },
        SharedJournalRule("a digest that does not fit is refused, in a list and alone") { place in
            let journal = try place.journal()
            let good = journal.group(after: .start, [1], [2], [3])
            let swapped = SharedGroup(after: .start, token: 1, [good.entries[1]])
            let broken = SharedGroup(after: .start, token: 1, [good.entries[0], good.entries[2]])

            for group in [swapped, broken] {
                journal.expectRefusal(of: group, "DB004")
            }
            #expect(try journal.append(good) == .accepted)
        },
        SharedJournalRule("clocks may be ten seconds ahead, and times never fall") { place in
            let journal = try place.journal()
            let hour: Int64 = 3_600_000_000
            let ahead = journal.group(after: .start, at: journal.now() + hour, [1])
            journal.expectRefusal(of: ahead, "DB007")
            let aheadTogether = journal.group(after: .start, at: journal.now() + hour, [1], [2])
            journal.expectRefusal(of: aheadTogether, "DB007")

            let now = journal.now() + 5_000_000
            let first = journal.group(after: .start, at: now, [1])
            #expect(try journal.append(first) == .accepted)
            let earlier = journal.group(after: first.after, at: now - 1, [2])
            let earlierTogether = journal.group(after: first.after, at: now - 1, [2], [3])
            for group in [earlier, earlierTogether] { journal.expectRefusal(of: group, "DB003") }
            let second = journal.group(after: first.after, at: now, [2])
            #expect(try journal.append(second) == .accepted)
        },
        SharedJournalRule("a group has at least one entry, and no more than fit") { place in
            let journal = try place.journal()
            let long = [UInt8](repeating: 7, count: 1 << 20)
            let eight = SharedGroup(
                after: .start, at: journal.now(), token: 1,
                payloads: Array(repeating: long, count: 8))
            let nine = SharedGroup(
                after: eight.after, at: journal.now(), token: 2,
                payloads: Array(repeating: long, count: 9))
            let many = SharedGroup(
                after: nine.after, at: journal.now(), token: 3,
                payloads: Array(repeating: [1], count: SharedGroup.entriesMaximum))
            let tooMany = SharedGroup(
                after: nine.after, at: journal.now(), token: 4,
                payloads: Array(repeating: [1], count: SharedGroup.entriesMaximum + 1))
            let none = SharedGroup(after: nine.after, token: 5, [])

            #expect(try journal.append(eight) == .accepted)
            // They are more than go into one statement, and are there together all the same.
            #expect(try journal.append(nine) == .accepted)
            #expect(try journal.append(nine) == .accepted)
            journal.expectRefusal(of: tooMany, "DB008")
            journal.expectRefusal(of: none, "DB008")
            #expect(try journal.append(many) == .accepted)
        },
        SharedJournalRule("long payloads come back whole, among short ones") { place in
            let journal = try place.journal()
            var generator = SeededGenerator(seed: 7)
            let long = (0..<(5 << 17) + 77).flatMap { _ in
                withUnsafeBytes(of: generator.next() as UInt64) { Array($0) }
            }
            let exact = Array(long[..<(1 << 20)])
            let group = journal.group(after: .start, [1], long, exact, exact + [9])

            #expect(try journal.append(group) == .accepted)
            #expect(try journal.append(group) == .accepted)
            #expect(try journal.payloads() == group.entries.map(\.payload))
            #expect(try journal.append(journal.group(after: .start, long)) == .behind)
            let broken = SharedGroup(
                after: group.after, token: 8,
                journal.group(after: group.after, [2], [3]).entries
                    + [JournalEntry(group.entries[1], payload: long + [1])])
            let error = #expect(throws: SharedJournalError.self) { try journal.append(broken) }
            #expect(error?.code == .refused)
            #expect(try journal.payloads().count == 4)
        },
    ]

    /// What is handed out.
    static let reading: [SharedJournalRule] = [
        SharedJournalRule("what was appended is read back, in order, with who appended it") {
            place in
            let journal = try place.journal()
            let first = journal.group(after: .start, [1, 2], [], [3])
            let second = journal.group(after: first.after, [4])

            #expect(try journal.append(first) == .accepted)
            #expect(try journal.append(second) == .accepted)
            let page = try journal.page(after: .start, bytes: SharedPage.bytesUsual)

            let entries = first.entries + second.entries
            let tokens = [first.token, first.token, first.token, second.token]
            #expect(page.isLast)
            #expect(page.entries.map(\.sequence.rawValue) == [1, 2, 3, 4])
            #expect(page.entries.map(\.payload) == [[1, 2], [], [3], [4]])
            #expect(page.entries.map(\.digest) == entries.map(\.digest))
            #expect(page.entries.map(\.recordedAt) == entries.map(\.recordedAt))
            #expect(page.entries.map(\.token) == tokens)
            #expect(page.entries.map(\.login) == Array(repeating: place.login, count: 4))
        },
        SharedJournalRule("pages end when they have enough, and say whether there is more") {
            place in
            let journal = try place.journal()
            let all = journal.group(after: .start, [1, 1], [2, 2], [3, 3], [4, 4], [5, 5])

            #expect(try journal.append(all) == .accepted)
            let first = try journal.page(after: .start, bytes: 3)
            #expect(first.entries.map(\.payload) == [[1, 1], [2, 2]])
            #expect(!first.isLast)
            let second = try journal.page(after: first.after(.start), bytes: 6)
            #expect(second.entries.map(\.payload) == [[3, 3], [4, 4], [5, 5]])
            #expect(second.isLast)
            let least = try journal.page(after: .start, bytes: 0)
            #expect(least.entries.map(\.payload) == [[1, 1]])
            let none = try journal.page(after: all.after, bytes: 6)
            #expect(none == SharedPage([], isLast: true))
        },
        SharedJournalRule("a place that the journal does not have is another way") { place in
            let journal = try place.journal()
            let theirs = journal.group(after: .start, [1], [2])
            let ours = journal.group(after: .start, [1], [3])

            #expect(try journal.append(theirs) == .accepted)
            for head in [ours.after, SharedHead(SequenceNumber(7), theirs.after.digest)] {
                let error = #expect(throws: SharedJournalError.self) {
                    try journal.page(after: head, bytes: 1)
                }
                #expect(error?.code == .diverged)
            }
        },
    ]
}

extension SharedJournal {
    /// A group of entries with these payloads, whose token follows from where it begins and what it says.
    func group(after head: SharedHead, at time: Int64? = nil, _ payloads: [UInt8]...) -> SharedGroup
    {
        let time = time ?? timeNotBeforeOthers()
        let entries = SharedGroup(after: head, at: time, token: 0, payloads: payloads)
        let token = entries.after.digest.bytes.prefix(7).reduce(Int64(1)) { $0 << 8 | Int64($1) }
        return SharedGroup(after: head, token: token, entries.entries)
    }

    /// The time of this journal, or the last one that another journal has told the rule: the clocks of two nodes are
    /// not quite the same, and an entry may not be earlier than the last. A rule has a thread of its own.
    private func timeNotBeforeOthers() -> Int64 {
        let told = Thread.current.threadDictionary
        let time = max(now(), told["time of a rule"] as? Int64 ?? .min)
        told["time of a rule"] = time
        return time
    }

    /// The payloads of all entries.
    func payloads() throws -> [[UInt8]] {
        try page(after: .start, bytes: 1 << 30).entries.map(\.payload)
    }

    /// Expects that a group is refused, by the name that the servers give to the reason.
    func expectRefusal(
        of group: SharedGroup, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: SharedJournalError.self, sourceLocation: sourceLocation) {
            try append(group)
        }
        #expect(error?.code == .refused, sourceLocation: sourceLocation)
        #expect(error?.message.contains(name) == true, sourceLocation: sourceLocation)
    }
}
