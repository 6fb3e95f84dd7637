internal import DaybookObjectModel

/// A change from an export, to become part of an entry.
struct ExportedChange {
    private let members: ExportMembers
    private let schema: Schema
    private let entity: SchemaEntity
    private let object: ObjectID

    init(_ json: JSONValue, in schema: Schema) throws(JSONError) {
        members = try ExportMembers(
            json,
            names: [
                "op", "object", "entity", "cause", "old", "new", "added", "removed", "confidential",
            ])
        guard members["confidential"] == nil else {
            throw JSONError(
                "values were left out; a store is loaded from an export that shows them all "
                    + "('daybook export --confidential show').", at: "confidential")
        }
        self.schema = schema
        let name = try members.required("object", read: .text)
        object = try Self.object(name, at: "object", in: schema)
        guard let entity = schema.entity(object.entity) else {
            throw JSONError("'\(name)' belongs to no entity of the model.", at: "object")
        }
        self.entity = entity
        let entityName = try members.required("entity", read: .text)
        guard entityName == entity.name else {
            throw JSONError(
                "'\(entityName)' is not the entity of '\(name)', which is '\(entity.name)'.",
                at: "entity")
        }
    }

    /// The change.
    var change: Change {
        get throws(JSONError) {
            let kind: Change.Kind =
                switch try members.required("op", read: .operation) {
                case .insert: .insert(values: try values("new", not: "old"), members: try edits())
                case .delete: .delete(values: try values("old", not: "new"), members: try edits())
                case .update: .update(edits: try valueEdits(), members: try edits())
                }
            var cause: ObjectID?
            if let name = try members.optional("cause", read: .text) {
                cause = try Self.object(name, at: "cause", in: schema)
            }
            return Change(object: object, kind: kind, cause: cause)
        }
    }

    // MARK: - Values

    /// All values in slot order; omitted ones are null.
    private func values(_ side: String, not other: String) throws(JSONError) -> [Value] {
        guard members[other] == nil else {
            throw JSONError("an insert has only \"new\" and a delete only \"old\".", at: other)
        }
        var values = [Value](repeating: .null, count: entity.storedSlotCount)
        for (property, value) in try fields(side) {
            guard let slot = property.slot else { continue }
            values[slot] = value
        }
        return values
    }

    private func valueEdits() throws(JSONError) -> [Edit] {
        let old = try fields("old")
        let new = try fields("new")
        var edits: [Edit] = []
        for (property, value) in old {
            guard let other = new.first(where: { $0.0.number == property.number }) else {
                throw JSONError("is missing; \"old\" has it.", at: "new.\(property.name)")
            }
            edits.append(Edit(property: property.number, old: value, new: other.1))
        }
        if let extra = new.first(where: { new in !old.contains { $0.0.number == new.0.number } }) {
            throw JSONError("is missing; \"new\" has it.", at: "old.\(extra.0.name)")
        }
        return edits.sorted { $0.property < $1.property }
    }

    private func fields(_ side: String) throws(JSONError) -> [(SchemaProperty, Value)] {
        var fields: [(SchemaProperty, Value)] = []
        for member in try members.object(side) {
            let property = try property(member.name, at: side)
            guard property.isPersistent, property.slot != nil else {
                throw JSONError(
                    "no value of it is kept with '\(entity.name)'.", at: "\(side).\(member.name)")
            }
            do {
                fields.append((property, try value(member.value, of: property)))
            } catch {
                throw error.within("\(side).\(member.name)")
            }
        }
        return fields
    }

    private func value(
        _ json: JSONValue, of property: SchemaProperty
    ) throws(JSONError) -> Value {
        switch property.kind {
        case .removed: return .null
        case .attribute(let attribute):
            return try Value(
                json, for: attribute.type, isConfidential: attribute.isConfidential)
        case .relationship(_, let end):
            guard let destination = schema.entity(end.destination) else { return .null }
            return try Value(json, to: destination, in: schema)
        }
    }

    private func property(_ name: String, at side: String) throws(JSONError) -> SchemaProperty {
        if let property = entity.property(named: name) { return property }
        throw JSONError(
            "'\(entity.name)' has no such property"
                + name.suggestionOrEnd(among: entity.properties.map(\.name)),
            at: "\(side).\(name)")
    }

    // MARK: - Members

    private func edits() throws(JSONError) -> [MembershipEdit] {
        var edits: [PropertyNumber: MembershipEdit] = [:]
        for side in ["added", "removed"] {
            for member in try members.object(side, isRequired: false) {
                let location = "\(side).\(member.name)"
                let property = try property(member.name, at: side)
                guard property.isStoredToMany else {
                    throw JSONError(
                        "it is not a list that is kept with '\(entity.name)'.", at: location)
                }
                guard case .array(let list) = member.value else {
                    throw JSONError("a list was expected, not \(member.value.noun).", at: location)
                }
                var objects: [Member] = []
                for (index, json) in list.enumerated() {
                    objects.append(try self.member(json, at: "\(location)[\(index)]"))
                }
                let earlier = edits[property.number]
                edits[property.number] = MembershipEdit(
                    property: property.number,
                    added: side == "added" ? objects : earlier?.added ?? [],
                    removed: side == "removed" ? objects : earlier?.removed ?? [])
            }
        }
        return edits.values.sorted { $0.property < $1.property }
    }

    private func member(_ json: JSONValue, at location: String) throws(JSONError) -> Member {
        if case .string(let name) = json {
            return Member(object: try Self.object(name, at: location, in: schema))
        }
        do {
            let members = try ExportMembers(json, names: ["object", "order"])
            let name = try members.required("object", read: .text)
            return Member(
                object: try Self.object(name, at: "object", in: schema),
                order: try members.required("order", read: .double))
        } catch {
            throw error.within(location)
        }
    }

    private static func object(
        _ name: String, at location: String, in schema: Schema
    ) throws(JSONError) -> ObjectID {
        if let object = schema.object(named: name) { return object }
        let entity = String(name.prefix { $0 != "/" })
        let names = schema.entities.map(\.name)
        throw JSONError(
            "'\(name)' does not name an object, as '\(names.first ?? "Country")/17' does"
                + (names.contains(entity) ? "." : entity.suggestionOrEnd(among: names)),
            at: location)
    }
}

extension String {
    /// The end of a sentence, with the name probably meant.
    func suggestionOrEnd(among names: [String]) -> String {
        let suggestion = suggestion(among: names)
        return suggestion.isEmpty ? "." : suggestion
    }
}
