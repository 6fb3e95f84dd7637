internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension KeyWriter {
    /// Appends the twelve bytes of an object.
    mutating func append(_ object: ObjectID) {
        append(object.entity.rawValue)
        append(object.number)
    }
}

extension ObjectKey {
    /// The key of an object's row.
    init(_ object: ObjectID) {
        self.init(object.entity.rawValue, object.number)
    }
}

extension KeyReader {
    mutating func object(_ bytes: RawSpan) throws(LMDBError) -> ObjectID {
        let entity = EntityNumber(rawValue: try uint32(bytes))
        return ObjectID(entity: entity, number: try uint64(bytes))
    }

    mutating func sequence(_ bytes: RawSpan) throws(LMDBError) -> SequenceNumber {
        SequenceNumber(rawValue: try uint64(bytes))
    }
}

/// Builds the keys of the projection.
enum StoreKey {
    /// The size of an object in a key, in bytes.
    static let objectSize = 12

    /// The size of a sequence number in a key, in bytes.
    static let sequenceSize = 8

    /// The size of a connection, in bytes: two objects and the relationship.
    static let linkSize = 28

    /// The key of a row; also the prefix of all versions and all members of an object.
    static func object(_ object: ObjectID) -> [UInt8] {
        var writer = KeyWriter(capacity: 12)
        writer.append(object)
        return writer.bytes
    }

    /// The prefix of all rows of an entity.
    static func entity(_ entity: EntityNumber) -> [UInt8] {
        var writer = KeyWriter(capacity: 4)
        writer.append(entity.rawValue)
        return writer.bytes
    }

    /// A key greater than those of all rows, versions and connections of an entity.
    static func end(of entity: EntityNumber) -> [UInt8] {
        end(of: Self.entity(entity)) ?? [UInt8](repeating: .max, count: 2 * linkSize)
    }

    /// The key of a version of an object.
    static func version(_ object: ObjectID, _ sequence: SequenceNumber) -> [UInt8] {
        var writer = KeyWriter(capacity: 20)
        writer.append(object)
        writer.append(sequence.rawValue)
        return writer.bytes
    }

    /// The prefix of all connections of an object through one relationship.
    static func links(of object: ObjectID, _ property: PropertyNumber) -> [UInt8] {
        var writer = KeyWriter(capacity: 16)
        writer.append(object)
        writer.append(property.rawValue)
        return writer.bytes
    }

    /// The key of a connection: owner, property and member, or destination, property and owner.
    static func link(
        from object: ObjectID, _ property: PropertyNumber, to other: ObjectID
    ) -> [UInt8] {
        var writer = KeyWriter(capacity: 36)
        writer.append(object)
        writer.append(property.rawValue)
        writer.append(other)
        return writer.bytes
    }

    /// The prefix of all index records of a property.
    static func index(_ property: PropertyNumber) -> [UInt8] {
        var writer = KeyWriter(capacity: 4)
        writer.append(property.rawValue)
        return writer.bytes
    }

    /// The prefix of the index records of all objects with one value of a property.
    static func index(_ property: PropertyNumber, _ value: Value) -> [UInt8] {
        var writer = IndexKeyWriter()
        writer.set(property, value)
        return writer.bytes
    }

