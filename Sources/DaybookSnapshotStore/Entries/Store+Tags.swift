package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// Names for entries: the record `tags` of `meta`. They are kept beside the journal and are not part
// of any entry, so setting one does not move the head, and replaying, rebuilding and exporting
// ignore them.

/// A name that was given to an entry.
package struct StoreTag: Sendable, Hashable {
    /// The name.
    package let name: String
    /// The entry.
    package let sequence: SequenceNumber
    /// The digest that the entry had, which reveals a journal rewritten under the tag.
    package let digest: Digest
    /// Who set it.
    package let author: String?
    /// What it stands for, in the author's words.
    package let note: String?
    /// When it was set, in microseconds since 1970.
    package let time: Int64
}

extension StoreTag: Comparable {
    /// Tags are ordered by their entries, then by their names.
    package static func < (left: StoreTag, right: StoreTag) -> Bool {
        (left.sequence, left.name) < (right.sequence, right.name)
    }

    /// The greatest length of a name, in bytes of UTF-8.
    package static let nameBytesLimit = 200

    /// Why a name is not allowed, as the rest of a sentence; nil when it is.
    ///
    /// Names follow the rules of tags in git, without slashes, and cannot be mistaken for a
    /// sequence number, a time, or `head`.
    package static func objection(to name: String) -> String? {
        let bytes = Array(name.utf8)
        if bytes.isEmpty { return "is empty" }
        if bytes.count > nameBytesLimit { return "is longer than \(nameBytesLimit) bytes" }
        if name.lowercased() == "head" { return "stands for the newest entry" }
        if bytes.allSatisfy(\.isDigit) { return "is a sequence number" }
        if looksLikeDate(bytes) { return "looks like a date" }
        if ["now", "today", "yesterday"].contains(name.lowercased())
            || name.lowercased().hasSuffix(".ago")
        {
            return "stands for a time"
        }
        if name.hasPrefix("-") || name.hasPrefix(".") { return "begins with '\(name.prefix(1))'" }
        if name.hasSuffix(".") || name.hasSuffix(".lock") { return "ends with '.' or '.lock'" }
        for part in ["..", "@{"] where name.contains(part) { return "has '\(part)' in it" }
        let unfit = name.unicodeScalars.first { scalar in
            scalar.value <= 0x20 || scalar.value == 0x7F || scalar.properties.isWhitespace
                || scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format
                || "/\\~^:?*[\"'".unicodeScalars.contains(scalar)
        }
        guard let unfit else { return nil }
        return unfit.properties.isWhitespace
            ? "has a space in it" : "has the character '\(unfit.escaped(asASCII: false))' in it"
    }

