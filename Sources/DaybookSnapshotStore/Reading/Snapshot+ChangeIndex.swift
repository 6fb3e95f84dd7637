internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

// The index of changes: which entries have changed a property, of which objects, and from what to what. Where the table
// also has entries by author, an author's changes are found by those of their entries.

extension Snapshot {
    /// How the index of changes serves a condition on the past; nil where it does not.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func estimate(ofIndexed change: FilterChange) throws -> IndexedChangesEstimate? {
        guard try models.hasIndexedChanges(of: change.property, in: transaction) else { return nil }
        let (first, last) = try entries(since: change.since, until: change.until)
        guard first <= last else { return IndexedChangesEstimate(0) }
        let all = try estimatedCount(of: changes(of: change.property, in: first...last))
        guard let place = try placeOfAuthor(of: change) else { return IndexedChangesEstimate(all) }
        let entries = try estimatedCount(of: StoreKey.bounds(at: place, in: first...last))
        let share = min(1, Double(entries) / Double(last.rawValue - first.rawValue + 1))
        return IndexedChangesEstimate(
            all,
            of: IndexedChangesEstimate.Author(
                entries: entries, changes: Int((Double(all) * share).rounded(.up))))
    }

    /// The objects in which entries have changed a property as a condition asks, of one author where it names one: each
    /// once and in order.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of changes between the two moments. For an author also
    ///   O(log *n*) for each of their entries; where the table has entries by author, *k* is the number of their changes.
    func indexedChanges(
        of change: FilterChange, byAuthor isByAuthor: Bool
    ) throws -> [ObjectID] {
        var objects: Set<ObjectID> = []
        try forEachIndexed(change, byAuthor: isByAuthor) { _, object, record in
            // Every change in the index is one. What rises and falls is a number or a date, and no long value.
            if change.direction != .changed {
                guard let values = try changedValues(record, of: object) else {
                    throw unreadableIndex(of: object)
                }
                guard change.isMet(from: values.old, to: values.new) else { return }
            }
            objects.insert(object)
        }
        return objects.sorted()
    }

    /// The objects that have or once had a value of a property within ranges, each once and in order; also those that
    /// have it only after this state.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of such values, those of now included.
    func objects(
        everWith property: SchemaProperty, in ranges: [IndexRange]
    ) throws -> [ObjectID] {
        var objects: Set<ObjectID> = []
        for range in ranges {
            let places = [
                (StoreKey.bounds(of: range, property.number), StoreKey.objectSize),
                (
                    StoreKey.formerBounds(of: range, property.number),
                    StoreKey.objectSize + StoreKey.sequenceSize
                ),
            ]
            for ((lower, upper), tail) in places where lower.lexicographicallyPrecedes(upper) {
                try transaction.scan(
                    projection.tables.index, from: lower.span.bytes, to: upper.span.bytes,
                    order: .ascending
                ) { key, _ in
                    var reader = KeyReader(at: max(0, key.byteCount - tail))
                    objects.insert(try reader.object(key))
                    return .proceed
                }
            }
        }
        return objects.sorted()
    }

    /// The changes of some objects that meet a condition, as the index has them; nil where there is no index, or
    /// the versions of so few objects are read faster.
    ///
    /// - Parameters:
    ///   - change: The condition.
    ///   - objects: The objects, each once.
    /// - Returns: The changes, by the places of the objects.
    /// - Throws: As ``forEachMatch(of:skipping:_:)``.
    /// - Complexity: As ``indexedChanges(of:byAuthor:)``.
    func indexedFindings(
        _ change: FilterChange, of objects: [ObjectID]
    ) throws -> IndexedFindings? {
        guard let estimate = try estimate(ofIndexed: change) else { return nil }
        let own = estimate.author.map { $0.entries + $0.changes } ?? .max
        let isByAuthor = own < estimate.changes
        guard min(own, estimate.changes) / Self.recordsReadAsFast <= objects.count else {
            return nil
        }
        var places: [ObjectID: Int] = [:]
        places.reserveCapacity(objects.count)
        for (place, object) in objects.enumerated() { places[object] = place }
        var findings = IndexedFindings(of: objects.count)
        try forEachIndexed(change, byAuthor: isByAuthor) { sequence, object, record in
            guard let place = places[object] else { return }
            guard let values = try changedValues(record, of: object) else {
                findings.miss(at: place)
                return
            }
            guard change.isMet(from: values.old, to: values.new) else { return }
            findings.add(
                PastChange(sequence, change.property.number, from: values.old, to: values.new),
                at: place)
        }
        findings.end()
        return findings
    }

    /// About as many records of the index are read in the time that the versions of one object take.
    private static var recordsReadAsFast: Int { 8 }

    /// Passes on the changes of a property between two moments that the index has, of one author where the condition
    /// names one; whatever their direction, in the order of the entries and objects.
    ///
    /// - Parameters:
    ///   - change: The condition.
    ///   - isByAuthor: Whether to begin with the entries of the author.
    ///   - body: Takes the entry, the object, and the record of the values.
    /// - Throws: ``StoreError`` when the store cannot be read; what `body` throws.
    private func forEachIndexed(
        _ change: FilterChange, byAuthor isByAuthor: Bool,
        _ body: (SequenceNumber, ObjectID, RawSpan) throws -> Void
    ) throws {
        let (first, last) = try entries(since: change.since, until: change.until)
        guard first <= last else { return }
        if isByAuthor, let place = try placeOfAuthor(of: change) {
            for sequence in try entries(at: place, in: first...last) {
                try forEachChange(of: change.property, in: sequence...sequence, body)
            }
            return
        }
        var entry: (sequence: SequenceNumber, isMeant: Bool)?
        try forEachChange(of: change.property, in: first...last) { sequence, object, values in
            // The changes of one entry lie side by side.
            if entry?.sequence != sequence {
                entry = (sequence, try isMeant(sequence, by: change))
            }
            if entry?.isMeant == true { try body(sequence, object, values) }
        }
    }

    private func changedValues(
        _ record: RawSpan, of object: ObjectID
    ) throws -> ChangedValues? {
        do throws(DecodingFailure) {
            return try ChangedValues(record)
        } catch {
            throw unreadableIndex(of: object, cause: error)
        }
    }

    private func unreadableIndex(
        of object: ObjectID, cause: (any Error)? = nil
    ) -> StoreError {
        .corrupt(
            "The index of changes of \(schema.name(of: object)) cannot be read", cause: cause)
    }

    private func isMeant(_ sequence: SequenceNumber, by change: FilterChange) throws -> Bool {
        guard case .named(let author) = change.author else { return true }
        return try heading(of: sequence).author == author
    }

    // MARK: - Changes

    private func forEachChange(
        of property: SchemaProperty, in range: ClosedRange<SequenceNumber>,
        _ body: (SequenceNumber, ObjectID, RawSpan) throws -> Void
    ) throws {
        let (lower, upper) = changes(of: property, in: range)
        try transaction.scan(
            projection.tables.index, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, values in
            var reader = KeyReader(at: StoreKey.changesNumberSize)
            try body(try reader.sequence(key), try reader.object(key), values)
            return .proceed
        }
    }

    /// Where the index has the changes of some entries.
    private func changes(
        of property: SchemaProperty, in range: ClosedRange<SequenceNumber>
    ) -> (lower: [UInt8], upper: [UInt8]) {
        (
            StoreKey.changes(of: property.number, from: range.lowerBound),
            StoreKey.changes(of: property.number, from: range.upperBound.next)
        )
    }

    // MARK: - Entries by author

    /// Where the table has the entries of the author whom a condition names; nil where it does not have them, or may
    /// have the name in several spellings.
    private func placeOfAuthor(of change: FilterChange) throws -> [UInt8]? {
        guard case .named(let author?) = change.author, author.isSettled,
            try models.inForce(in: transaction).parts.projection.indexes(.author)
        else { return nil }
        return StoreKey.entries(by: .author, author)
    }

    private func entries(
        at place: [UInt8], in range: ClosedRange<SequenceNumber>
    ) throws -> [SequenceNumber] {
        let (lower, upper) = StoreKey.bounds(at: place, in: range)
        var found: [SequenceNumber] = []
        try transaction.scan(
            projection.tables.index, from: lower.span.bytes, to: upper.span.bytes, order: .ascending
        ) { key, _ in
            var reader = KeyReader(at: place.count)
            found.append(try reader.sequence(key))
            return .proceed
        }
        return found
    }

    private func estimatedCount(of bounds: (lower: [UInt8], upper: [UInt8])) throws -> Int {
        try transaction.estimatedCount(
            projection.tables.index, from: bounds.lower.span.bytes, to: bounds.upper.span.bytes)
    }
}