    /// The prefix of the index records of all objects with given values of a compound constraint.
    static func index(_ constraint: PropertyNumber, digestOf values: [Value]) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        for value in values { writer.append(value) }
        return index(constraint) + Digest.of(writer.bytes).bytes
    }

    /// The key of an index record of an object with values of all properties of an index.
    static func index(
        _ index: SchemaIndex, _ values: [Value], _ object: ObjectID
    ) -> [UInt8] {
        var writer = IndexKeyWriter()
        writer.set(index, values)
        writer.end(object)
        return writer.bytes
    }

    /// The key of an index record.
    static func index(
        _ property: PropertyNumber, _ value: Value, _ object: ObjectID
    ) -> [UInt8] {
        var key = index(property, value)
        key.append(contentsOf: self.object(object))
        return key
    }

    /// The first number under which the table of indexes has changes: behind those of attributes, before those of
    /// constraints.
    static let changesNumberMinimum = Schema.transientNumberMinimum

    /// The property whose changes are under a number; nil where that is of another index.
    static func property(ofChanges number: PropertyNumber) -> PropertyNumber? {
        guard number.rawValue >= changesNumberMinimum,
            number.rawValue < SchemaConstraint.compoundNumberMinimum
        else { return nil }
        return PropertyNumber(rawValue: number.rawValue - changesNumberMinimum)
    }

    /// The size of the number that a key in the index of changes begins with, in bytes.
    static let changesNumberSize = 4

    /// The prefix of the index of changes from an entry on.
    static func changes(
        of property: PropertyNumber, from sequence: SequenceNumber
    ) -> [UInt8] {
        var writer = KeyWriter(capacity: 12)
        writer.append(changesNumberMinimum + property.rawValue)
        writer.append(sequence.rawValue)
        return writer.bytes
    }

    /// The key of a change in the index of changes.
    static func change(
        of property: PropertyNumber, in sequence: SequenceNumber, _ object: ObjectID
    ) -> [UInt8] {
        var writer = KeyWriter(capacity: 24)
        writer.append(changesNumberMinimum + property.rawValue)
        writer.append(sequence.rawValue)
        writer.append(object)
        return writer.bytes
    }

    /// What the keys of former values have behind the number of changes, where others have a sequence number: none begins
    /// with it.
    private static let formerMark: UInt8 = 0xff

    /// The prefix of the former values of a property.
    static func former(of property: PropertyNumber) -> [UInt8] {
        former([], of: property).bytes
    }

    /// The key of a former value.
    ///
    /// - Parameters:
    ///   - record: The key that the index of the property had for the object with the value.
    ///   - property: The property.
    ///   - sequence: The entry that replaced the value, or deleted the object.
    /// - Returns: The key.
    static func former(
        _ record: [UInt8], of property: PropertyNumber, until sequence: SequenceNumber
    ) -> [UInt8] {
        var writer = former(record.dropFirst(changesNumberSize), of: property)
        writer.append(sequence.rawValue)
        return writer.bytes
    }

    private static func former(_ value: ArraySlice<UInt8>, of property: PropertyNumber) -> KeyWriter
    {
        var writer = KeyWriter(capacity: changesNumberSize + 1 + value.count + sequenceSize)
        writer.append(changesNumberMinimum + property.rawValue)
        writer.append(formerMark)
        writer.append(bytes: value)
        return writer
    }

    /// The property of which a key in the table of indexes has a former value; nil for all others.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - number: The number that it begins with.
    /// - Returns: The property.
    static func property(
        ofFormer key: [UInt8], under number: PropertyNumber
    ) -> PropertyNumber? {
        guard key.count > changesNumberSize, key[changesNumberSize] == formerMark else {
            return nil
        }
        return property(ofChanges: number)
    }

    /// The prefix of the index of entries by one thing that they say.
    ///
    /// The key of the information is part of it, as an ordered text, which no other one begins with; the author has
    /// the empty one. Two spellings of a text that are the same one are so here as well.
    static func entries(by attribution: IndexedAttribution) -> [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.append(bigEndian: Schema.entriesNumber)
        Value.string(attribution.key.indexed).appendOrderedKey(to: &writer)
        return writer.bytes
    }

    /// The prefix of the index of entries that say a text. A long one is cut off and followed by its digest.
    static func entries(by attribution: IndexedAttribution, _ text: String) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        writer.append(raw: entries(by: attribution))
        Value.string(text.indexed).appendOrderedKey(to: &writer)
        return IndexKeyWriter.shortened(writer.bytes)
    }

    /// The key of an entry in the index of entries.
    static func entry(
        by attribution: IndexedAttribution, _ text: String, _ sequence: SequenceNumber
    ) -> [UInt8] {
        entries(by: attribution, text) + self.sequence(sequence)
    }

    /// Where the index of entries has some of those at one place.
    static func bounds(
        at place: [UInt8], in range: ClosedRange<SequenceNumber>
    ) -> (lower: [UInt8], upper: [UInt8]) {
        (place + sequence(range.lowerBound), place + sequence(range.upperBound.next))
    }

    /// The key of a record in the table of times: the last entry that it tells of, and its level.
    static func time(_ last: SequenceNumber, _ level: Int) -> [UInt8] {
        var writer = KeyWriter(capacity: 9)
        writer.append(last.rawValue)
        writer.append(UInt8(level))
        return writer.bytes
    }

    /// The key of an entry by its sequence number.
    static func sequence(_ sequence: SequenceNumber) -> [UInt8] {
        var writer = KeyWriter(capacity: 8)
        writer.append(sequence.rawValue)
        return writer.bytes
    }

    /// The least key greater than every key that begins with `prefix`; nil when there is none.
    static func end(of prefix: [UInt8]) -> [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            guard last < 0xff else { continue }
            end.append(last + 1)
            return end
        }
        return nil
    }
}

extension String {
    /// The text as the index of entries has it: filters take two spellings of one text for the same.
    fileprivate var indexed: String {
        utf8.allSatisfy { $0 < 0x80 } ? self : settledDecomposition
    }
}

extension RawSpan {
    /// Whether these bytes begin with `prefix`.
    func starts(with prefix: [UInt8]) -> Bool {
        guard byteCount >= prefix.count else { return false }
        return extracting(first: prefix.count).hasSameBytes(as: prefix.span.bytes)
    }
}
