import DaybookObjectModel

/// One input line of `record`, with its form checked but not yet its names and values.
enum Operation {
    case insert(entity: String, ref: String?, values: [JSONMember])
    case update(Target, values: [JSONMember])
    case delete(Target)
    case save(SaveNotes)

    /// The object of an operation.
    enum Target {
        /// `"object":"Country/17"`, with the entity if that was given.
        case object(String, entity: String?)
        /// `"entity":"Country","match":{…}`.
        case match(entity: String, conditions: [JSONMember])
        /// `"ref":"fr"`, with the entity if that was given.
        case ref(String, entity: String?)
    }

    /// Author, note, information and time of a save.
    struct SaveNotes {
        var author: String?
        var note: String?
        /// Texts by key.
        var info: [String: String] = [:]
        /// Microseconds since 1970.
        var time: Int64?
    }
}

/// A mistake in a line.
struct LineProblem: Error {
    var code = ExitCode.usage
    /// The mistake and the remedy.
    let message: String
    /// The location within the line, such as `column 7`.
    var location: String?
    /// The line, if it is not the one being read.
    var line: Int?

    init(_ message: String, code: ExitCode = .usage, location: String? = nil, line: Int? = nil) {
        self.message = message
        self.code = code
        self.location = location
        self.line = line
    }

    /// The error that ends the recording.
    func error(readingLine current: Int) -> ToolError {
        let location = location.map { ", \($0)" } ?? ""
        return ToolError(code, "line \(line ?? current)\(location): \(message)")
    }
}

// MARK: - Reading

extension Operation {
    private static let names = ["insert", "update", "delete", "save"]

    /// Reads a line.
    ///
    /// - Throws: ``LineProblem``.
    init(parsing bytes: [UInt8]) throws {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: bytes)
        } catch {
            // The text has only one line; the caller adds its number in the input.
            let location = error.location.split(separator: " ").suffix(2).joined(separator: " ")
            throw LineProblem(error.message, location: location.isEmpty ? nil : location)
        }
        try self.init(json)
    }

    private init(_ json: JSONValue) throws {
        var fields = try OperationFields(json)
        guard let name = try fields.takeText("op") else {
            throw LineProblem(
                "'op' is missing: \(Self.list(Self.names)) was expected, as in {\"op\":\"insert\"}."
            )
        }
        switch name {
        case "insert":
            self = .insert(
                entity: try fields.requireText("entity", of: name),
                ref: try fields.takeText("ref"),
                values: try fields.takeObject("values") ?? [])
        case "update":
            self = .update(
                try Target(&fields, of: name), values: try fields.requireObject("values", of: name))
        case "delete":
            self = .delete(try Target(&fields, of: name))
        case "save":
            self = .save(try SaveNotes(&fields))
        default:
            let near = Suggestion.nearest(to: name, among: Self.names)
            throw LineProblem(
                "There is no operation '\(name)'; "
                    + (near.map { "did you mean '\($0)'?" }
                        ?? "\(Self.list(Self.names)) was expected."))
        }
        try fields.finish(name)
    }

    static func list(_ names: [String]) -> String {
        let quoted = names.map { "'\($0)'" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
        return quoted.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension Operation.Target {
    fileprivate init(_ fields: inout OperationFields, of operation: String) throws {
        let entity = try fields.takeText("entity")
        let object = try fields.takeText("object")
        let ref = try fields.takeText("ref")
        let conditions = try fields.takeObject("match")
        switch (object, ref, conditions) {
        case (let object?, nil, nil): self = .object(object, entity: entity)
        case (nil, let ref?, nil): self = .ref(ref, entity: entity)
        case (nil, nil, let conditions?):
            guard let entity else {
                throw LineProblem(
                    "'entity' is missing: 'match' needs to know which objects to look among, as in "
                        + "\"entity\":\"Country\".")
            }
            self = .match(entity: entity, conditions: conditions)
        case (nil, nil, nil):
            throw LineProblem(
                "'\(operation)' names no object: \"match\":{…}, \"object\":\"Country/17\" or "
                    + "\"ref\":\"…\" was expected.")
        default:
            throw LineProblem(
                "'\(operation)' names its object twice: only one of 'match', 'object' and 'ref' "
                    + "can stand here.")
        }
    }
}

extension Operation.SaveNotes {
    fileprivate init(_ fields: inout OperationFields) throws {
        author = try fields.takeText("author")
        note = try fields.takeText("note")
        info = try Self.info(try fields.takeObject("info") ?? [])
        guard let text = try fields.takeText("time") else { return }
        do {
            time = try DateText.microseconds(text)
        } catch {
            throw LineProblem("'time' is wrong: \(error)")
        }
    }
}

extension Operation.SaveNotes {
    private static func info(_ members: [JSONMember]) throws -> [String: String] {
        var info: [String: String] = [:]
        for member in members {
            let key = DisplayText.escaped(member.name)
            guard case .string(let text) = member.value else {
                throw LineProblem(
                    "'info.\(key)' is wrong: text was expected, not \(member.value.noun).")
            }
            guard info.updateValue(text, forKey: member.name) == nil else {
                throw LineProblem("'info' has '\(key)' twice.")
            }
        }
        if let objection = EntryInfo.objection(to: info) {
            throw LineProblem("'info' is wrong: \(objection)")
        }
        return info
    }
}

/// The members of one operation, taken one by one; the remaining ones are unknown.
private struct OperationFields {
    private var members: [JSONMember]
    private var known: [String] = []

    init(_ json: JSONValue) throws {
        guard case .object(let members) = json else {
            throw LineProblem(
                "An object such as {\"op\":\"insert\",…} was expected, not \(json.noun).")
        }
        self.members = members
    }

    private mutating func take(_ name: String) -> JSONValue? {
        known.append(name)
        guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
        return members.remove(at: index).value
    }

    /// The text of a member; nil if it is missing or null.
    mutating func takeText(_ name: String) throws -> String? {
        switch take(name) {
        case nil, .null: return nil
        case .string(let text): return text
        case let other?:
            throw LineProblem("'\(name)' is wrong: text was expected, not \(other.noun).")
        }
    }

    mutating func takeObject(_ name: String) throws -> [JSONMember]? {
        switch take(name) {
        case nil: return nil
        case .object(let members): return members
        case let other?:
            throw LineProblem("'\(name)' is wrong: an object was expected, not \(other.noun).")
        }
    }

    mutating func requireText(_ name: String, of operation: String) throws -> String {
        guard let text = try takeText(name) else { throw missing(name, operation) }
        return text
    }

    mutating func requireObject(_ name: String, of operation: String) throws -> [JSONMember] {
        guard let members = try takeObject(name) else { throw missing(name, operation) }
        return members
    }

    private func missing(_ name: String, _ operation: String) -> LineProblem {
        let near = Suggestion.nearest(to: name, among: members.map(\.name))
        let hint = near.map { "; is '\($0)' meant for it?" } ?? "."
        return LineProblem("'\(name)' is missing, which '\(operation)' needs\(hint)")
    }

    /// Refuses the members that were not taken.
    func finish(_ operation: String) throws {
        guard let member = members.first else { return }
        let near = Suggestion.nearest(to: member.name, among: known)
        throw LineProblem(
            "'\(operation)' has no '\(member.name)'; "
                + (near.map { "did you mean '\($0)'?" }
                    ?? "it takes \(Operation.list(known))."))
    }
}
