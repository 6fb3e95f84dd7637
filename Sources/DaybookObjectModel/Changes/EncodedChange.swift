/// The range of an encoded value in bytes, tag included; empty for null.
package struct EncodedField: Sendable, Hashable, BitwiseCopyable {
    /// The offset of its first byte.
    package let start: Int
    /// The offset after its last byte.
    package let end: Int

    /// Creates a range.
    package init(start: Int, end: Int) {
        self.start = start
        self.end = end
    }

    /// Whether this is null.
    package var isEmpty: Bool { start == end }
}

/// An encoded edit, by the ranges of its values.
package struct EncodedEdit: Sendable {
    /// The property.
    package let property: PropertyNumber
    /// The value before.
    package let old: EncodedField
    /// The value after.
    package let new: EncodedField
}

/// A change in canonical bytes, whose values are located but not decoded.
///
/// As every value has exactly one encoding, values are compared and copied as bytes: folding an
/// entry decodes hardly any. One instance reads all changes of an entry in turn and reuses its
/// storage.
package struct EncodedChange: Sendable {
    /// What happens to the object.
    package enum Kind: Sendable {
        /// It is created with the fields.
        case insert
        /// Some of its values and members change.
        case update
        /// It is deleted; the fields are its old values.
        case delete
    }

    /// What happens to the object.
    package private(set) var kind = Kind.insert
    /// The object.
    package private(set) var object = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)
    /// The values in slot order, of an insert or a delete.
    package private(set) var fields: [EncodedField] = []
    /// The edits of an update.
    package private(set) var edits: [EncodedEdit] = []
    /// The memberships that change.
    package private(set) var members: [MembershipEdit] = []

    /// Creates an instance that describes no change yet.
    package init() {}

    /// Reads the next change of an entry.
    ///
    /// - Throws: ``DecodingFailure`` for whatever cannot be decoded to a ``Change``.
    package mutating func read(
        _ bytes: RawSpan, at offset: inout Int
    ) throws(DecodingFailure) {
        let (kind, object) = try bytes.readNames(at: &offset)
        self.kind = kind
        self.object = object
        fields.removeAll(keepingCapacity: true)
        edits.removeAll(keepingCapacity: true)
        let count = try bytes.readCount(at: &offset)
        if kind == .update {
            for _ in 0..<count {
                let property = try bytes.readPropertyNumber(at: &offset)
                let old = try bytes.readField(at: &offset)
                let new = try bytes.readField(at: &offset)
                edits.append(EncodedEdit(property: property, old: old, new: new))
            }
        } else {
            if fields.capacity < count { fields.reserveCapacity(count) }
            for _ in 0..<count { fields.append(try bytes.readField(at: &offset)) }
        }
        let edited = try bytes.readMemberships(at: &offset)
        if !edited.isEmpty || !members.isEmpty { members = edited }
    }
}

extension RawSpan {
    fileprivate func readField(at offset: inout Int) throws(DecodingFailure) -> EncodedField {
        let start = offset
        try skipValue(at: &offset)
        return EncodedField(start: isNull(at: start) ? offset : start, end: offset)
    }
}

extension RawSpan {
    /// The value of a field.
    ///
    /// - Throws: ``DecodingFailure`` when the field is not just a value.
    package func value(at field: EncodedField) throws(DecodingFailure) -> Value {
        guard !field.isEmpty else { return .null }
        var offset = field.start
        let value = try readValue(at: &offset)
        guard offset == field.end else {
            throw DecodingFailure(at: offset, expected: "the end of a field")
        }
        return value
    }
}
