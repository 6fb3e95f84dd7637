import DaybookSnapshotStore

/// The marks of a scripted server. One that was removed stays without a body, so that its version still grows.
struct ScriptedMarks {
    private struct Place: Hashable {
        let kind: SharedMark.Kind
        /// Names that look the same are two when their bytes are.
        let name: [UInt8]

        init(_ kind: SharedMark.Kind, _ name: String) {
            self.kind = kind
            self.name = Array(name.utf8)
        }
    }

    private struct Row {
        let name: String
        var body: [UInt8]?
        var version: Int64
    }

    private var rows: [Place: Row] = [:]
    /// The names that cannot be written, as in a database of another encoding.
    var unwritableNames: Set<String> = []

    private static let bodyBytesMaximum = 1 << 20
    private static let nameBytesMaximum = 1_024

    /// Those of a kind that have a body, sorted by the bytes of their names.
    func all(_ kind: SharedMark.Kind) -> [SharedMark] {
        rows.filter { $0.key.kind == kind && $0.value.body != nil }
            .sorted { $0.key.name.lexicographicallyPrecedes($1.key.name) }
            .map { SharedMark(kind, $0.value.name, $0.value.body, version: $0.value.version) }
    }

    /// Sets a mark that has the version given, as the servers' `set_mark` does.
    mutating func set(_ mark: SharedMark) throws(SharedJournalError) -> Int64? {
        guard mark.body?.count ?? 0 <= Self.bodyBytesMaximum,
            mark.name.utf8.count <= Self.nameBytesMaximum
        else { throw .refused("a mark has an impossible form", "DB008") }
        guard !mark.name.utf8.contains(0) else {
            throw .refused("invalid byte sequence for encoding", "22021")
        }
        guard !unwritableNames.contains(mark.name) else {
            throw .refused("a character has no equivalent", "22P05")
        }
        let place = Place(mark.kind, mark.name)
        let row = rows[place]
        if maySet(mark, over: row) {
            let new = Row(name: mark.name, body: mark.body, version: (row?.version ?? 0) + 1)
            rows[place] = new
            return new.version
        }
        guard let row else { return nil }
        let isRepeated =
            row.version == mark.version + 1 && row.body == mark.body
            || mark.version == 0 && mark.body != nil && row.body == mark.body
        return isRepeated ? row.version : nil
    }

    /// Has a mark be what it was before.
    mutating func setBack(_ mark: SharedMark) {
        rows[Place(mark.kind, mark.name)] = Row(
            name: mark.name, body: mark.body, version: mark.version)
    }

    private func maySet(_ mark: SharedMark, over row: Row?) -> Bool {
        guard let row else { return mark.version == 0 }
        if mark.version == 0 { return row.body == nil && mark.body != nil }
        return row.version == mark.version
    }
}