/// The changes of some objects that the index of changes has, found by the place of the object among them.
struct IndexedFindings {
    private var changes: [PastChange] = []
    /// The place of the object of each change.
    private var places: [Int] = []
    /// For each place where its changes begin in ``order``.
    private var starts: [Int]
    /// The changes by the places of their objects, those of one object oldest first.
    private var order: [Int] = []
    private var incomplete: Set<Int> = []

    fileprivate init(of count: Int) {
        starts = [Int](repeating: 0, count: count + 1)
    }

    /// Adds a change that is younger than all others of its object.
    fileprivate mutating func add(_ change: PastChange, at place: Int) {
        changes.append(change)
        places.append(place)
        starts[place + 1] += 1
    }

    /// Remembers that the index has a change of an object without its values.
    fileprivate mutating func miss(at place: Int) { incomplete.insert(place) }

    /// Puts the changes in order, once all have been added.
    fileprivate mutating func end() {
        for place in starts.indices.dropFirst() { starts[place] += starts[place - 1] }
        order = [Int](repeating: 0, count: changes.count)
        var next = starts
        for (index, place) in places.enumerated() {
            order[next[place]] = index
            next[place] += 1
        }
    }

    /// Whether the index has the values of all changes of an object.
    func isComplete(at place: Int) -> Bool { incomplete.isEmpty || !incomplete.contains(place) }

    /// Passes on the changes of an object, oldest first.
    func forEachChange(at place: Int, _ body: (PastChange) throws -> Void) rethrows {
        for index in starts[place]..<starts[place + 1] { try body(changes[order[index]]) }
    }
}
