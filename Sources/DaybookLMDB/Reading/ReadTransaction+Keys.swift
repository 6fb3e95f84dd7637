extension ReadTransaction {
    /// Looks up the records under many keys, one after the other.
    ///
    /// Each is looked for from where the one before was found, so that keys in their order cost little
    /// more than a walk.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - count: The number of keys.
    ///   - key: Gives the key at each index from 0.
    ///   - body: Takes the index and the value, or nil where there is no such record, and says whether
    ///     to continue. The bytes are valid only inside.
    /// - Throws: ``LMDBError`` when a page cannot be read; what `body` throws.
    /// - Complexity: O(log *n*) page reads for each key, at most; O(1) for one beside that before.
    package func lookUp(
        _ table: Table, count: Int, key: (_ index: Int) -> ObjectKey,
        _ body: (_ index: Int, _ value: RawSpan?) throws -> ScanStep
    ) throws {
        let tree = try tree(table)
        try tree.withFinger { finger throws in
            for index in 0..<count {
                let found = try key(index).withBytes { bytes throws in
                    try bytes.withUnsafeBytes { bytes throws in
                        do throws(PageFault) {
                            return try finger.value(under: SoughtKey(bytes))
                        } catch {
                            throw LMDBError.damaged(error, in: table.name)
                        }
                    }
                }
                if let meter, found != nil { try meter.readRecord(of: table) }
                guard try body(index, found?.bytes) == .proceed else { return }
            }
        }
    }
}
