internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
package import Foundation

/// One state of a projection, valid during one call.
///
/// It reads in one LMDB read transaction, which ends with the call that lent it.
package struct StateReader: ~Copyable {
    /// The state; nil for one that has not begun, which is empty.
    package let generation: StateGeneration?
    private let table: Table?
    private let transaction: ReadTransaction

    fileprivate init(
        _ generation: StateGeneration?, _ table: Table?, _ transaction: consuming ReadTransaction
    ) {
        self.generation = generation
        self.table = table
        self.transaction = transaction
    }

    /// The bytes of a value; nil when there is none under the key.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``.
    /// - Complexity: O(log *n*) page reads.
    package func value(under key: [UInt8]) throws -> Data? {
        guard let generation, let table, key.count <= StateTable.keyBytesLimit else { return nil }
        let full = StateTable.prefix(generation.number) + key
        return try transaction.get(table, full.span.bytes) { $0.withUnsafeBytes { Data($0) } }
    }

    /// Walks the records in the order of their keys.
    ///
    /// - Parameters:
    ///   - lower: The first key.
    ///   - upper: The key behind the last; nil for the end.
    ///   - body: Takes key and value, and says whether to continue.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``; what `body` throws.
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of records walked.
    package func walk(
        from lower: [UInt8], to upper: [UInt8]?, _ body: ([UInt8], Data) throws -> WalkStep
    ) throws {
        guard let generation, let table else { return }
        let prefix = StateTable.prefix(generation.number)
        let first = prefix + lower
        guard let end = upper.map({ prefix + $0 }) ?? StoreKey.end(of: prefix) else { return }
        try transaction.scan(
            table, from: first.span.bytes, to: end.span.bytes, order: .ascending
        ) { key, value in
            let key = key.extracting(droppingFirst: StateTable.prefixSize).array
            return try body(key, value.withUnsafeBytes { Data($0) }) == .proceed ? .proceed : .stop
        }
    }
}

extension Store {
    /// The table of states; nil when the store has none yet.
    func stateTable() throws -> Table? {
        let environment = try openEnvironment()
        return try wrapping { try environment.table(ifThere: StateTable.name) }
    }

    /// The folded states that the store keeps, sorted by name.
    ///
    /// - Throws: ``StoreError`` when the store cannot be read.
    package func states() throws -> [FoldedState] {
        try reading { try StoreMetadata.states(parts.tables.meta, in: $0).states }
    }

    /// Runs `body` on a state of a projection.
    ///
    /// - Parameters:
    ///   - name: The projection.
    ///   - number: Its generation; nil for the one that is read.
    ///   - body: Reads the state, which is valid only inside; it must not write to this store. A generation that
    ///     does not exist is empty.
    /// - Returns: What `body` returns.
    /// - Throws: ``StoreError`` when the store cannot be read; with ``StoreError/Code/generation`` when the state was
    ///   folded out of entries that the journal does not have any more; what `body` throws.
    package func readState<Result>(
        of name: String, generation number: UInt32? = nil,
        _ body: (consuming StateReader) throws -> Result
    ) throws -> Result {
        while true {
            let table = try stateTable()
            let result: Result? = try reading { transaction in
                let list = try StoreMetadata.states(parts.tables.meta, in: transaction)
                let kept = list.state(named: name)
                let generation = number.map { kept?.generation($0) } ?? kept?.current
                // Made between the look for it and the beginning of the transaction.
                if generation != nil, table == nil { return nil }
                if let generation, try !parts.journal.has(generation.place, in: transaction) {
                    throw StoreError.stateLost(name, generation.place.sequence)
                }
                return try body(StateReader(generation, table, transaction.shared()))
            }
            if let result { return result }
            guard try stateTable() != nil else {
                throw StoreError.corrupt("The table 'states' is missing")
            }
        }
    }
}
