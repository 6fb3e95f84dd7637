import DaybookJournalLog
import DaybookSnapshotStore
import Testing

extension SharedJournalRule {
    /// Who may append when several want to.
    static let turns: [SharedJournalRule] = [
        SharedJournalRule("sixteen writers lose nothing, double nothing, and leave no gap") {
            place in
            let (writers, each) = (16, 12)

            let appended = try waitingForThreads(writers) { writer in
                let journal = try place.journal()
                var head = SharedHead.start
                // The clocks of two nodes are not quite the same, and an entry may not be earlier than the last.
                var time = Int64.min
                return try (0..<each).map { number in
                    let payload = Array("\(writer) \(number)".utf8)
                    time = max(time, journal.now())
                    // One try, and then a turn: those who only try again would starve.
                    let first = journal.group(after: head, at: time, payload)
                    if try journal.append(first) == .accepted {
                        head = first.after
                        return payload
                    }
                    let page = try journal.enter(after: head, bytes: 8 << 20)
                    head = page.after(head)
                    time = max(time, page.entries.last?.recordedAt ?? time)
                    let second = journal.group(after: head, at: time, payload)
                    try #require(try journal.append(second) == .accepted)
                    head = second.after
                    return payload
                }
            }.flatMap(\.self)
            let page = try place.journal().page(after: .start, bytes: 1 << 30)

            #expect(page.entries.map(\.sequence.rawValue) == Array(1...UInt64(writers * each)))
            #expect(Set(page.entries.map(\.payload)) == Set(appended))
            #expect(page.entries.count == appended.count)
            let times = page.entries.map(\.recordedAt)
            #expect(times == times.sorted())
        },
        SharedJournalRule("nobody appends past a turn, until it is left") { place in
            let (ours, theirs) = (try place.journal(), try place.journal())
            _ = try ours.enter(after: .start, bytes: 1)
            #expect(try theirs.append(theirs.group(after: .start, [1])) == .turnedAway)
            #expect(try theirs.page(after: .start, bytes: 1).entries == [])
            ours.leave()
            theirs.leave()
            let first = theirs.group(after: .start, [1])
            #expect(try theirs.append(first) == .accepted)

            let page = try ours.enter(after: .start, bytes: 1 << 20)
            #expect(page.entries.map(\.payload) == [[1]])
            ours.leave()
        },
        SharedJournalRule("who is turned away is not told that nothing is there") { place in
            let (ours, theirs) = (try place.journal(), try place.journal())
            let first = ours.group(after: .start, [1])
            #expect(try ours.append(first) == .accepted)
            _ = try theirs.enter(after: first.after, bytes: 1)
            #expect(try ours.append(first) == .turnedAway)
            theirs.leave()

            #expect(try ours.append(first) == .accepted)
        },
        SharedJournalRule("a turn goes on when it is behind, and ends when it has appended") {
            place in
            let (ours, theirs) = (try place.journal(), try place.journal())
            let other = ours.group(after: .start, [9])
            _ = try ours.enter(after: .start, bytes: 1)
            #expect(try ours.append(ours.group(after: other.after, [1])) == .behind)
            #expect(try theirs.append(theirs.group(after: .start, [2])) == .turnedAway)
            #expect(try ours.enter(after: .start, bytes: 1).entries == [])
            let first = ours.group(after: .start, [3])
            #expect(try ours.append(first) == .accepted)
            let second = theirs.group(after: first.after, [4])
            #expect(try theirs.append(second) == .accepted)

            // What is there already is accepted in a turn, too, and ends it.
            _ = try ours.enter(after: second.after, bytes: 1)
            #expect(try ours.append(first) == .accepted)
            let third = theirs.group(after: second.after, [5])
            #expect(try theirs.append(third) == .accepted)
            #expect(try ours.payloads() == [[3], [4], [5]])
        },
        SharedJournalRule("a turn ends with an error") { place in
            let (ours, theirs) = (try place.journal(), try place.journal())
            let good = ours.group(after: .start, [1], [2])
            _ = try ours.enter(after: .start, bytes: 1)
            ours.expectRefusal(
                of: SharedGroup(after: .start, token: 1, [good.entries[1]]), "DB004")
            let first = theirs.group(after: .start, [3])
            #expect(try theirs.append(first) == .accepted)

            let error = #expect(throws: SharedJournalError.self) {
                try ours.enter(after: good.after, bytes: 1)
            }
            #expect(error?.code == .diverged)
            #expect(try theirs.append(theirs.group(after: first.after, [4])) == .accepted)
        },
    ]
}
