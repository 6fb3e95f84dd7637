package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// | record `cursors` of `meta` | bytes |
// |---|---|
// | version | 1: 1 |
// | count | variable length |
// | each cursor, sorted by name | name, sequence (variable length), digest of the entry: 32 |
//
// Cursors are not part of any entry, so reading with one does not move the head.

/// How far a reader has come in the journal, kept in the store under a name.
package struct StoreCursor: Sendable, Hashable {
    /// The name.
    package let name: String
    /// The last entry that was read; zero for none.
    package let sequence: SequenceNumber
    /// The digest of that entry, which shows whether the journal is still the same.
    package let digest: Digest

    /// A cursor at a place.
    package init(name: String, at place: JournalPlace) {
        self.init(name: name, sequence: place.sequence, digest: place.digest)
    }

    fileprivate init(name: String, sequence: SequenceNumber, digest: Digest) {
        self.name = name
        self.sequence = sequence
        self.digest = digest
    }

    /// Where it stands.
    package var place: JournalPlace { JournalPlace(sequence, digest) }
}

/// The move of a cursor by a reader who knows where it stood.
package struct CursorMove: Sendable, Hashable {
    /// The name.
    package let name: String
    /// Where the reader has read it; nil when there was none of that name.
    package let origin: StoreCursor?
    /// Where it is to stand; nil to forget it.
    package let target: StoreCursor?

    /// Describes a move.
    package init(of name: String, from origin: StoreCursor?, to target: StoreCursor?) {
        self.name = name
        self.origin = origin
        self.target = target
    }

    /// Moves the cursor, unless it stands elsewhere.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/conditionFailed``; nothing is written then.
    func carryOut(_ meta: Table, in transaction: borrowing WriteTransaction) throws {
        var cursors = try StoreMetadata.cursors(meta, in: transaction)
        let current = cursors.first { $0.name == name }
        guard current == origin else { throw StoreError.cursorMoved(self, now: current) }
        guard target != origin else { return }
        cursors.removeAll { $0.name == name }
        if let target { cursors.append(target) }
        try StoreMetadata.setCursors(cursors, meta, in: transaction)
    }
}

extension Store {
    /// All cursors, sorted by name.
    package func cursors() throws -> [StoreCursor] {
        try reading { transaction in
            try StoreMetadata.cursors(parts.tables.meta, in: transaction)
        }
    }

    /// The last entry that was read under a name; nil when there is no such cursor.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/generation`` when the entry is gone or is no
    ///   longer the one that was read: the store is a different one, or was restored to an earlier
    ///   state.
    package func position(ofCursor name: String) throws -> SequenceNumber? {
        try cursor(named: name)?.sequence
    }

    /// A cursor; nil when there is none of that name.
    ///
    /// - Throws: As ``position(ofCursor:)``.
    package func cursor(named name: String) throws -> StoreCursor? {
        try reading { transaction in
            let cursors = try StoreMetadata.cursors(parts.tables.meta, in: transaction)
            guard let cursor = cursors.first(where: { $0.name == name }) else { return nil }
            guard cursor.sequence > .zero else { return cursor }
            let head = try parts.journal.head(in: transaction)
            guard cursor.sequence <= head else {
                throw StoreError.cursorLost(
                    cursor, "but the journal ends at entry \(head)")
            }
            guard
                try parts.journal.digest(at: cursor.sequence, in: transaction) == cursor.digest
            else {
                throw StoreError.cursorLost(cursor, "which was a different entry then")
            }
            return cursor
        }
    }

    /// Moves a cursor that stands where its reader knows it to.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/conditionFailed`` when it stands elsewhere; with
    ///   ``StoreError/Code/readOnly``. It stays where it is then.
    package func move(_ move: CursorMove) throws {
        try writing { [meta = parts.tables.meta] in try move.carryOut(meta, in: $0) }
        sendMarksSoon()
    }

    /// Records how far a reader has come.
    ///
    /// - Parameters:
    ///   - name: The name, which must not be empty.
    ///   - sequence: The last entry that was read; zero for none; nil to forget the cursor.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` for one after the head; with
    ///   ``StoreError/Code/readOnly``.
    package func setCursor(_ name: String, to sequence: SequenceNumber?) throws {
        try writing { [parts] transaction in
            var cursors = try StoreMetadata.cursors(parts.tables.meta, in: transaction)
            cursors.removeAll { $0.name == name }
            if let sequence {
                let head = try parts.journal.head(in: transaction)
                guard sequence <= head else {
                    throw StoreError.noSuchEntry(sequence, head: head)
                }
                let digest = try parts.journal.digest(at: sequence, in: transaction)
                cursors.append(StoreCursor(name: name, sequence: sequence, digest: digest))
            }
            try StoreMetadata.setCursors(cursors, parts.tables.meta, in: transaction)
        }
        sendMarksSoon()
    }
}

extension StoreError {
    fileprivate static func cursorMoved(_ move: CursorMove, now: StoreCursor?) -> StoreError {
        func place(_ cursor: StoreCursor?) -> String {
            cursor.map { "after entry \($0.sequence)" } ?? "nowhere"
        }
        return StoreError(
            .conditionFailed,
            "Nothing was saved: the cursor '\(move.name)' was read \(place(move.origin)) and stands "
                + "\(place(now)) by now. Another reader uses the same name; give each a name of its own, or "
                + "read the cursor again.")
    }

    fileprivate static func cursorLost(_ cursor: StoreCursor, _ reason: String) -> StoreError {
        StoreError(
            .generation,
            "The cursor '\(cursor.name)' stands after entry \(cursor.sequence), \(reason). The store "
                + "is a different one, or was restored to an earlier state; set the cursor again.")
    }
}

extension StoreMetadata {
    private static let cursorsVersion: UInt8 = 1

    static func cursors(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [StoreCursor] {
        try record(Name.cursors, meta, in: transaction).map { try cursors(in: $0) } ?? []
    }

    /// Those in the content of their record.
    static func cursors(in record: [UInt8]) throws -> [StoreCursor] {
        do {
            return try decode(record)
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.cursors)' of the store cannot be read", cause: error)
        }
    }

    static func setCursors(
        _ cursors: [StoreCursor], _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = ByteWriter(capacity: 256)
        writer.append(cursorsVersion)
        writer.append(variable: UInt64(cursors.count))
        for cursor in cursors.sorted(by: { $0.name < $1.name }) {
            writer.append(cursor.name)
            writer.append(variable: cursor.sequence.rawValue)
            writer.append(raw: cursor.digest.bytes)
        }
        try put(Name.cursors, writer.bytes, meta, in: transaction)
    }

    private static func decode(_ bytes: [UInt8]) throws(DecodingFailure) -> [StoreCursor] {
        let span = bytes.span.bytes
        var offset = 0
        guard try span.readByte(at: &offset) == cursorsVersion else {
            throw DecodingFailure(at: 0, expected: "version \(cursorsVersion) of cursors")
        }
        var cursors: [StoreCursor] = []
        for _ in 0..<(try span.readCount(at: &offset)) {
            let name = try span.readText(at: &offset)
            let sequence = SequenceNumber(rawValue: try span.readVariable(at: &offset))
            let start = offset
            let raw = try span.readBytes(Digest.byteCount, at: &offset)
            guard let digest = Digest(raw.span.bytes) else {
                throw DecodingFailure(at: start, expected: "a digest")
            }
            cursors.append(StoreCursor(name: name, sequence: sequence, digest: digest))
        }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the cursors")
        }
        return cursors
    }
}
