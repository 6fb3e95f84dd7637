package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Foundation

// Moments as entries, and the entries after which something may have been different.

extension Snapshot {
    private var parts: StoreParts { StoreParts(journal: journal, projection: projection) }

    /// The last entry that this state knows.
    private var last: SequenceNumber {
        get throws {
            isLatest ? try StateFindings.head(of: journal, in: transaction) : sequence
        }
    }

    /// The entry after which it was a moment, or the last one that this state knows.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` or ``StoreError/Code/noSuchTag``.
    func entry(at moment: FilterMoment) throws -> SequenceNumber {
        let last = try last
        switch moment {
        case .date(let date):
            return try parts.sequence(
                atTime: date.nearestMicrosecond, through: last, in: transaction)
        default: return min(try namedEntry(moment) ?? last, last)
        }
    }

    /// The entries of some time, of those that this state knows; none when it ends before it begins.
    ///
    /// An entry, a tag and the head are included; a date stands for the place in the journal after the last
    /// entry that happened before that point in time.
    func entries(
        since first: FilterMoment?, until end: FilterMoment?
    ) throws -> (first: SequenceNumber, last: SequenceNumber) {
        let known = try last
        var range = (first: SequenceNumber(1), last: known)
        switch first {
        case .date(let date): range.first = try lastEntry(before: date).next
        case let moment?: range.first = try namedEntry(moment) ?? known
        case nil: break
        }
        range.first = max(range.first, SequenceNumber(1))
        switch end {
        case .date(let date): range.last = try lastEntry(before: date)
        case let moment?: range.last = min(try namedEntry(moment) ?? known, known)
        case nil: break
        }
        return range
    }

    private func lastEntry(before date: Date) throws -> SequenceNumber {
        let (time, isTooEarly) = date.nearestMicrosecond.subtractingReportingOverflow(1)
        return isTooEarly
            ? .zero : try parts.sequence(atTime: time, through: last, in: transaction)
    }

    /// The entry of a number or a tag; nil for the head.
    private func namedEntry(_ moment: FilterMoment) throws -> SequenceNumber? {
        switch moment {
        case .entry(let number):
            let head = try journal.head(in: transaction)
            let sequence = SequenceNumber(number)
            guard sequence <= head else { throw StoreError.noSuchEntry(sequence, head: head) }
            return sequence
        case .tag(let name):
            let tags = try parts.tags(in: transaction)
            guard let tag = try parts.tag(named: name, among: tags, in: transaction) else {
                throw StoreError.noSuchTag(name, among: tags.map(\.name))
            }
            return tag.sequence
        case .head, .date: return nil
        }
    }

    /// The author, note and time of an entry.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the entry is missing or cannot be
    ///   trusted.
    package func heading(of sequence: SequenceNumber) throws -> EntryHeading {
        guard let heading = try parts.heading(of: sequence, in: transaction) else {
            throw StoreError.corrupt("Entry \(sequence) is missing from the journal")
        }
        return heading
    }

    // MARK: - Entries that touched something

    /// The entries after which a condition may have become true or false of an object, in order: those that
    /// touched it or any object that the condition looks at from it.
    ///
    /// - Complexity: O(*m* log *n*) page reads, *m* the number of these entries and of the objects that
    ///   relationships have ever led to on the way.
    func moments(of query: Query, from object: ObjectID) throws -> [SequenceNumber] {
        var moments = Set(try projection.touches(of: object, in: transaction))
        for dependency in query.dependencies {
            var reached: Set<ObjectID> = [object]
            for step in dependency.path.steps {
                var next: Set<ObjectID> = []
                for owner in reached { try follow(step, from: owner, to: &next, &moments) }
                reached = next
            }
            var others: Set<ObjectID> = []
            for owner in reached {
                if owner != object {
                    moments.formUnion(try projection.touches(of: owner, in: transaction))
                }
                guard let property = dependency.property, property.slot == nil else { continue }
                try follow(property, from: owner, to: &others, &moments)
            }
        }
        let last = try last
        return moments.filter { $0 <= last }.sorted()
    }

    /// Adds the objects that a relationship has ever led to, and the entries that connected them.
    private func follow(
        _ step: SchemaProperty, from object: ObjectID, to others: inout Set<ObjectID>,
        _ moments: inout Set<SequenceNumber>
    ) throws {
        let own = schema.entity(object.entity)?.property(step.number)
        guard let own, own.end != nil else { return }
        if let slot = own.slot {
            try projection.forEachState(of: object, through: sequence, in: transaction) {
                row, bytes, _ in
                let value = try projection.value(slot, of: object, row, bytes)
                if let other = value.reference { others.insert(other) }
                return .proceed
            }
            return
        }
        try projection.forEachLink(of: own, from: object, in: transaction) { link in
            others.insert(link.other)
            moments.insert(link.since)
            if let removal = link.removal { moments.insert(removal) }
        }
    }
}

extension Projection {
    /// Walks the states that an object has had, oldest first, each with the entry that replaced it; nil for
    /// the one that stands.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - first: States that were replaced before this entry are passed over.
    ///   - last: States since a later entry are passed over.
    ///   - transaction: The state to read.
    ///   - body: Takes the layout and the bytes of a row.
    /// - Throws: What `body` throws; ``StoreError`` when a row cannot be read.
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of states.
    func forEachState(
        of object: ObjectID, from first: SequenceNumber = .zero, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (RowLayout, RawSpan, _ replacement: SequenceNumber?) throws -> WalkStep
    ) throws {
        let lower = StoreKey.version(object, first)
        let upper = StoreKey.version(object, .latest)
        var step = WalkStep.proceed
        try transaction.scan(
            tables.versions, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, bytes in
            var reader = KeyReader(at: StoreKey.objectSize)
            let replacement = try reader.sequence(key)
            let row = try decoding(object) { () throws(DecodingFailure) in try RowLayout(bytes) }
            step = row.since <= last ? try body(row, bytes, replacement) : .stop
            return step == .proceed ? .proceed : .stop
        }
        guard step == .proceed else { return }
        _ = try withUnchangedRow(of: object, since: last, in: transaction) { bytes, row in
            try body(row, bytes, nil)
        }
    }

    /// Walks all connections that a relationship without a slot has ever made, those that stand first.
    func forEachLink(
        of property: SchemaProperty, from object: ObjectID,
        in transaction: borrowing some Reading & ~Copyable, _ body: (Link) -> Void
    ) throws {
        let isStored = property.isStoredToMany
        guard let number = isStored ? property.number : property.end?.inverse else { return }
        let prefix = StoreKey.links(of: object, number)
        let end = StoreKey.end(of: prefix) ?? []
        for table in isStored
            ? [tables.members, tables.membersPast] : [tables.referrers, tables.referrersPast]
        {
            try transaction.scan(
                table, from: prefix.span.bytes, to: end.span.bytes, order: .ascending
            ) { key, value in
                body(try Link(key, value))
                return .proceed
            }
        }
    }
}
