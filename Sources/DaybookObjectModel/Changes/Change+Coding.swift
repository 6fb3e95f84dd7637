// A change in bytes:
//
// | field | bytes |
// |---|---|
// | kind | 1: insert 1, update 2, delete 3; plus 16 when a cause follows |
// | object | entity and number, variable length |
// | cause | entity and number, variable length; only where the kind says so |
// | values (insert, delete) | count, then each value |
// | edits (update) | count, then property, old value, new value of each |
// | members | count, then property, added, removed of each; added and removed are a count, then
//   object and order (8, IEEE 754) of each |
private enum KindByte {
    static let insert: UInt8 = 1
    static let update: UInt8 = 2
    static let delete: UInt8 = 3
    static let hasCause: UInt8 = 16
}

extension ByteWriter {
    /// Appends a change in its canonical form.
    package mutating func append(_ change: Change) {
        append(upTo: change.byteCountBound) { $0.append(change) }
    }
}

extension Change {
    /// An upper bound for the size of the canonical form, in bytes.
    fileprivate var byteCountBound: Int {
        // The kind, two identifiers, and the counts of values and members.
        let namesBound = 64
        return switch kind {
        case .insert(let values, let members), .delete(let values, let members):
            namesBound + values.byteCountBound + members.byteCountBound
        case .update(let edits, let members):
            namesBound + edits.byteCountBound + members.byteCountBound
        }
    }
}

// A span lends its elements; a loop over the array would copy each.
extension [Value] {
    fileprivate var byteCountBound: Int {
        let values = span
        var count = 0
        for index in values.indices { count += values[index].byteCountBound }
        return count
    }
}

extension [Edit] {
    fileprivate var byteCountBound: Int {
        let edits = span
        var count = 0
        for index in edits.indices {
            count += 8 + edits[index].old.byteCountBound + edits[index].new.byteCountBound
        }
        return count
    }
}

extension [MembershipEdit] {
    fileprivate var byteCountBound: Int {
        var count = 0
        for edit in self {
            count += 32 + (edit.added.count + edit.removed.count) * (ObjectID.byteCountBound + 8)
        }
        return count
    }
}

extension OutputSpan where Element == UInt8 {
    /// Appends a change in its canonical form. There must be room for it.
    fileprivate mutating func append(_ change: Change) {
        let mark = change.cause == nil ? 0 : KindByte.hasCause
        switch change.kind {
        case .insert(let values, let members):
            append(KindByte.insert | mark)
            appendNames(of: change)
            append(values)
            append(members)
        case .update(let edits, let members):
            append(KindByte.update | mark)
            appendNames(of: change)
            append(variable: UInt64(edits.count))
            let span = edits.span
            for index in span.indices {
                append(variable: UInt64(span[index].property.rawValue))
                append(span[index].old)
                append(span[index].new)
            }
            append(members)
        case .delete(let values, let members):
            append(KindByte.delete | mark)
            appendNames(of: change)
            append(values)
            append(members)
        }
    }

    private mutating func appendNames(of change: Change) {
        append(change.object)
        if let cause = change.cause { append(cause) }
    }

    private mutating func append(_ values: [Value]) {
        let span = values.span
        append(variable: UInt64(span.count))
        for index in span.indices { append(span[index]) }
    }

    private mutating func append(_ members: [MembershipEdit]) {
        append(variable: UInt64(members.count))
        for edit in members {
            append(variable: UInt64(edit.property.rawValue))
            append(edit.added)
            append(edit.removed)
        }
    }

    private mutating func append(_ members: [Member]) {
        append(variable: UInt64(members.count))
        for member in members {
            append(member.object)
            append(bigEndian: member.order.bitPattern)
        }
    }
}

extension RawSpan {
    /// Reads a change.
    package func readChange(at offset: inout Int) throws(DecodingFailure) -> Change {
        let start = offset
        let mark = try readByte(at: &offset)
        let object = try readObjectID(at: &offset)
        let cause = mark & KindByte.hasCause == 0 ? nil : try readObjectID(at: &offset)
        let kind: Change.Kind
        switch mark & ~KindByte.hasCause {
        case KindByte.insert:
            kind = .insert(
                values: try readValues(at: &offset), members: try readMemberships(at: &offset))
        case KindByte.update:
            kind = .update(
                edits: try readEdits(at: &offset), members: try readMemberships(at: &offset))
        case KindByte.delete:
            kind = .delete(
                values: try readValues(at: &offset), members: try readMemberships(at: &offset))
        default:
            throw DecodingFailure(at: start, expected: "the kind of a change")
        }
        return Change(object: object, kind: kind, cause: cause)
    }

    /// Reads the start of a change: its kind and its object, before the values.
    func readNames(
        at offset: inout Int
    ) throws(DecodingFailure) -> (EncodedChange.Kind, ObjectID) {
        let start = offset
        let mark = try readByte(at: &offset)
        let object = try readObjectID(at: &offset)
        if mark & KindByte.hasCause != 0 { _ = try readObjectID(at: &offset) }
        switch mark & ~KindByte.hasCause {
        case KindByte.insert: return (.insert, object)
        case KindByte.update: return (.update, object)
        case KindByte.delete: return (.delete, object)
        default: throw DecodingFailure(at: start, expected: "the kind of a change")
        }
    }

    private func readValues(at offset: inout Int) throws(DecodingFailure) -> [Value] {
        let count = try readCount(at: &offset)
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try readValue(at: &offset)) }
        return values
    }

    private func readEdits(at offset: inout Int) throws(DecodingFailure) -> [Edit] {
        let count = try readCount(at: &offset)
        var edits: [Edit] = []
        edits.reserveCapacity(count)
        for _ in 0..<count {
            let property = try readPropertyNumber(at: &offset)
            let old = try readValue(at: &offset)
            edits.append(Edit(property: property, old: old, new: try readValue(at: &offset)))
        }
        return edits
    }

    func readMemberships(at offset: inout Int) throws(DecodingFailure) -> [MembershipEdit] {
        let count = try readCount(at: &offset)
        var edits: [MembershipEdit] = []
        for _ in 0..<count {
            let property = try readPropertyNumber(at: &offset)
            let added = try readMembers(at: &offset)
            let removed = try readMembers(at: &offset)
            edits.append(MembershipEdit(property: property, added: added, removed: removed))
        }
        return edits
    }

    private func readMembers(at offset: inout Int) throws(DecodingFailure) -> [Member] {
        let count = try readCount(at: &offset)
        var members: [Member] = []
        for _ in 0..<count {
            let start = offset
            let object = try readObjectID(at: &offset)
            if let last = members.last, last.object >= object {
                throw DecodingFailure(at: start, expected: "a member after the one before it")
            }
            let place = offset
            let order = Double(bitPattern: try readBigEndian(UInt64.self, at: &offset))
            // Between others there is always a number; a member without one would come in any order.
            guard order.isFinite else {
                throw DecodingFailure(at: place, expected: "the position of a member")
            }
            members.append(Member(object: object, order: order))
        }
        return members
    }

    func readPropertyNumber(
        at offset: inout Int
    ) throws(DecodingFailure) -> PropertyNumber {
        let start = offset
        guard let number = UInt32(exactly: try readVariable(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "a property number")
        }
        return PropertyNumber(rawValue: number)
    }
}
