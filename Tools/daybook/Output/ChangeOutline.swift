import ObjectModel

/// One change with names in place of numbers, for people and for programs.
struct ChangeOutline {
    private let change: Change
    private let schema: Schema
    private let entity: SchemaEntity?

    init(_ change: Change, in schema: Schema) {
        self.change = change
        self.schema = schema
        entity = schema.entity(change.object.entity)
    }

    // MARK: - For people

    /// `+ Country/17` and a line for each value, with old and new.
    func lines(_ palette: Palette) -> [String] {
        let name = schema.name(of: change.object)
        switch change.kind {
        case .insert(let values, let members):
            return [palette("+ \(name)", .added)]
                + list(values).map { palette("    \($0.name): \($0.text)", .added) }
                + lines(members, palette)
        case .delete(let values, let members):
            return [palette("- \(name)", .removed)]
                + list(values).map { palette("    \($0.name): \($0.text)", .removed) }
                + lines(members, palette)
        case .update(let edits, let members):
            return [palette("~ \(name)", .changed)]
                + edits.map { edit in
                    let property = entity?.property(edit.property)
                    let old = text(edit.old, property)
                    return "    \(property?.name ?? ""): \(old) -> \(text(edit.new, property))"
                } + lines(members, palette)
        }
    }

    private func lines(_ members: [MembershipEdit], _ palette: Palette) -> [String] {
        members.flatMap { edit in
            let name = entity?.property(edit.property)?.name ?? ""
            return edit.removed.map {
                palette("    \(name): - \(schema.name(of: $0.object))", .removed)
            }
                + edit.added.map {
                    palette("    \(name): + \(schema.name(of: $0.object))", .added)
                }
        }
    }

    private func list(_ values: [Value]) -> [(name: String, text: String)] {
        zip(entity?.slots ?? [], values).compactMap { property, value in
            value.isNull ? nil : (property.name, text(value, property))
        }
    }

    private func text(_ value: Value, _ property: SchemaProperty?) -> String {
        var writer = JSONWriter()
        writer.value(value, for: property?.attribute?.type, in: schema)
        return DisplayText.escaped(writer.text)
    }

    // MARK: - For programs

    /// The change as an export has it.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("op")
            writer.string(operation)
            writer.name("object")
            writer.string(schema.name(of: change.object))
            writer.name("entity")
            writer.string(entity?.name ?? "")
            switch change.kind {
            case .insert(let values, _): write(values, as: "new", to: &writer)
            case .delete(let values, _): write(values, as: "old", to: &writer)
            case .update(let edits, _):
                write(edits.map { ($0.property, $0.old) }, as: "old", to: &writer)
                write(edits.map { ($0.property, $0.new) }, as: "new", to: &writer)
            }
            for edit in change.members { write(edit, to: &writer) }
        }
        return writer.bytes
    }

    private var operation: String {
        switch change.kind {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }

    private func write(_ values: [Value], as name: String, to writer: inout JSONWriter) {
        let named = zip(entity?.slots ?? [], values).filter { !$1.isNull }
        write(named.map { ($0.number, $1) }, as: name, to: &writer)
    }

    private func write(
        _ values: [(PropertyNumber, Value)], as name: String, to writer: inout JSONWriter
    ) {
        writer.name(name)
        writer.object { writer in
            for (number, value) in values {
                guard let property = entity?.property(number) else { continue }
                writer.name(property.name)
                writer.value(value, of: property, in: schema)
            }
        }
    }

    private func write(_ edit: MembershipEdit, to writer: inout JSONWriter) {
        writer.name(entity?.property(edit.property)?.name ?? "")
        writer.object { writer in
            for (name, members) in [("removed", edit.removed), ("added", edit.added)] {
                writer.name(name)
                writer.array { writer in
                    for member in members { writer.string(schema.name(of: member.object)) }
                }
            }
        }
    }
}
