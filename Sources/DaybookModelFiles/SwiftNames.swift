import DaybookObjectModel
import Foundation

/// The names of a model in Swift.
struct SwiftNames {
    private var classNames: [String: String] = [:]
    private var taken: Set<String>

    /// Gives every entity a class: the one that its model names, or else one with its own name.
    init(of reading: ModelReading) {
        var counts: [String: Int] = [:]
        for name in reading.classNames.values { counts[name, default: 0] += 1 }
        taken = Self.typeNames
        for entity in reading.model.entities {
            let named = reading.classNames[entity.name].flatMap {
                counts[$0] == 1 && Self.isIdentifier($0) ? $0 : nil
            }
            var name = named ?? entity.name
            while taken.contains(name) || Self.keywords.contains(name) { name += "Object" }
            taken.insert(name)
            classNames[entity.name] = name
        }
    }

    /// A name for one more type: the one asked for, or one that begins like it.
    mutating func takeTypeName(_ wanted: String) -> String {
        var name = Self.isIdentifier(wanted) ? wanted : "Parts"
        while taken.contains(name) || Self.keywords.contains(name) { name += "Value" }
        taken.insert(name)
        return name
    }

    func className(of entity: String) -> String {
        classNames[entity] ?? entity
    }

    /// The name of a property, with what Swift needs around it; nil when no class can have it.
    static func property(_ name: String) -> String? {
        guard isIdentifier(name), !members.contains(name) else { return nil }
        return keywords.contains(name) ? "`\(name)`" : name
    }

    /// A text in quotes.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _
            where scalar.properties.generalCategory == .control
                || scalar.properties.generalCategory == .format
                || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// Whether a name of a model is an identifier in Swift, too.
    private static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic else {
            return false
        }
        return name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0 == "_" || ("0"..."9").contains($0)
        }
    }

    /// What the classes use themselves.
    private static let typeNames: Set<String> = [
        "Any", "Array", "Attribute", "Bool", "Composite", "CompositeAttribute",
        "CompositeElement", "Data", "Date", "Daybook", "Decimal", "Double",
        "Float",
        "Foundation", "Int16", "Int32", "Int64", "ManagedObject", "Optional", "Protocol",
        "Relationship", "Self", "Set", "String", "Swift", "Transient", "Type", "URL", "UUID",
    ]

    /// The members that every object has, and words with another meaning after a dot.
    private static let members: Set<String> = [
        "Protocol", "Type", "entity", "hasChanges", "hasPersistentChangedValues", "hashValue",
        "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext", "objectID",
        "self",
    ]

    private static let keywords: Set<String> = [
        "Any", "Self", "actor", "as", "associatedtype", "async", "await", "break", "case", "catch",
        "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension",
        "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
        "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol",
        "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}

extension AttributeType {
    /// The type of a property; nil for coded values, whose type a model does not name.
    var swiftName: String? {
        switch self {
        case .bool: "Bool"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int64"
        case .float: "Float"
        case .double: "Double"
        case .decimal: "Decimal"
        case .string: "String"
        case .data: "Data"
        case .date: "Date"
        case .uuid: "UUID"
        case .url: "URL"
        case .codable: nil
        }
    }

    /// A value for a mandatory property without a default value.
    var emptyLiteral: String {
        switch self {
        case .bool: "false"
        case .int16, .int32, .int64, .float, .double, .decimal: "0"
        case .string: "\"\""
        case .data: "Data()"
        case .date: "Date(timeIntervalSinceReferenceDate: 0)"
        case .uuid: "UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))"
        // A mandatory URL without a default value is optional, and coded values have no type.
        case .url, .codable: "nil"
        }
    }

    /// A value of the type as a literal in source code, for a property that is optional or not.
    func literal(_ value: Value, isOptional: Bool) -> String {
        switch value {
        case .bool(let truth): "\(truth)"
        case .int(let number): "\(number)"
        case .double(let number):
            if let literal = number.nonFiniteLiteral(of: self == .float ? "Float" : "Double") {
                literal
            } else {
                self == .float ? "\(Float(number))" : "\(number)"
            }
        case .decimal(let number): number.literal + (isOptional || number.isWhole ? "" : " ?? 0")
        case .string(let text):
            self == .url
                ? "URL(string: \(SwiftNames.literal(text)))"
                    + (isOptional ? "" : " ?? URL(filePath: \"/\")")
                : SwiftNames.literal(text)
        case .data(let data):
            "Data(base64Encoded: \"\(data.base64EncodedString())\")"
                + (isOptional ? "" : " ?? Data()")
        case .date(let date):
            "Date(timeIntervalSinceReferenceDate: \(date.timeIntervalSinceReferenceDate))"
        case .uuid(let identifier):
            "UUID(uuid: (\(identifier.byteLiterals.joined(separator: ", "))))"
        // No default value is large.
        case .null, .object, .large: "nil"
        }
    }
}

extension Double {
    fileprivate func nonFiniteLiteral(of type: String) -> String? {
        if isFinite { return nil }
        return isNaN ? "\(type).nan" : "\(self < 0 ? "-" : "")\(type).infinity"
    }
}

extension Decimal {
    /// Whether a literal of digits is the number. One with a fraction would go through a binary number.
    fileprivate var isWhole: Bool { isNaN || Int64(plainText) != nil }

    fileprivate var literal: String {
        if isNaN { return "Decimal.nan" }
        return isWhole ? plainText : "Decimal(string: \"\(plainText)\")"
    }
}

extension UUID {
    /// Its sixteen bytes, because reading it from text gives an optional.
    fileprivate var byteLiterals: [String] {
        var digits = uuidString.filter(\.isHexDigit)[...]
        var literals: [String] = []
        while !digits.isEmpty {
            literals.append("0x\(digits.prefix(2))")
            digits = digits.dropFirst(2)
        }
        return literals
    }
}
