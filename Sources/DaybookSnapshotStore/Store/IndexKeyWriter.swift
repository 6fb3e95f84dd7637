internal import DaybookJournalLog
internal import DaybookObjectModel

/// Builds the keys of index records, one after the other in the same memory.
struct IndexKeyWriter {
    private var writer = ByteWriter(capacity: 64)
    private var values = ByteWriter(capacity: 64)

    /// The key set last.
    var bytes: [UInt8] { writer.bytes }

    /// Sets the prefix of the index records of all objects with one value of a property.
    mutating func set(_ property: PropertyNumber, _ value: Value) {
        begin(property)
        value.appendOrderedKey(to: &writer)
        shorten()
    }

    /// Sets the key of the index record of an object whose value is in a field.
    ///
    /// - Throws: ``DecodingFailure`` when the field does not hold a value.
    mutating func set(
        _ property: PropertyNumber, _ field: EncodedField, in bytes: RawSpan, _ object: ObjectID
    ) throws(DecodingFailure) {
        begin(property)
        try bytes.appendOrderedKey(of: field, to: &writer)
        shorten()
        append(object)
    }

    /// Sets the key of the index record of an object for a constraint, from a row that has all its fields.
    ///
    /// - Returns: False when one of the values is null, because any number of objects may have none.
    /// - Throws: ``DecodingFailure`` when a field does not hold a value.
    mutating func set(
        _ constraint: SchemaConstraint, _ row: RowLayout, _ bytes: RawSpan, _ object: ObjectID
    ) throws(DecodingFailure) -> Bool {
        values.removeAll()
        for property in constraint.properties {
            guard let slot = property.slot else { return false }
            let field = try row.field(slot, in: bytes)
            guard !field.isEmpty else { return false }
            if !constraint.isCompound {
                try set(constraint.number, field, in: bytes, object)
                return true
            }
            values.append(raw: bytes.extracting(field.start..<field.end))
        }
        begin(constraint.number)
        writer.append(raw: Digest.of(values.bytes).bytes)
        append(object)
        return true
    }

    /// Sets the key of the index record of an object for an index over several properties, from a row that has all
    /// its fields.
    ///
    /// - Throws: ``DecodingFailure`` when a field does not hold a value.
    mutating func set(
        _ index: FoldedIndex, _ row: RowLayout, _ bytes: RawSpan, _ object: ObjectID
    ) throws(DecodingFailure) {
        begin(index.number)
        for element in index.elements {
            try append(try row.field(element.slot, in: bytes), in: bytes, of: element)
        }
        end(object)
    }

    /// Sets the prefix of the index records of all objects with these values of the first properties of an index.
    mutating func set(_ index: SchemaIndex, _ values: [Value]) {
        begin(index.number)
        for (element, value) in zip(index.elements, values) {
            let start = writer.bytes.count
            value.appendOrderedKey(to: &writer)
            if !element.isAscending { writer.complement(from: start) }
        }
    }

    /// Begins the key of an index record, to which the fields are appended in their order.
    mutating func begin(_ index: FoldedIndex) { begin(index.number) }

    /// Appends a field to the key of an index record.
    ///
    /// - Throws: ``DecodingFailure`` when the field does not hold a value.
    mutating func append(
        _ field: EncodedField, in bytes: RawSpan, of element: FoldedIndex.Element
    ) throws(DecodingFailure) {
        let start = writer.bytes.count
        try bytes.appendOrderedKey(of: field, to: &writer)
        if !element.isAscending { writer.complement(from: start) }
    }

    /// Ends the key of an index record of an object.
    mutating func end(_ object: ObjectID) {
        shorten()
        append(object)
    }

    private mutating func begin(_ property: PropertyNumber) {
        writer.removeAll()
        writer.append(bigEndian: property.rawValue)
    }

    private mutating func append(_ object: ObjectID) {
        writer.append(bigEndian: object.entity.rawValue)
        writer.append(bigEndian: object.number)
    }

    /// Cuts off a long value and appends its digest.
    private mutating func shorten() {
        guard writer.bytes.count > Self.whole else { return }
        let short = Self.shortened(writer.bytes)
        writer.removeAll()
        writer.append(raw: short)
    }

    /// The beginning of a key with a long value, and the digest of the whole; a short key as it is.
    static func shortened(_ key: [UInt8]) -> [UInt8] {
        key.count > whole ? key[..<whole] + Digest.of(Array(key[4...])).bytes : key
    }

    /// So many bytes a key may have before it is cut off.
    private static let whole = 4 + StoreLayout.indexedBytesLimit
}

extension SchemaConstraint {
    /// How many fields a row must have to have all of the constraint.
    var slotCount: Int { properties.compactMap(\.slot).reduce(0) { max($0, $1 + 1) } }
}
