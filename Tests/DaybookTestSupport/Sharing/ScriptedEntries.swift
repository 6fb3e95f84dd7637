import DaybookJournalLog
import DaybookSnapshotStore

/// The entries of a scripted server, with the checks of the real one's `append`.
///
/// Invariants:
/// - Numbers run from 1 without a gap.
/// - Each digest fits its entry and the digest before.
struct ScriptedEntries {
    private var rows: [(entry: SharedEntry, writer: ScriptedWriter)] = []

    /// Longer payloads are appended one by one.
    private static let chunkBytes = 1 << 20
    private static let rowsMaximum = 32_768
    /// How far the clock of a node may be ahead, in microseconds.
    private static let aheadMaximum: Int64 = 10_000_000

    /// All of them.
    var all: [SharedEntry] { rows.map(\.entry) }

    /// Where they end.
    var head: SharedHead {
        guard let last = rows.last?.entry else { return .start }
        return SharedHead(last.sequence, last.digest)
    }

    /// Removes an entry and those after it.
    mutating func cut(from sequence: SequenceNumber) {
        rows.removeAll { $0.entry.sequence >= sequence }
    }

    // MARK: - Appending

    /// Appends a group, all or none.
    mutating func append(
        _ group: SharedGroup, by writer: ScriptedWriter, at clock: Int64
    ) throws(SharedJournalError) -> SharedAnswer {
        guard group.entries.contains(where: { $0.payload.count > Self.chunkBytes }) else {
            return try appendAtOnce(group, by: writer, at: clock)
        }
        var appended = self
        var head = group.head
        for entry in group.entries {
            let one = SharedGroup(after: head, token: group.token, [entry])
            let answer = try appended.appendAtOnce(one, by: writer, at: clock)
            guard answer == .accepted else { return answer }
            head = SharedHead(entry.sequence, entry.digest)
        }
        self = appended
        return .accepted
    }

    private mutating func appendAtOnce(
        _ group: SharedGroup, by writer: ScriptedWriter, at clock: Int64
    ) throws(SharedJournalError) -> SharedAnswer {
        guard 1...SharedGroup.entriesMaximum ~= group.entries.count else {
            throw .refused("entries have an impossible form", "DB008")
        }
        guard head == group.head else {
            return isThere(group, by: writer) ? .accepted : .behind
        }
        try check(group, at: clock)
        for entry in group.entries {
            let found = SharedEntry(
                sequence: head.sequence.next, recordedAt: entry.recordedAt, payload: entry.payload,
                digest: entry.digest, token: group.token, login: writer.login)
            rows.append((found, writer))
        }
        return .accepted
    }

    /// Whether an earlier attempt has appended the group: its last entry tells.
    private func isThere(_ group: SharedGroup, by writer: ScriptedWriter) -> Bool {
        let last = group.head.sequence.rawValue &+ UInt64(group.entries.count)
        guard 1...UInt64(rows.count + 1) ~= last, last <= rows.count else { return false }
        let row = rows[Int(last) - 1]
        return row.writer == writer && row.entry.token == group.token
            && row.entry.digest == group.entries.last?.digest
    }

    private func check(_ group: SharedGroup, at clock: Int64) throws(SharedJournalError) {
        let headTime = rows.last?.entry.recordedAt ?? .min
        var time = headTime
        var place = group.head
        for entry in group.entries {
            guard entry.recordedAt >= time else {
                throw .refused("an entry was recorded before the one it follows", "DB003")
            }
            time = entry.recordedAt
            let fitting = JournalEntry(after: place, at: time, payload: entry.payload)
            guard fitting.digest == entry.digest else {
                throw .refused("a digest does not fit its entry", "DB004")
            }
            place = SharedHead(fitting.sequence, entry.digest)
        }
        guard time <= max(clock + Self.aheadMaximum, headTime) else {
            throw .refused("the clock of the node is more than 10 seconds ahead", "DB007")
        }
    }

    // MARK: - Reading

    /// The entries after a place, until they have enough bytes; nil when they do not have the place.
    func page(after head: SharedHead, bytes: Int) -> SharedPage? {
        guard let start = Int(exactly: head.sequence.rawValue), start <= rows.count,
            start == 0 || rows[start - 1].entry.digest == head.digest
        else { return nil }
        var entries: [SharedEntry] = []
        var size = 0
        let limit = start == 0 ? Self.rowsMaximum : Self.rowsMaximum - 1
        for row in rows[start...].prefix(limit) {
            guard size < max(bytes, 1) else { break }
            entries.append(row.entry)
            size += Self.size(of: row.entry.payload.count)
        }
        return SharedPage(entries, isLast: start + entries.count == rows.count)
    }

    /// What a payload counts: chunks count as if all were full.
    private static func size(of count: Int) -> Int {
        count > chunkBytes ? (count + chunkBytes - 1) / chunkBytes * chunkBytes : count
    }
}
