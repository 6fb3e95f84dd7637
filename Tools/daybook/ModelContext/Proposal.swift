import DaybookNewFiles
import DaybookObjectModel

/// Changes that a program proposes: a file of lines that `record` reads.
struct Proposal {
    let changes: [JSONValue]
    let note: String?

    /// The lines.
    var lines: String {
        var save = [JSONMember("op", "save")]
        if let note { save.append(JSONMember("note", .string(note))) }
        return (changes + [.object(save)]).map { $0.text(escaping: .least) + "\n" }.joined()
    }

    /// Whether a name can be that of a file, and is no hidden one.
    static func isName(_ text: String) -> Bool {
        let isFit = text.utf8.allSatisfy {
            ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        return isFit && (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
            && !text.hasPrefix("_")
    }

    /// Writes the file, which must not be there yet.
    ///
    /// - Throws: ``NewFileError``.
    func write(to path: String) throws {
        let file = try NewFile(path)
        try file.write(lines.utf8)
        try file.finish()
    }
}

extension ModelContextTools {
    /// The arguments of a tool.
    struct Input {
        private let members: [JSONMember]

        init(_ json: JSONValue, knowing names: [String]) throws {
            guard case .object(let members) = json else {
                throw Problem(sentence: "'arguments' has to be an object.")
            }
            if let stranger = members.first(where: { !names.contains($0.name) }) {
                throw Problem(
                    sentence: "There is no argument '\(stranger.name)'"
                        + Suggestion.clause(for: stranger.name, among: names))
            }
            self.members = members
        }

        private subscript(name: String) -> JSONValue? {
            members.first { $0.name == name }?.value
        }

        func has(_ name: String) -> Bool { self[name] != nil }

        func optionalText(_ name: String) throws -> String? {
            switch self[name] {
            case nil, .null?: return nil
            case .string(let text)?:
                guard !text.utf8.contains(0) else {
                    throw Problem(sentence: "'\(name)' has a zero character in it.")
                }
                return text
            // An entry may be given as the number it is.
            case .number(let text)?: return text
            default: throw Problem(sentence: "'\(name)' has to be a text.")
            }
        }

        func text(_ name: String) throws -> String {
            guard let text = try optionalText(name) else {
                throw Problem(sentence: "'\(name)' is missing.")
            }
            return text
        }

        func count(_ name: String, maximum: Int) throws -> Int? {
            guard let value = self[name] else { return nil }
            guard case .number(let text) = value, let count = Int(text),
                (1...maximum).contains(count)
            else { throw Problem(sentence: "'\(name)' has to be a number from 1 to \(maximum).") }
            return count
        }

        /// Options of the command that are called like arguments.
        func options(_ names: [String]) throws -> [String] {
            try names.compactMap { name in try optionalText(name).map { "--\(name)=\($0)" } }
        }

        /// The changes of a proposal.
        func changes() throws -> [JSONValue] {
            guard case .array(let changes)? = self["changes"], !changes.isEmpty else {
                throw Problem(sentence: "'changes' has to be a list of changes.")
            }
            for change in changes {
                guard case .string(let name)? = change["op"],
                    ["insert", "update", "delete"].contains(name)
                else {
                    throw Problem(sentence: "The 'op' of a change is insert, update or delete.")
                }
            }
            return changes
        }
    }
}

/// What JSON a change of each entity is.
struct ChangeSchemas {
    private let model: ManagedObjectModel

    init(_ model: ManagedObjectModel) {
        self.model = model
    }

    var all: [JSONValue] {
        let concrete = model.entities.filter { !$0.isAbstract }
        return concrete.map(insert) + concrete.map(update) + [delete]
    }

    private func insert(_ entity: EntityDescription) -> JSONValue {
        variant(
            "insert", required: ["entity", "values"],
            [
                ("entity", .members(("const", .string(entity.name)))),
                ("ref", .members(("type", "string"))), ("values", values(of: entity)),
            ])
    }

    private func update(_ entity: EntityDescription) -> JSONValue {
        variant(
            "update", required: ["object", "values"],
            [
                (
                    "object",
                    .members(("type", "string"), ("pattern", .string("^\(entity.name)/[0-9]+$")))
                ),
                ("values", values(of: entity)),
            ])
    }

    private var delete: JSONValue {
        variant("delete", required: ["object"], [("object", .members(("type", "string")))])
    }

    private func variant(
        _ operation: String, required: [String], _ properties: [(String, JSONValue)]
    ) -> JSONValue {
        let all = [("op", JSONValue.members(("const", .string(operation))))] + properties
        return .members(
            ("type", "object"), ("properties", .object(all.map { JSONMember($0.0, $0.1) })),
            ("required", .array((["op"] + required).map { .string($0) })),
            ("additionalProperties", .bool(false)))
    }

    private func values(of entity: EntityDescription) -> JSONValue {
        var members: [JSONMember] = []
        var ancestor: EntityDescription? = entity
        while let present = ancestor {
            for attribute in present.attributes
            where !attribute.isTransient && attribute.derivation == nil {
                members.append(JSONMember(attribute.name, schema(of: attribute)))
            }
            for relationship in present.relationships {
                members.append(JSONMember(relationship.name, schema(of: relationship)))
            }
            ancestor = present.superentityName.flatMap { name in
                model.entities.first { $0.name == name }
            }
        }
        return .members(
            ("type", "object"), ("properties", .object(members)),
            ("additionalProperties", .bool(false)))
    }

    private func schema(of attribute: AttributeDescription) -> JSONValue {
        let types: [JSONValue]
        var more: [JSONMember] = []
        switch attribute.type {
        case .bool: types = ["boolean"]
        case .int16, .int32, .int64: types = ["integer"]
        case .float, .double: types = ["number"]
        case .decimal: types = ["string", "number"]
        case .string: types = ["string"]
        case .date: (types, more) = (["string"], [JSONMember("format", "date-time")])
        case .uuid: (types, more) = (["string"], [JSONMember("format", "uuid")])
        case .url: (types, more) = (["string"], [JSONMember("format", "uri")])
        case .data: (types, more) = (["string"], [JSONMember("contentEncoding", "base64")])
        case .codable: return .object([])
        }
        let all = attribute.isOptional ? types + ["null"] : types
        return .object([JSONMember("type", all.count == 1 ? all[0] : .array(all))] + more)
    }

    private func schema(of relationship: RelationshipDescription) -> JSONValue {
        let one = JSONValue.members(
            ("type", .array(["object", "null"])),
            (
                "description",
                .string(
                    "An object of \(relationship.destinationName): {\"object\":\"\(relationship.destinationName)/1\"}, "
                        + "{\"ref\":…} or {\"match\":{…}}.")
            ))
        return relationship.isToMany
            ? .members(("type", "array"), ("items", one)) : one
    }
}
