import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore
import Foundation

/// The entries that are new to one client, as server-sent events. Each is read when those before have been sent: a slow
/// client makes nothing pile up.
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
    private var rest: ArraySlice<UInt8> = ArraySlice("retry: 1000\n\n".utf8)
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

    /// The next bytes; empty when the serving ends, or after it was told that the store cannot be read.
    func next(atMost count: Int) -> [UInt8] {
        if rest.isEmpty { rest = ArraySlice(nextEvents()) }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private func nextEvents() -> [UInt8] {
        var glances = 0
        while !isOver, !page.ending.isThere {
            do {
                let known = try place ?? page.store.place(after: reached)
                place = known
                try page.store.checkHas(known)
                let head = try page.store.head()
                if head > reached {
                    let last = min(head, SequenceNumber(reached.rawValue + Self.batch))
                    let events = try page.events(after: reached, through: last)
                    (reached, place) = (last, nil)
                    return events
                }
            } catch {
                isOver = true
                return Array("event: failure\ndata: \(ServedPage.sentence(error))\n\n".utf8)
            }
            if saved.wait(timeout: .now() + .milliseconds(Self.glance)) == .success {
                glances = 0
            } else {
                glances += 1
                if glances == Self.quietGlances { return Array(": nothing new\n\n".utf8) }
            }
        }
        return []
    }
}
