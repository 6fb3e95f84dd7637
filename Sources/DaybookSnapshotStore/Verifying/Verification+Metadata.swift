internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Verification {
    /// Checks what a store keeps beside its journal and its tables.
    mutating func checkMetadata(in transaction: borrowing ReadTransaction) throws {
        let meta = parts.tables.meta
        for name in StoreMetadata.Name.all {
            do {
                let found = try StoreMetadata.record(name, meta, in: transaction)
                if found == nil {
                    report.add(.metadata, "meta, '\(name)'", "The record '\(name)' is missing.")
                }
            } catch let error as StoreError where error.code == .corrupt {
                report.add(.metadata, "meta, '\(name)'", error.message)
            }
        }
        if report.findings.isEmpty { try checkReserved(in: transaction) }
        try checkNames(in: transaction)
        typealias Name = StoreMetadata.Name
        var lost: [StoreTag] = []
        let messages = [
            Name.userValues: try damage {
                _ = try StoreMetadata.userValues(meta, in: transaction)
            },
            Name.cursors: try damage { _ = try StoreMetadata.cursors(meta, in: transaction) },
            Name.link: try damage { _ = try StoreMetadata.link(meta, in: transaction) },
            Name.sharedNumbers: try damage {
                _ = try StoreMetadata.sharedNumbers(meta, in: transaction)
            },
            Name.sharedMarks: try damage {
                _ = try StoreMetadata.knownMarks(meta, in: transaction)
            },
            Name.rewinds: try damage {
                _ = try StoreMetadata.rewinds(meta, in: transaction)
            },
            Name.pendingIndexes: try damage {
                pending = try StoreMetadata.pendingIndexes(meta, in: transaction)
            },
            Name.tags: try damage {
                for tag in try StoreMetadata.tags(meta, in: transaction).sorted()
                where try !isSound(tag, in: transaction) {
                    lost.append(tag)
                }
            },
        ]
        for (name, message) in messages.sorted(by: { $0.key < $1.key }) {
            if let message { report.add(.metadata, "meta, '\(name)'", message) }
        }
        for tag in lost {
            report.add(
                .metadata, "tag '\(tag.name)'",
                "The tag '\(tag.name)' was set on an entry \(tag.sequence) that is not the one "
                    + "in the journal.")
        }
    }

    /// A record under another name than its own is not found, and looks as if it had never been there.
    private mutating func checkNames(in transaction: borrowing ReadTransaction) throws {
        let start: [UInt8] = []
        var strange: [String] = []
        try transaction.scan(
            parts.tables.meta, from: start.span.bytes, to: nil, order: .ascending
        ) { key, _ in
            let name = String(decoding: key.array, as: UTF8.self)
            if !StoreMetadata.Name.known.contains(name) { strange.append(name) }
            return .proceed
        }
        for name in strange {
            report.add(
                .metadata, "meta, '\(ReadableText.escaped(name))'",
                "The store has a record '\(ReadableText.escaped(name))', which none has: its name is damaged."
            )
        }
    }

    /// No number that an object has, or has had, may be given out again.
    private mutating func checkReserved(in transaction: borrowing ReadTransaction) throws {
        let place = "meta, '\(StoreMetadata.Name.reserved)'"
        let tables = parts.tables
        do {
            let reserved = try StoreMetadata.reserved(tables.meta, in: transaction)
            for entity in store.schema.entities {
                let greatest = max(
                    try tables.rows.unchecked.numberMaximum(of: entity.number, in: transaction),
                    try tables.versions.unchecked.numberMaximum(
                        of: entity.number, in: transaction))
                guard greatest >= reserved else { continue }
                report.add(
                    .metadata, place,
                    "The store says that the object numbers from \(reserved) on are free, but there "
                        + "is \(entity.name)/\(greatest).")
            }
        } catch let error as StoreError where error.code == .corrupt {
            report.add(.metadata, place, error.message)
        }
    }

    /// Whether a tag names the entry it was set on. The journal's own check reports a missing
    /// digest.
    private func isSound(
        _ tag: StoreTag, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        guard tag.sequence <= (try lastEntry(in: transaction)) else { return false }
        do {
            return try parts.journal.digest(at: tag.sequence, in: transaction) == tag.digest
        } catch is JournalError {
            return true
        }
    }

    /// The last entry; zero when it cannot be determined.
    func lastEntry(in transaction: borrowing ReadTransaction) throws -> SequenceNumber {
        do {
            return try parts.journal.last(in: transaction)
        } catch let error as JournalError where error.code == .entryBroken {
            // The journal's own check reports it.
            return .zero
        }
    }
}

/// What is damaged about a record that `read` reads; nil when nothing is.
private func damage(_ read: () throws -> Void) throws -> String? {
    do {
        try read()
        return nil
    } catch let error as StoreError where error.code == .corrupt {
        return error.message
    }
}