    /// `2011-12`, or `2011-12-15` and whatever follows.
    private static func looksLikeDate(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 7, bytes[4] == UInt8(ascii: "-") {
            return [0, 1, 2, 3, 5, 6].allSatisfy { bytes[$0].isDigit }
        }
        return bytes.count >= 10 && bytes[4] == UInt8(ascii: "-") && bytes[7] == UInt8(ascii: "-")
            && [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy { bytes[$0].isDigit }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

/// What happens to an existing tag when its name is given to another entry.
public enum TagReplacement: Sendable, Hashable {
    /// The tag stays, and setting the new one is refused.
    case refuse
    /// The new tag replaces it.
    case replace
}

extension Store {
    /// The tags, by entry.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when their record is damaged.
    /// - Complexity: O(*t* log *t*), *t* the number of tags.
    package func tags() throws -> [StoreTag] {
        try reading { try StoreMetadata.tags(parts.tables.meta, in: $0) }.sorted()
    }

    /// The tag of that name; nil when there is none.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/generation`` when the entry is gone or is
    ///   not the one that was tagged: the store is another one, or was put back to an earlier
    ///   state.
    package func tag(named name: String) throws -> StoreTag? {
        try reading { try parts.tag(named: name, among: parts.tags(in: $0), in: $0) }
    }

    /// Gives an entry a name.
    ///
    /// - Parameters:
    ///   - name: The name; see ``StoreTag/objection(to:)``.
    ///   - sequence: The entry; nil for the last one.
    ///   - author: Who sets the tag.
    ///   - note: What it stands for.
    ///   - existing: What happens to a tag of that name.
    /// - Returns: The tag.
    /// - Throws: ``StoreError`` with ``StoreError/Code/tagName`` for a name that is not allowed or
    ///   is taken; with ``StoreError/Code/noSuchEntry`` for an entry that is not there; of a shared store as
    ///   ``exchangeMarks()``. The store is unchanged then.
    /// - Complexity: O(*t* + log *n*) page reads and writes, *t* the number of tags.
    @discardableResult
    package func setTag(
        _ name: String, at sequence: SequenceNumber? = nil, author: String? = nil,
        note: String? = nil, existing: TagReplacement = .refuse
    ) throws -> StoreTag {
        if let objection = StoreTag.objection(to: name) {
            throw StoreError.tagName(name, objection)
        }
        let time = options.clock()
        return try changeTag(name) { [parts] transaction in
            let head = try parts.journal.head(in: transaction)
            let tagged = sequence ?? head
            guard tagged > .zero, tagged <= head else {
                throw StoreError.noSuchEntry(tagged, head: head)
            }
            let digest = try parts.journal.digest(at: tagged, in: transaction)
            var tags = try StoreMetadata.tags(parts.tables.meta, in: transaction)
            if let taken = tags.firstIndex(where: { $0.name == name }) {
                guard existing == .replace else { throw StoreError.tagTaken(tags[taken]) }
                tags.remove(at: taken)
            }
            let tag = StoreTag(
                name: name, sequence: tagged, digest: digest, author: author, note: note,
                time: time)
            tags.append(tag)
            try StoreMetadata.setTags(tags, parts.tables.meta, in: transaction)
            return tag
        }
    }

    /// Deletes a tag.
    ///
    /// - Returns: The tag that was there.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchTag``, and names that may have been
    ///   meant; of a shared store as ``exchangeMarks()``.
    @discardableResult
    package func removeTag(named name: String) throws -> StoreTag {
        try changeTag(name) { [meta = parts.tables.meta] transaction in
            var tags = try StoreMetadata.tags(meta, in: transaction)
            guard let index = tags.firstIndex(where: { $0.name == name }) else {
                throw StoreError.noSuchTag(name, among: tags.map(\.name))
            }
            let tag = tags.remove(at: index)
            try StoreMetadata.setTags(tags, meta, in: transaction)
            return tag
        }
    }
}

extension StoreParts {
    /// The tags, in no order.
    func tags(in transaction: borrowing some Reading & ~Copyable) throws -> [StoreTag] {
        try StoreMetadata.tags(tables.meta, in: transaction)
    }

    /// The tag of a name, whose entry is still the one that was tagged; nil when there is none.
    func tag(
        named name: String, among tags: [StoreTag],
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> StoreTag? {
        guard let tag = tags.first(where: { $0.name == name }) else { return nil }
        let head = try journal.head(in: transaction)
        guard tag.sequence <= head,
            try journal.digest(at: tag.sequence, in: transaction) == tag.digest
        else { throw StoreError.tagLost(tag) }
        return tag
    }
}

extension StoreError {
    fileprivate static func tagName(_ name: String, _ objection: String) -> StoreError {
        StoreError(
            .tagName,
            "A tag cannot be called '\(name)', because that \(objection). Choose a name such as "
                + "'v1.0'.")
    }

    fileprivate static func tagTaken(_ tag: StoreTag) -> StoreError {
        StoreError(
            .tagName,
            "There is a tag '\(tag.name)' already, at entry \(tag.sequence). Delete it first, or "
                + "replace it.")
    }

    fileprivate static func tagLost(_ tag: StoreTag) -> StoreError {
        StoreError(
            .generation,
            "The tag '\(tag.name)' was set on an entry \(tag.sequence) that is not the one in the "
                + "journal. The store is a different one, or was restored to an earlier state; set "
                + "the tag again.")
    }

    /// The error for a name that no tag has, with names that may have been meant.
    package static func noSuchTag(_ name: String, among names: [String]) -> StoreError {
        let suggestion = name.suggestion(among: names)
        let remedy =
            names.isEmpty
            ? "; there are none yet." : suggestion.isEmpty ? "." : suggestion
        return StoreError(.noSuchTag, "There is no tag '\(name)'\(remedy)")
    }
}

extension StoreMetadata {
    private static let tagsVersion: UInt8 = 1

    static func tags(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [StoreTag] {
        try record(Name.tags, meta, in: transaction).map { try tags(in: $0) } ?? []
    }

    /// Those in the content of their record.
    static func tags(in record: [UInt8]) throws -> [StoreTag] {
        do {
            return try decodeTags(record)
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.tags)' of the store cannot be read", cause: error)
        }
    }

    /// Writes the tags in the order of their names, so that equal tags give equal bytes.
    static func setTags(
        _ tags: [StoreTag], _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = ByteWriter(capacity: 64 + tags.count * 96)
        writer.append(tagsVersion)
        writer.append(variable: UInt64(tags.count))
        for tag in tags.sorted(by: { $0.name < $1.name }) {
            writer.append(tag.name)
            writer.append(variable: tag.sequence.rawValue)
            writer.append(raw: tag.digest.bytes)
            writer.append(optional: tag.author)
            writer.append(optional: tag.note)
            writer.append(bigEndian: UInt64(bitPattern: tag.time))
        }
        try put(Name.tags, writer.bytes, meta, in: transaction)
    }

    private static func decodeTags(_ bytes: [UInt8]) throws(DecodingFailure) -> [StoreTag] {
        let span = bytes.span.bytes
        var offset = 0
        guard try span.readByte(at: &offset) == tagsVersion else {
            throw DecodingFailure(at: 0, expected: "version \(tagsVersion) of tags")
        }
        var tags: [StoreTag] = []
        for _ in 0..<(try span.readCount(at: &offset)) {
            let name = try span.readText(at: &offset)
            let sequence = SequenceNumber(try span.readVariable(at: &offset))
            let start = offset
            let digest = Digest(bytes: try span.readBytes(Digest.byteCount, at: &offset))
            guard let digest else { throw DecodingFailure(at: start, expected: "a digest") }
            tags.append(
                StoreTag(
                    name: name, sequence: sequence, digest: digest,
                    author: try span.readOptionalText(at: &offset),
                    note: try span.readOptionalText(at: &offset),
                    time: Int64(
                        bitPattern: try span.readBigEndian(UInt64.self, at: &offset))))
        }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the tags")
        }
        return tags
    }
}
