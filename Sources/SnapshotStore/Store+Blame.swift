package import JournalLog
internal import LMDB
package import ObjectModel

/// Who made one property of an object what it is.
package struct PropertyBlame: Sendable {
    /// The property.
    package let property: SchemaProperty
    /// The entry that last changed it; the one that inserted the object when none has since.
    package let sequence: SequenceNumber
    /// Who saved that entry.
    package let author: String?
    /// Why, in the author's words.
    package let note: String?
    /// When that entry happened, in microseconds since 1970: as its author said, else when it was
    /// recorded.
    package let time: Int64
    /// Whether that entry inserted the object, so that there was nothing before it.
    package let isInsert: Bool
    /// The value; null for a to-many relationship.
    package let value: Value
    /// The value before that entry; null for a to-many relationship, and after an insert.
    package let previous: Value
    /// The members of a to-many relationship.
    package let members: [Member]
    /// Its members before that entry.
    package let previousMembers: [Member]
}

extension Store {
    /// Who made the properties of an object what they are: one answer for each property that is
    /// kept, by number, relationships that are derived from their inverse included.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - sequence: The entry as of which to ask; nil for the last one.
    /// - Returns: The answers; nil when there was no such object yet.
    /// - Throws: ``StoreError`` with ``StoreError/Code/objectDeleted``, which names the entry, its
    ///   author and time, when it was deleted by then; with ``StoreError/Code/noSuchEntry`` for a
    ///   number after the head; with ``StoreError/Code/corrupt`` when the row or an entry cannot be
    ///   trusted.
    /// - Complexity: O(log *n* + *b*) page reads for each value and each to-one relationship,
    ///   however many versions the object has, *b* the number of pages of the entry that is named.
    ///   For a to-many relationship, and for the side of any that is derived from its inverse, also
    ///   O(*k*), *k* the number of connections it ever had.
    package func blame(
        of object: ObjectID, at sequence: SequenceNumber? = nil
    ) throws -> [PropertyBlame]? {
        try blaming(object, at: sequence) { blaming throws in
            let entity = schema.entity(object.entity)
            return try (entity?.properties ?? []).filter(\.isPersistent).map {
                try blaming.blame($0)
            }
        }
    }

    /// Who made one property of an object what it is.
    ///
    /// - Throws: As ``blame(of:at:)`` does.
    /// - Complexity: As of ``blame(of:at:)``, for one property.
    /// - Precondition: The property is one of the object's entity, and not transient.
    package func blame(
        of property: SchemaProperty, in object: ObjectID, at sequence: SequenceNumber? = nil
    ) throws -> PropertyBlame? {
        precondition(property.isPersistent, "A transient property is in no entry.")
        return try blaming(object, at: sequence) { blaming throws in try blaming.blame(property) }
    }

    private func blaming<R>(
        _ object: ObjectID, at sequence: SequenceNumber?,
        _ body: (inout Blaming) throws -> R
    ) throws -> R? {
        try reading { transaction in
            let place = try resolve(sequence, in: transaction)
            let found = try parts.projection.withRow(of: object, at: place, in: transaction) {
                bytes, layout in
                try parts.projection.decoding(object) { () throws(DecodingFailure) in
                    try layout.origins(
                        in: bytes,
                        relationships: schema.entity(object.entity)?.storedToMany.count ?? 0)
                }
            }
            guard let origins = found else {
                let deletion = try parts.projection.deletion(of: object, at: place, in: transaction)
                guard let deletion else { return nil }
                throw StoreError.deleted(
                    schema.name(of: object), by: deletion,
                    try parts.heading(of: deletion, in: transaction))
            }
            var blaming = Blaming(
                parts: parts, object: object, place: place, origins: origins,
                transaction: transaction.shared())
            return try body(&blaming)
        }
    }
}

/// Answers for the properties of one object as of one entry.
private struct Blaming: ~Copyable {
    let parts: StoreParts
    let object: ObjectID
    let place: SequenceNumber
    let origins: RowOrigins
    let transaction: ReadTransaction
    private var headings: [SequenceNumber: EntryHeading] = [:]

    private var projection: Projection { parts.projection }

    init(
        parts: StoreParts, object: ObjectID, place: SequenceNumber, origins: RowOrigins,
        transaction: consuming ReadTransaction
    ) {
        self.parts = parts
        self.object = object
        self.place = place
        self.origins = origins
        self.transaction = transaction
    }

    mutating func blame(_ property: SchemaProperty) throws -> PropertyBlame {
        let sequence = try origin(of: property)
        let heading = try heading(of: sequence)
        let isInsert = sequence == origins.birth
        let before = sequence.previous
        return PropertyBlame(
            property: property, sequence: sequence, author: heading.author, note: heading.note,
            time: heading.time, isInsert: isInsert, value: try value(of: property, at: place),
            previous: isInsert ? .null : try value(of: property, at: before),
            members: try members(of: property, at: place),
            previousMembers: isInsert ? [] : try members(of: property, at: before))
    }

    private func value(of property: SchemaProperty, at place: SequenceNumber) throws -> Value {
        guard property.relationship?.isToMany != true else { return .null }
        return try projection.value(of: property, in: object, at: place, in: transaction)
    }

    private func members(
        of property: SchemaProperty, at place: SequenceNumber
    ) throws -> [Member] {
        guard property.relationship?.isToMany == true else { return [] }
        return try projection.members(of: property, in: object, at: place, in: transaction)
    }

    /// The entry that last changed a property.
    private func origin(of property: SchemaProperty) throws -> SequenceNumber {
        let entity = projection.schema.entity(object.entity)
        let own = entity?.property(property.number) ?? property
        if let slot = own.slot {
            return slot < origins.values.count ? origins.values[slot] : origins.birth
        }
        if let row = entity?.storedToMany.firstIndex(where: { $0.number == own.number }) {
            return origins.members[row]
        }
        guard let stored = own.end?.inverse else { return origins.birth }
        return try max(origins.birth, lastReference(stored))
    }

    /// The last entry by which an object began or ceased to refer to this one.
    private func lastReference(_ property: PropertyNumber) throws -> SequenceNumber {
        let prefix = StoreKey.links(of: object, property)
        let end = StoreKey.end(of: prefix) ?? []
        var last = SequenceNumber.zero
        for table in [projection.tables.referrers, projection.tables.referrersPast] {
            try transaction.scan(
                table, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
            ) { key, value in
                let link = try Link(key, value)
                for sequence in [link.since, link.removal ?? link.since] where sequence <= place {
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

/// Who, why and when, of one entry.
package struct EntryHeading: Sendable, Hashable {
    /// Who saved it.
    package let author: String?
    /// Why, in the author's words.
    package let note: String?
    /// When it happened, in microseconds since 1970.
    package let time: Int64
}

extension StoreParts {
    /// What an entry says of itself, its digest checked; nil when there is no such entry.
    ///
    /// - Complexity: O(log *n* + *b*) page reads, *b* the number of the entry's pages.
    func heading(
        of sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> EntryHeading? {
        guard let entry = try journal.entry(at: sequence, in: transaction) else { return nil }
        do {
            let header = try EntryPayload.header(of: entry.payload)
            return EntryHeading(
                author: header.author, note: header.note,
                time: header.occurredAt ?? entry.recordedAt)
        } catch {
            throw StoreError.entryUnreadable(sequence, cause: error)
        }
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
