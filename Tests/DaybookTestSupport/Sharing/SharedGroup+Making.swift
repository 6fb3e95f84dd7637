package import DaybookJournalLog
package import DaybookSnapshotStore

extension JournalEntry {
    /// The entry that says this after a place, with the digest that fits.
    package init(after head: SharedHead, at time: Int64, payload: [UInt8]) {
        let sequence = head.sequence.next
        let bare = JournalEntry(
            sequence: sequence, recordedAt: time, previous: head.digest, payload: payload,
            digest: .zero)
        self.init(
            sequence: sequence, recordedAt: time, previous: head.digest, payload: payload,
            digest: .ofEntry(bare.bytes))
    }

    /// An entry with another payload, whose digest does not fit it.
    package init(_ other: JournalEntry, payload: [UInt8]) {
        self.init(
            sequence: other.sequence, recordedAt: other.recordedAt, previous: other.previous,
            payload: payload, digest: other.digest)
    }
}

extension SharedGroup {
    /// Entries with these payloads after a place, chained.
    package init(after head: SharedHead, at time: Int64, token: Int64, payloads: [[UInt8]]) {
        var place = head
        let entries = payloads.map { payload in
            let entry = JournalEntry(after: place, at: time, payload: payload)
            place = SharedHead(entry.sequence, entry.digest)
            return entry
        }
        self.init(after: head, token: token, entries)
    }
}

extension SharedPage {
    /// The place after it, or the one before where it is empty.
    package func after(_ head: SharedHead) -> SharedHead {
        guard let last = entries.last else { return head }
        return SharedHead(last.sequence, last.digest)
    }
}
