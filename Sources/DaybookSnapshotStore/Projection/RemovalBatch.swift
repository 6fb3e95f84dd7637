internal import DaybookLMDB
internal import DaybookObjectModel

/// The keys of records to be removed, in the order in which they were added.
///
/// They share one piece of memory: a delete of many objects would otherwise allocate each of its keys.
struct RemovalBatch {
    private var bytes: [UInt8] = []
    private var removals: [(table: Table, keyEnd: Int)] = []

    /// Adds the key of a record.
    mutating func add(_ table: Table, _ key: [UInt8]) {
        add(table, key.span.bytes)
    }

    /// Adds the key of a record.
    mutating func add(_ table: Table, _ key: RawSpan) {
        bytes.append(addingCapacity: key.byteCount) { $0.append(raw: key) }
        removals.append((table, bytes.count))
    }

    /// Reserves room for `factor` times the current keys.
    mutating func makeRoom(times factor: Double) {
        guard !removals.isEmpty else { return }
        bytes.reserveCapacity(Int(Double(bytes.count) * factor))
        removals.reserveCapacity(Int(Double(removals.count) * factor))
    }

    /// Passes every key to `body`, in the order in which they were added.
    func forEach(_ body: (Table, _ key: RawSpan) throws -> Void) rethrows {
        let all = bytes.span.bytes
        var start = 0
        for (table, keyEnd) in removals {
            try body(table, all.extracting(start..<keyEnd))
            start = keyEnd
        }
    }

    /// Removes the keys and keeps the memory.
    mutating func removeAll() {
        guard !removals.isEmpty else { return }
        bytes.removeAll(keepingCapacity: true)
        removals.removeAll(keepingCapacity: true)
    }
}
