internal import DaybookJournalLog
internal import DaybookObjectModel

/// The members of a JSON object of an export, read by name and form.
struct ExportMembers {
    /// The names of the members of an entry.
    static let ofEntry = [
        "sequence", "time", "recorded", "author", "note", "info", "context", "base", "undoes",
        "kind", "model", "steps", "numbers", "changes", "digest",
    ]

    private let members: [String: JSONValue]

    /// - Throws: ``JSONError`` when it is not an object or has an unknown member.
    init(_ json: JSONValue, names: [String]) throws(JSONError) {
        guard case .object(let members) = json else {
            throw JSONError("An object was expected, not \(json.noun).")
        }
        for member in members where !names.contains(member.name) {
            let suggestion = member.name.suggestion(among: names)
            throw JSONError(
                "is not known here"
                    + (suggestion.isEmpty
                        ? "; there are \(names.map { "\"\($0)\"" }.joined(separator: ", "))."
                        : suggestion),
                at: member.name)
        }
        self.members = Dictionary(
            members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(name: String) -> JSONValue? { members[name] }

    /// A mandatory member.
    func required<Form>(
        _ name: String, read form: MemberForm<Form>
    ) throws(JSONError) -> Form {
        guard let value = try optional(name, read: form) else {
            throw JSONError("is missing; \(form.expectation) must be there.", at: name)
        }
        return value
    }

    /// The digest of an entry, which an export with hidden values leaves out.
    func digest() throws(JSONError) -> Digest {
        guard let digest = try optional("digest", read: .digest) else {
            throw JSONError(
                "is missing. An export has no digests from the first entry on whose values it leaves "
                    + "out; use one that shows them all ('daybook export --confidential show').",
                at: "digest")
        }
        return digest
    }

    /// An optional member.
    func optional<Form>(
        _ name: String, read form: MemberForm<Form>
    ) throws(JSONError) -> Form? {
        guard let json = members[name] else { return nil }
        guard let value = form.read(json) else {
            throw JSONError("\(form.expectation) was expected, not \(json.noun).", at: name)
        }
        return value
    }

    /// The values of a mandatory list.
    func list(_ name: String) throws(JSONError) -> [JSONValue] {
        guard let json = members[name] else {
            throw JSONError("is missing; a list must be there.", at: name)
        }
        guard case .array(let values) = json else {
            throw JSONError("a list was expected, not \(json.noun).", at: name)
        }
        return values
    }

    /// The entries that an entry of this number undoes; nil for none.
    func undoes(
        before sequence: SequenceNumber
    ) throws(JSONError) -> ClosedRange<SequenceNumber>? {
        guard let undone = try optional("undoes", read: .undoes) else { return nil }
        guard undone.upperBound < sequence else {
            throw JSONError("an entry can only undo earlier ones.", at: "undoes")
        }
        return undone
    }

    /// The information of an entry; none when it is left out.
    func info() throws(JSONError) -> [String: String] {
        guard members["info"] != nil else { return [:] }
        var info: [String: String] = [:]
        for member in try object("info") {
            guard case .string(let text) = member.value else {
                throw JSONError(
                    "text was expected, not \(member.value.noun).", at: "info.\(member.name)")
            }
            guard info.updateValue(text, forKey: member.name) == nil else {
                throw JSONError("the key is there twice.", at: "info.\(member.name)")
            }
        }
        if let objection = EntryInfo.objection(to: info) {
            throw JSONError(objection, at: "info")
        }
        guard !info.isEmpty else {
            throw JSONError("an entry without information leaves it out.", at: "info")
        }
        return info
    }

    /// The members of an object.
    func object(_ name: String, isRequired: Bool = true) throws(JSONError) -> [JSONMember] {
        guard let json = members[name] else {
            guard isRequired else { return [] }
            throw JSONError("is missing; an object must be there.", at: name)
        }
        guard case .object(let members) = json else {
            throw JSONError("an object was expected, not \(json.noun).", at: name)
        }
        return members
    }
}

/// The form and the meaning of a member.
struct MemberForm<Form> {
    /// With its article.
    let expectation: String
    let read: (JSONValue) -> Form?
}

extension MemberForm where Form == String {
    static var text: MemberForm {
        MemberForm(expectation: "text") { json in
            if case .string(let text) = json { text } else { nil }
        }
    }
}

extension MemberForm where Form == UInt64 {
    static var number: MemberForm {
        MemberForm(expectation: "a whole number from 0") { json in
            if case .number(let text) = json { UInt64(text) } else { nil }
        }
    }
}

extension MemberForm where Form == ClosedRange<SequenceNumber> {
    /// One entry, or the first and last of several.
    static var undoes: MemberForm {
        MemberForm(
            expectation: "the number of an entry, or a list of the first and last of several"
        ) { json in
            if let number = MemberForm<UInt64>.number.read(json) {
                return number > 0 ? SequenceNumber(number)...SequenceNumber(number) : nil
            }
            guard case .array(let ends) = json, ends.count == 2,
                let first = MemberForm<UInt64>.number.read(ends[0]), first > 0,
                let last = MemberForm<UInt64>.number.read(ends[1]), first < last
            else { return nil }
            return SequenceNumber(first)...SequenceNumber(last)
        }
    }
}

extension MemberForm where Form == Double {
    static var double: MemberForm {
        MemberForm(expectation: "a number that 64 bits can hold") { json in
            guard case .number(let text) = json, let number = Double(text), number.isFinite else {
                return nil
            }
            // Zero has no sign, as in every value.
            return number == 0 ? 0 : number
        }
    }
}

extension MemberForm where Form == Int64 {
    static var time: MemberForm {
        MemberForm(expectation: "a time such as \"2011-12-15T08:30:00Z\"") { json in
            guard case .string(let text) = json else { return nil }
            do {
                return try DateText.microseconds(text)
            } catch {
                return nil
            }
        }
    }
}

extension MemberForm where Form == Digest {
    static var digest: MemberForm {
        MemberForm(expectation: "64 hexadecimal digits") { json in
            if case .string(let text) = json { Digest(hexadecimal: text) } else { nil }
        }
    }
}

extension MemberForm where Form == AuditRecord.Kind {
    static var kind: MemberForm {
        MemberForm(expectation: "\"save\", \"batch\", \"undo\" or \"model\"") { json in
            if case .string(let text) = json { AuditRecord.Kind(rawValue: text) } else { nil }
        }
    }
}

extension MemberForm where Form == AuditChange.Operation {
    static var operation: MemberForm {
        MemberForm(expectation: "\"insert\", \"update\" or \"delete\"") { json in
            if case .string(let text) = json { AuditChange.Operation(rawValue: text) } else { nil }
        }
    }
}
