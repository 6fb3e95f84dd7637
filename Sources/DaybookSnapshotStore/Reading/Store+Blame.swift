package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
import DaybookStopping

/// Who wrote the value that one property of an object has.
package struct BlameRecord: Sendable {
    /// The property.
    package let property: SchemaProperty
    /// The entry that wrote the value, or inserted the object when none has written it since.
    package let sequence: SequenceNumber
    /// Who saved that entry.
    package let author: String?
    /// Why, in the author's words.
    package let note: String?
    /// What else was kept with the entry, by key.
    package let info: [String: String]
    /// When that entry happened, in microseconds since 1970: as its author stated, or else when it
    /// was recorded.
    package let time: Int64
    /// Whether that entry inserted the object, so that there was no value before it.
    package let isInsert: Bool
    /// The value; null for a to-many relationship.
    package let value: Value
    /// The value before that entry; null for a to-many relationship, and after an insert.
    package let previous: Value
    /// The members of a to-many relationship.
    package let members: [Member]
    /// Its members before that entry.
    package let previousMembers: [Member]
    /// The last entry that brought the value back after it had been removed; nil when it has always
    /// stayed.
    package let returning: Return?

    /// An entry that brought a value back.
    package struct Return: Sendable {
        /// The entry.
        package let sequence: SequenceNumber
        /// Its author, note and time.
        package let heading: EntryHeading
    }
}

extension Store {
    /// Who wrote what the properties of an object are: one answer for each persistent property, by
    /// number, including relationships derived from their inverse.
    ///
    /// An entry that brings deleted objects back is not the writer of their values, or of
    /// references to them: the answer names the entry that wrote them and the one that brought them
    /// back.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - sequence: The entry as of which to answer; nil for the last one.
    /// - Returns: The answers; nil when there was no such object yet.
    /// - Throws: ``StoreError`` with ``StoreError/Code/objectDeleted``, which names the entry, its
    ///   author and time, when the object was deleted by then; with ``StoreError/Code/noSuchEntry``
    ///   for a number after the head; with ``StoreError/Code/corrupt`` when the row or an entry
    ///   cannot be trusted.
    /// - Complexity: O(*r* (log *n* + *b*)) page reads for each value and each to-one relationship,
    ///   however many versions the object has, *b* the number of pages of a named entry and *r* one
    ///   more than the number of times the value was brought back. For a to-many relationship, and
    ///   for one that is derived from its inverse, also O(*r k*), *k* the number of connections it
    ///   ever had.
    package func blame(
        of object: ObjectID, at sequence: SequenceNumber? = nil
    ) throws -> [BlameRecord]? {
        try blaming(object, at: sequence) { blaming, entry throws in
            let entity = schema.entity(object.entity)
            var blames: [BlameRecord] = []
            for property in entity?.properties ?? [] where property.isPersistent {
                blames.append(try blaming.blame(property, at: entry))
            }
            return blames
        }
    }

    /// Who wrote the value of one property of an object.
    ///
    /// - Throws: As ``blame(of:at:)`` does.
    /// - Complexity: As of ``blame(of:at:)``, for one property.
    /// - Precondition: The property is one of the object's entity, and not transient.
    package func blame(
        of property: SchemaProperty, in object: ObjectID, at sequence: SequenceNumber? = nil
    ) throws -> BlameRecord? {
        require(property.isPersistent, "A transient property is in no entry.")
        return try blaming(object, at: sequence) { blaming, entry throws in
            try blaming.blame(property, at: entry)
        }
    }

    private func blaming<R>(
        _ object: ObjectID, at sequence: SequenceNumber?,
        _ body: (inout Blaming, _ entry: SequenceNumber) throws -> R
    ) throws -> R? {
        try reading { transaction in
            let entry = try resolve(sequence, in: transaction)
            var blaming = Blaming(parts: parts, object: object, transaction: transaction.shared())
            guard try blaming.origins(at: entry) != nil else {
                let deletion = try parts.projection.deletion(of: object, at: entry, in: transaction)
                guard let deletion else { return nil }
                throw StoreError.deleted(
                    schema.name(of: object), by: deletion,
                    try parts.heading(of: deletion, in: transaction))
            }
            return try body(&blaming, entry)
        }
    }
}

/// Answers for the properties of one object.
private struct Blaming: ~Copyable {
    let parts: StoreParts
    let object: ObjectID
    let transaction: ReadTransaction
    private var headings: [SequenceNumber: EntryHeading] = [:]
    /// The origins of the object's parts, as of the entries looked at so far.
    private var origins: [SequenceNumber: RowOrigins?] = [:]

