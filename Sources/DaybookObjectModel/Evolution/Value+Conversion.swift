import Foundation

extension Value {
    /// This value converted to another type; null when no value of that type means the same.
    ///
    /// Numbers are converted only without loss. Text is parsed, and other values are written as
    /// text, in the form of model files.
    package func converted(to type: AttributeType) -> Value {
        if isNull || type.misfit(of: self) == nil { return self }
        switch (type.storage, self) {
        case (.text, _):
            return text(for: type)
        case (.integer, .bool(let truth)):
            return .int(truth ? 1 : 0)
        case (.integer, .double(let number)):
            return Int64(exactly: number).map { fitting(.int($0), type) } ?? .null
        case (.integer, .decimal(let number)):
            return Int64("\(number)").map { fitting(.int($0), type) } ?? .null
        case (.double, .int(let number)):
            return Double(exactly: number).map { fitting(.double($0), type) } ?? .null
        case (.double, .decimal(let number)):
            // Foundation's conversion does not give the nearest number.
            guard let double = Double("\(number)"), Decimal(string: "\(double)") == number else {
                return .null
            }
            return fitting(.double(double), type)
        case (.decimal, .int(let number)):
            return .decimal(Decimal(number))
        case (.decimal, .double(let number)):
            guard number.isFinite, let decimal = Decimal(string: "\(number)") else { return .null }
            return .decimal(decimal)
        case (.bool, .int(let number)):
            return number == 0 ? .bool(false) : number == 1 ? .bool(true) : .null
        case (.data, .string(let text)):
            return type == .data ? fitting(.data(Data(text.utf8)), type) : .null
        case (_, .string(let text)):
            return parsed(text, as: type)
        default:
            return .null
        }
    }

    private func fitting(_ value: Value, _ type: AttributeType) -> Value {
        type.misfit(of: value) == nil ? value.normalized : .null
    }

    private func text(for type: AttributeType) -> Value {
        switch self {
        case .string(let text): fitting(.string(text), type)
        case .data(let data):
            String(validating: data, as: UTF8.self).map { fitting(.string($0), type) } ?? .null
        case .object, .large: .null
        default: fitting(.string(plainText), type)
        }
    }

    /// The value as written in model files and exports, without quotation marks.
    private var plainText: String {
        let source: AttributeType =
            switch self {
            case .bool: .bool
            case .int: .int64
            case .double: .double
            case .decimal: .decimal
            case .date: .date
            case .uuid: .uuid
            default: .string
            }
        return switch JSONValue(self, for: source) {
        case .string(let text), .number(let text): text
        case .bool(let truth): truth ? "true" : "false"
        default: ""
        }
    }

    private func parsed(_ text: String, as type: AttributeType) -> Value {
        let candidates: [JSONValue] =
            switch type.storage {
            case .bool: [.bool(text == "true")].filter { _ in text == "true" || text == "false" }
            case .integer, .double, .decimal: [.number(text), .string(text)]
            default: [.string(text)]
            }
        for json in candidates {
            if let value = Value(json, as: type) { return fitting(value, type) }
        }
        return .null
    }
}
