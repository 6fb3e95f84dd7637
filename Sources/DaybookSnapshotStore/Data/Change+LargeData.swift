internal import DaybookLMDB
package import DaybookObjectModel

extension [Change] {
    /// Whether a new value is large data.
    var haveLargeData: Bool {
        let changes = span
        for index in changes.indices where changes[index].hasLargeData { return true }
        return false
    }
}

extension [Change] {
    /// Lets the new large data be read from a store.
    mutating func attachLargeData(to store: Store) {
        guard haveLargeData else { return }
        for index in indices { self[index].attachLargeData(to: store) }
    }
}

extension Change {
    fileprivate mutating func attachLargeData(to store: Store) {
        switch kind {
        case .insert(let values, let members):
            kind = .insert(values: values.map { $0.attached(to: store) }, members: members)
        case .update(let edits, let members):
            let edits = edits.map {
                Edit(property: $0.property, old: $0.old, new: $0.new.attached(to: store))
            }
            kind = .update(edits: edits, members: members)
        case .delete: return
        }
    }

    fileprivate var hasLargeData: Bool {
        switch kind {
        case .insert(let values, _):
            let values = values.span
            for slot in values.indices where values[slot].isLarge { return true }
        case .update(let edits, _):
            let edits = edits.span
            for index in edits.indices where edits[index].new.isLarge { return true }
        case .delete: break
        }
        return false
    }

    /// Calls `body` with every new value that is large data.
    package func forEachNewLargeData(_ body: (LargeData) throws -> Void) rethrows {
        switch kind {
        case .insert(let values, _):
            for value in values { if case .large(let data) = value { try body(data) } }
        case .update(let edits, _):
            for edit in edits { if case .large(let data) = edit.new { try body(data) } }
        case .delete: break
        }
    }
}

extension Value {
    /// The same value; large data can be read from the store.
    fileprivate func attached(to store: Store) -> Value {
        guard case .large(let data) = self else { return self }
        return .large(data.attached(to: store))
    }

    fileprivate var isLarge: Bool {
        if case .large = self { true } else { false }
    }
}

extension ChunkTable {
    /// Writes the large data among the new values of changes, unless they are there already: every
    /// record of those that are in memory, the top alone of others.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - forgone: Data that nobody has any more, and that may be referred to all the same.
    ///   - transaction: The write transaction.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchData`` for a reference to bytes that the
    ///   store does not have and that did not come along.
    func keep(
        _ changes: [Change], without forgone: Set<LargeData> = [],
        in transaction: borrowing WriteTransaction
    ) throws {
        var kept: Set<ChunkKey> = []
        for change in changes {
            try change.forEachNewLargeData { data in
                // Bytes in memory are compared with the stored ones, which may be damaged.
                if data.inMemory == nil, try contains(data.top, in: transaction) {
                    // One digest may stand for one number of bytes only.
                    guard try hasLength(of: data, in: transaction) else {
                        throw StoreError.noSuchData(data)
                    }
                    return
                }
                guard kept.insert(data.top).inserted else { return }
                guard data.isAttached else {
                    if forgone.contains(data.detached) { return }
                    throw StoreError.noSuchData(data)
                }
                try data.forEachRecord { key, bytes in try put(key, bytes, in: transaction) }
            }
        }
    }

    /// The large data among the new values of changes that the file does not have.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchData`` for a digest that stands for another number of bytes.
    func lacking(
        _ changes: [Change], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [LargeData] {
        guard changes.haveLargeData else { return [] }
        var lacking: [LargeData] = []
        var seen: Set<LargeData> = []
        for change in changes {
            try change.forEachNewLargeData { data in
                guard seen.insert(data.detached).inserted else { return }
                guard try contains(data.top, in: transaction) else { return lacking.append(data) }
                guard try hasLength(of: data, in: transaction) else {
                    throw StoreError.noSuchData(data)
                }
            }
        }
        return lacking
    }

    /// Whether the records under a digest have as many bytes as a reference says: the last chunk
    /// has the remainder.
    private func hasLength(
        of data: LargeData, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        let last = data.tree.chunkCount - 1
        var path = ChunkPath(data)
        do {
            let key = try path.chunk(last, self, in: transaction)
            let count = try byteCount(of: key, in: transaction)
            return count == nil || count == data.tree.byteCount(ofChunk: last)
        } catch let damage as ChunkDamage {
            // Missing or changed bytes are found when they are read.
            if case .misfit = damage { return false }
            return true
        }
    }
}
