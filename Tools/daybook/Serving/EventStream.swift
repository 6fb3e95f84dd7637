import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore
import Foundation

/// The entries that are new to one client, as server-sent events. Each is read when those before have been sent: a slow
/// client makes nothing pile up, and shares what it takes with others at the same entry.
final class EventStream: @unchecked Sendable {
    // @unchecked Sendable because only the thread of its connection calls it; the watch only signals.

    /// How long the thread waits for an entry before it looks whether the serving ends, in milliseconds.
    private static let glance = 250
    /// After how many glances without an entry something is said. A client that has gone is noticed then.
    private static let quietGlances = 60
    /// How many entries are read at once.
    private static let batch: UInt64 = 64

    private let page: ServedPage
    private var reached: SequenceNumber
    /// The entry up to which was read; nil before it was looked for.
    private var place: JournalPlace?
    /// What is being sent, and how much of it has been.
    private var part = EventStream.text("retry: 1000\n\n")
    private var position = 0
    private var isOver = false
    private let saved = DispatchSemaphore(value: 0)
    private let watch: StoreWatch

    /// The entries after one.
    init(_ page: ServedPage, after sequence: SequenceNumber) {
        self.page = page
        reached = sequence
        let saved = saved
        watch = page.store.watch(.everything) { saved.signal() }
    }

    private static func text(_ text: String) -> KeptBytes {
        KeptBytes(Array(text.utf8), reached: .zero)
    }

    /// The next bytes; empty when the serving ends, or after it was told that the store cannot be read.
    func next(atMost count: Int) -> [UInt8] {
        if position == part.bytes.count {
            // Nothing is kept while an entry is waited for.
            part = Self.text("")
            part = nextPart()
            position = 0
        }
        let end = min(position + count, part.bytes.count)
        defer { position = end }
        return Array(part.bytes[position..<end])
    }

    private func nextPart() -> KeptBytes {
        var glances = 0
        while !isOver, !page.ending.isThere {
            do {
                let known = try place ?? page.store.place(after: reached)
                place = known
                try page.store.checkHas(known)
                let end = try page.store.end()
                if end.head > reached {
                    let last = min(end.head, SequenceNumber(reached.rawValue + Self.batch))
                    let events = try page.events(after: reached, through: last, end.rewinds)
                    if let events {
                        (reached, place) = (events.reached, nil)
                        if !events.bytes.isEmpty { return events }
                        continue
                    }
                }
            } catch {
                isOver = true
                return Self.text("event: failure\ndata: \(ServedPage.sentence(error))\n\n")
            }
            if saved.wait(timeout: .now() + .milliseconds(Self.glance)) == .success {
                glances = 0
            } else {
                glances += 1
                if glances == Self.quietGlances { return Self.text(": nothing new\n\n") }
            }
        }
        return Self.text("")
    }
}