    private var projection: Projection { parts.projection }
    private var entity: SchemaEntity? { projection.schema.entity(object.entity) }

    init(parts: StoreParts, object: ObjectID, transaction: consuming ReadTransaction) {
        self.parts = parts
        self.object = object
        self.transaction = transaction
    }

    /// The value or members of a property, however they are stored.
    private struct Content: Equatable {
        let value: Value
        let members: [Member]

        /// The objects that a relationship leads to.
        var objects: [ObjectID] { value.reference.map { [$0] } ?? members.map(\.object) }
    }

    /// - Precondition: The object exists as of that entry.
    mutating func blame(
        _ property: SchemaProperty, at entry: SequenceNumber
    ) throws -> BlameRecord {
        let content = try content(of: property, at: entry)
        var sequence = try origin(of: property, at: entry)
        var returning: SequenceNumber?
        while let source = try source(of: content, in: property, at: sequence) {
            returning = returning ?? sequence
            sequence = try origin(of: property, at: source)
        }
        let heading = try heading(of: sequence)
        let isInsert = try isBirth(sequence)
        let before =
            isInsert
            ? Content(value: .null, members: [])
            : try self.content(of: property, at: sequence.previous)
        return BlameRecord(
            property: property, sequence: sequence, author: heading.author, note: heading.note,
            info: heading.info,
            time: heading.time, isInsert: isInsert, value: content.value, previous: before.value,
            members: content.members, previousMembers: before.members,
            returning: try returning.map {
                BlameRecord.Return(sequence: $0, heading: try self.heading(of: $0))
            })
    }

    /// An earlier entry as of which a property held the same content, if the entry that set it only
    /// brought objects back: then it wrote nothing, and the content from before their deletion is
    /// there again.
    private mutating func source(
        of content: Content, in property: SchemaProperty, at sequence: SequenceNumber
    ) throws -> SequenceNumber? {
        let candidates =
            try isBirth(sequence)
            ? entriesBeforeReturn(at: sequence)
            : entriesBeforeReturn(of: content.objects, in: property, at: sequence)
        for candidate in candidates where try holds(content, property, at: candidate) {
            return candidate
        }
        return nil
    }

    /// The entries as of which to look for what the object held before an entry brought it back:
    /// before all that the entry undoes, and before the object was deleted.
    private mutating func entriesBeforeReturn(
        at sequence: SequenceNumber
    ) throws -> [SequenceNumber] {
        let deletion = try projection.deletion(of: object, at: sequence.previous, in: transaction)
        guard let deletion else { return [] }
        guard let undone = try heading(of: sequence).undoes else {
            return [deletion.previous]
        }
        return [undone.lowerBound.previous, deletion.previous]
    }

    /// The entries as of which to look for what a relationship held before the objects were deleted
    /// that an entry has reconnected; none when the entry also connected existing objects.
    private func entriesBeforeReturn(
        of objects: [ObjectID], in property: SchemaProperty, at sequence: SequenceNumber
    ) throws -> [SequenceNumber] {
        guard property.relationship != nil else { return [] }
        let before = Set(try content(of: property, at: sequence.previous).objects)
        var first: SequenceNumber?
        for other in objects where !before.contains(other) {
            let deletion = try projection.deletion(
                of: other, at: sequence.previous, in: transaction)
            guard let deletion else { return [] }
            first = min(first ?? deletion, deletion)
        }
        return first.map { [$0.previous] } ?? []
    }

    /// Whether the object existed as of an entry and a property of it held exactly that content.
    private mutating func holds(
        _ content: Content, _ property: SchemaProperty, at entry: SequenceNumber
    ) throws -> Bool {
        guard try origins(at: entry) != nil else { return false }
        return try self.content(of: property, at: entry) == content
    }

    /// Whether an entry inserted the object, which exists after it.
    private mutating func isBirth(_ sequence: SequenceNumber) throws -> Bool {
        try origins(at: sequence)?.birth == sequence
    }

    private func content(
        of property: SchemaProperty, at entry: SequenceNumber
    ) throws -> Content {
        guard property.relationship?.isToMany == true else {
            let value = try projection.value(of: property, in: object, at: entry, in: transaction)
            return Content(value: value, members: [])
        }
        return Content(
            value: .null,
            members: try projection.members(of: property, in: object, at: entry, in: transaction))
    }

    /// The origins of the object's parts as of an entry; nil when it does not exist.
    mutating func origins(at entry: SequenceNumber) throws -> RowOrigins? {
        if let known = origins[entry] { return known }
        let entity = projection.foldedEntity(object.entity)?.layout
        let found = try projection.withRow(of: object, at: entry, in: transaction) {
            bytes, layout in
            try projection.decoding(object) { () throws(DecodingFailure) in
                try layout.origins(
                    in: bytes, relationships: entity?.relationshipCount(at: layout.since) ?? 0)
            }
        }
        origins[entry] = .some(found)
        return found
    }

