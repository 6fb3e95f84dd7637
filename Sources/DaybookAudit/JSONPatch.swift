package import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore

// The document of a patch:
//
//   {"Country":{"17":{"name":"France","members":{"Union/3":true}}}}
//
// Every entity that may have objects has a member, even if it has none; every object has every
// property stored on its side, null if there is no value. A to-one relationship is the name of the
// object. A to-many relationship is an object of its members by name, with their order if it is
// ordered, else true: so a member can be added or removed without touching the others.

/// Changes as operations of JSON Patch (RFC 6902).
///
/// Every old value is tested before it is replaced or removed, so a patch applies only to the state
/// it was made from.
package enum JSONPatch {
    /// Writes the operations of a change as elements of an array that is being written.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - entity: Its entity.
    ///   - redaction: The hidden values; a property that is left out is in no document.
    ///   - writer: The writer, within an array.
    package static func append(
        operations change: AuditChange, of entity: SchemaEntity, _ redaction: Redaction = .none,
        to writer: inout JSONWriter
    ) {
        let path = pointer(to: change.object)
        switch change.operation {
        case .insert:
            writer.operation("add", path) { $0.object(of: change, entity, redaction) }
        case .delete:
            writer.operation("test", path) { $0.object(of: change, entity, redaction) }
            writer.operation("remove", path)
        case .update:
            for field in change.fields {
                let pointer = path + "/" + escaped(field.name)
                writer.operation("test", pointer) { field.old.write(to: &$0) }
                writer.operation("replace", pointer) { field.new.write(to: &$0) }
            }
            for membership in change.memberships { append(membership, path, to: &writer) }
        }
    }

    /// Writes the document of a state, a few objects at a time.
    ///
    /// - Parameters:
    ///   - store: The store, as the model reads it that gives the names.
    ///   - sequence: The entry that left the state.
    ///   - redaction: The hidden values; a property that is left out is in no document.
    ///   - output: Takes the bytes, outside of any read transaction.
    /// - Throws: `StoreError` when the store cannot be read; what `output` throws.
    package static func write(
        documentOf store: Store, at sequence: SequenceNumber, _ redaction: Redaction = .none,
        to output: ([UInt8]) throws -> Void
    ) throws {
        var beginning = "{"
        for entity in store.schema.entities where !entity.isAbstract {
            var writer = JSONWriter()
            writer.name(entity.name)
            try output(Array("\(beginning)\(writer.text){".utf8))
            beginning = ","
            var isFirst = true
            try store.writeObjects(of: entity.number, at: sequence) { objects, snapshot in
                var writer = JSONWriter(capacity: objects.count * 256)
                for object in objects {
                    try append(object, of: entity, in: snapshot, redaction, to: &writer)
                }
                return writer.bytes
            } to: { members in
                try output(isFirst ? members : [UInt8(ascii: ",")] + members)
                isFirst = false
            }
            try output([UInt8(ascii: "}")])
        }
        try output(Array((beginning == "{" ? "{}" : "}").utf8))
    }

    /// Writes an object as a member of the document: `"17":{…}`; nothing if there is none.
    package static func append(
        _ object: ObjectID, of entity: SchemaEntity, in snapshot: borrowing Snapshot,
        _ redaction: Redaction = .none, to writer: inout JSONWriter
    ) throws {
        guard let state = try snapshot.state(of: object) else { return }
        let members = state.members.sorted { $0.key < $1.key }.map { property, members in
            MembershipEdit(
                property: property,
                added: members.map { Member(object: $0.key, order: $0.value) })
        }
        let change = AuditChange(
            Change(object: object, kind: .insert(values: state.values, members: members)),
            in: snapshot.schema, redaction)
        writer.name(String(object.number))
        writer.object(of: change, entity, redaction)
    }

    private static func append(
        _ membership: AuditMembership, _ path: String, to writer: inout JSONWriter
    ) {
        func pointer(of member: AuditMembership.Member) -> String {
            "\(path)/\(escaped(membership.name))/\(escaped(member.object))"
        }
        let stayed = Set(membership.added.map(\.object))
        for member in membership.removed {
            writer.operation("test", pointer(of: member)) { $0.member(member, of: membership) }
            if !stayed.contains(member.object) { writer.operation("remove", pointer(of: member)) }
        }
        for member in membership.added {
            writer.operation("add", pointer(of: member)) { $0.member(member, of: membership) }
        }
    }

    /// `/Country/17`, from `Country/17`.
    private static func pointer(to object: String) -> String {
        let end = object.lastIndex(of: "/") ?? object.endIndex
        let number = object[end...].dropFirst()
        return "/\(escaped(String(object[..<end])))/\(number)"
    }

    /// A name as a part of a JSON Pointer (RFC 6901).
    static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") })
        else { return name }
        return name.substituting(["~": "~0", "/": "~1"])
    }
}

extension JSONWriter {
    /// Writes an object of the document: every property stored on its side.
    package mutating func object(
        of change: AuditChange, _ entity: SchemaEntity, _ redaction: Redaction = .none
    ) {
        let fields = Dictionary(
            change.fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let memberships = Dictionary(
            change.memberships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        object { writer in
            for property in entity.properties
            where property.isPersistent && !redaction.omits(property.number) {
                if property.isStoredToMany {
                    writer.name(property.name)
                    writer.members(memberships[property.name], of: change.operation)
                } else if property.slot != nil {
                    writer.name(property.name)
                    guard let field = fields[property.name] else {
                        writer.null()
                        continue
                    }
                    (change.operation == .delete ? field.old : field.new).write(to: &writer)
                }
            }
        }
    }

    private mutating func members(
        _ membership: AuditMembership?, of operation: AuditChange.Operation
    ) {
        object { writer in
            guard let membership else { return }
            for member in operation == .delete ? membership.removed : membership.added {
                writer.name(member.object)
                writer.member(member, of: membership)
            }
        }
    }

    fileprivate mutating func member(
        _ member: AuditMembership.Member, of membership: AuditMembership
    ) {
        if membership.isOrdered { double(member.order) } else { bool(true) }
    }

    fileprivate mutating func operation(
        _ operation: String, _ path: String, _ value: ((inout JSONWriter) -> Void)? = nil
    ) {
        object { writer in
            writer.begin(operation, path)
            guard let value else { return }
            writer.name("value")
            value(&writer)
        }
    }

    fileprivate mutating func begin(_ operation: String, _ path: String) {
        name("op")
        string(operation)
        name("path")
        string(path)
    }
}
