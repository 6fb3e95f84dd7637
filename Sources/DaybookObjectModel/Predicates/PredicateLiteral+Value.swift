import Foundation

extension PredicateLiteral {
    /// The constant as a value comparable with values of that type.
    func value(
        for type: PredicateType, with names: PredicateNames, at column: Int
    ) throws(QueryError) -> Value {
        switch type {
        case .unknown: return untyped
        case .attribute(let type, let name):
            if isNull { return .null }
            if let value = value(for: type) { return value.normalized(for: type) }
            throw QueryError("'\(name)' is \(type.expectation), not \(description).", at: column)
        case .object(let entity, let name):
            if isNull { return .null }
            return .object(try object(of: entity, name, with: names, at: column))
        }
    }

    var isNull: Bool {
        switch self {
        case .null, .value(.null): true
        default: false
        }
    }

    /// The value when its type is unknown: whole numbers are integers, others binary.
    private var untyped: Value {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let text): Int64(text).map { .int($0) } ?? .double(Double(text) ?? .nan)
        case .text(let text): .string(text)
        case .value(let value): value.normalized
        }
    }

    var description: String {
        switch self {
        case .null: "nil"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .number(let text): "the number \(text)"
        case .text(let text): "the text \"\(text)\""
        case .value(let value): value.noun
        }
    }

    /// The text, if it is one.
    var text: String? {
        switch self {
        case .text(let text), .value(.string(let text)): text
        default: nil
        }
    }

    /// The number in decimal digits.
    private var digits: String? {
        switch self {
        case .number(let text): text
        case .value(.int(let number)): String(number)
        case .value(.double(let number)): number.isFinite ? number.description : nil
        case .value(.decimal(let number)): number.isNaN ? nil : number.plainText
        default: nil
        }
    }

    private func value(for type: AttributeType) -> Value? {
        if case .value(let given) = self {
            let value = given.normalized(for: type)
            if type.objection(to: value) == nil { return value }
        }
        switch type {
        case .bool: return truth
        case .int16, .int32, .int64: return number
        case .float, .double:
            if case .value(.double(let number)) = self { return .double(number) }
            let number = digits ?? text.flatMap { Double.namesOfNonFinite[$0] == nil ? nil : $0 }
            return number.flatMap { Double.namesOfNonFinite[$0] ?? Double($0) }
                .map { .double($0) }
        case .decimal: return digits.flatMap { Decimal(exactly: $0) }.map { .decimal($0) }
        case .string, .url: return text.map { .string($0) }
        case .data, .codable:
            if type == .data, let data = text.flatMap(LargeData.init(reference:)) {
                return .large(data)
            }
            return text.flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        case .date: return text.flatMap { DateText.date($0) }.map { .date($0) }
        case .uuid: return text.flatMap { UUID(uuidString: $0) }.map { .uuid($0) }
        }
    }

    private var truth: Value? {
        switch self {
        case .bool(let value): .bool(value)
        case .number("0"), .value(.int(0)): .bool(false)
        case .number("1"), .value(.int(1)): .bool(true)
        default: nil
        }
    }

    /// An integer if it is one, else a floating-point number between the same two integers; both are
    /// compared by size. Nil where there is no such number: beyond 2⁵² they are all whole.
    private var number: Value? {
        guard let digits else { return nil }
        if let integer = Int64(digits) { return .int(integer) }
        guard let number = Double(digits) else { return nil }
        guard let integer = Int64(exactly: number) else { return .double(number) }
        // It may have been rounded to an integer.
        guard let exact = Decimal(exactly: digits) else { return nil }
        if exact == Decimal(integer) { return .int(integer) }
        let neighbour = exact < Decimal(integer) ? number.nextDown : number.nextUp
        return Int64(exactly: neighbour) == nil ? .double(neighbour) : nil
    }

    private func object(
        of entity: SchemaEntity, _ name: String, with names: PredicateNames, at column: Int
    ) throws(QueryError) -> ObjectID {
        let schema = names.schema
        let found: ObjectID
        if case .value(.object(let object)) = self {
            found = object
        } else {
            guard let text else {
                throw QueryError(
                    "'\(name)' is an object, written as \"\(entity.name)/1\", not \(description).",
                    at: column)
            }
            guard let object = try names.object(named: text, at: column) else {
                let written = text.split(separator: "/").first.map(String.init) ?? text
                let names = schema.entities.map(\.name)
                throw QueryError(
                    "\"\(text)\" is not the name of an object, as \"\(entity.name)/1\" is"
                        + (names.contains(written) ? "." : "")
                        + (names.contains(written) ? "" : written.remark(among: names)),
                    at: column)
            }
            found = object
        }
        guard entity.family.contains(found.entity) else {
            throw QueryError(
                "'\(name)' is an object of '\(entity.name)', which '\(schema.name(of: found))' is "
                    + "not.", at: column)
        }
        return found
    }
}

extension String {
    /// The end of a sentence: a suggestion, or a full stop.
    fileprivate func remark(among names: [String]) -> String {
        let suggestion = suggestion(among: names)
        return suggestion.isEmpty ? "." : suggestion
    }
}

extension AttributeType {
    /// The required kind of constant, with an example.
    fileprivate var expectation: String {
        switch self {
        case .bool: "true or false, written as TRUE or FALSE"
        case .date: "a date, written as \"2011-12-15\" or \"2011-12-15T08:30:00Z\""
        case .uuid: "a UUID, written as \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\""
        case .string, .url: "\(noun), written in quotation marks"
        case .data, .codable: "\(noun), written as base64 in quotation marks"
        default: noun
        }
    }
}