    /// Where the fields and lists of the entity come from.
    private var layout: NumberedEntity? { entity?.numbers }

    /// The entry that gave the model a field that is newer than a row.
    private func since(_ slot: Int) -> SequenceNumber? {
        guard let slots = layout?.slots, slots.indices.contains(slot) else { return nil }
        return SequenceNumber(rawValue: slots[slot].since)
    }

    /// The last entry, up to a given one, that changed a property.
    private mutating func origin(
        of property: SchemaProperty, at entry: SequenceNumber
    ) throws -> SequenceNumber {
        guard let origins = try origins(at: entry) else { return entry }
        let own = entity?.property(property.number) ?? property
        if let slot = own.slot {
            return slot < origins.values.count
                ? origins.values[slot] : max(origins.birth, since(slot) ?? .zero)
        }
        if let row = layout?.members.firstIndex(where: { $0.property == own.number }) {
            let since = SequenceNumber(rawValue: layout?.members[row].since ?? 0)
            return row < origins.members.count
                ? origins.members[row] : max(origins.birth, since)
        }
        guard let stored = own.end?.inverse else { return origins.birth }
        return try max(origins.birth, lastReference(stored, at: entry))
    }

    /// The last entry, up to a given one, in which an object began or ceased to refer to this one.
    private func lastReference(
        _ property: PropertyNumber, at entry: SequenceNumber
    ) throws -> SequenceNumber {
        let prefix = StoreKey.links(of: object, property)
        let end = StoreKey.end(of: prefix) ?? []
        var last = SequenceNumber.zero
        for table in [projection.tables.referrers, projection.tables.referrersPast] {
            try transaction.scan(
                table, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
            ) { key, value in
                let link = try Link(key, value)
                for sequence in [link.since, link.removal ?? link.since] where sequence <= entry {
                    last = max(last, sequence)
                }
                return .proceed
            }
        }
        return last
    }

    private mutating func heading(of sequence: SequenceNumber) throws -> EntryHeading {
        if let known = headings[sequence] { return known }
        guard let heading = try parts.heading(of: sequence, in: transaction) else {
            throw StoreError.corrupt("Entry \(sequence) is missing")
        }
        headings[sequence] = heading
        return heading
    }
}

/// The author, note and time of an entry.
// A class, because what is found in an entry keeps it: many changes share one.
package final class EntryHeading: Sendable, Hashable {
    /// Who saved it.
    package let author: String?
    /// Why, in the author's words.
    package let note: String?
    /// What else was kept with the entry, by key.
    package let info: [String: String]
    /// When it happened, in microseconds since 1970.
    package let time: Int64
    /// The entries that it undoes.
    package let undoes: ClosedRange<SequenceNumber>?

    init(
        author: String?, note: String?, info: [String: String], time: Int64,
        undoes: ClosedRange<SequenceNumber>?
    ) {
        self.author = author
        self.note = note
        self.info = info
        self.time = time
        self.undoes = undoes
    }

    /// Whether both say the same.
    package static func == (left: EntryHeading, right: EntryHeading) -> Bool {
        left === right
            || left.time == right.time && left.author == right.author && left.note == right.note
                && left.info == right.info && left.undoes == right.undoes
    }

    /// Hashes the time, by which most differ.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(time)
    }
}

extension StoreParts {
    /// The heading of an entry, its digest checked; nil when there is no such entry.
    ///
    /// - Complexity: O(log *n* + *b*) page reads, *b* the number of the entry's pages.
    func heading(
        of sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> EntryHeading? {
        guard let entry = try journal.entry(at: sequence, in: transaction) else { return nil }
        let header = try EntryPayload.header(of: entry)
        return EntryHeading(
            author: header.author, note: header.note, info: header.info,
            time: header.occurredAt ?? entry.recordedAt, undoes: header.undoes)
    }
}

extension StoreError {
    fileprivate static func deleted(
        _ name: String, by sequence: SequenceNumber, _ heading: EntryHeading?
    ) -> StoreError {
        let author = heading?.author.map { " by '\($0)'" } ?? ""
        let time = heading.map { " at " + DateText.text(microseconds: $0.time) } ?? ""
        return StoreError(
            .objectDeleted,
            "\(name) was deleted in entry \(sequence)\(author)\(time). Ask as of entry "
                + "\(sequence.previous), when it was still there.")
    }
}
