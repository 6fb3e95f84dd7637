import DaybookObjectModel
import Foundation

/// The names of columns, and where each is.
struct ColumnNames: Sendable {
    let names: [String]
    private let places: [String: Int]

    /// - Throws: ``QueryError`` when two columns have the same name.
    init(_ names: [String]) throws(QueryError) {
        self.names = names
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() {
            guard places.updateValue(place, forKey: name) == nil else {
                throw QueryError(
                    "Two columns are named '\(name)', so a row cannot be read by names. Give one of them "
                        + "another name with 'named', or leave it out.")
            }
        }
        self.places = places
    }

    /// The place of a column; nil when there is none of that name.
    subscript(name: String) -> Int? { places[name] }
}

/// Reads a row of a selection as a type.
struct RowDecoder: Decoder {
    let columns: ColumnNames
    let values: [SelectedValue]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ columns: ColumnNames, _ values: [SelectedValue]) {
        (self.columns, self.values) = (columns, values)
    }

    /// The row as a type: one of values, if there is one column, or one with properties.
    func read<Row: Decodable>(as type: Row.Type) throws -> Row {
        let isOfValues = type is any Numeric.Type || type is any SelectableValue.Type
        // A dictionary has the columns by their names, also of one.
        guard isOfValues, values.count == 1, !(type is any ExpressibleByDictionaryLiteral.Type)
        else { return try Row(from: self) }
        return try CellDecoder(columns.names[0], values[0], []).decode(type)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer(row: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.typeMismatch(
            [Value].self,
            DecodingError.Context(
                codingPath: [],
                debugDescription:
                    "a row has columns by their names, and no order. Read it as a type with properties."
            ))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        guard values.count == 1 else {
            throw DecodingError.typeMismatch(
                Value.self,
                DecodingError.Context(
                    codingPath: [],
                    debugDescription:
                        "a row has \(values.count) columns, and the type reads one value. Select one "
                        + "column, or read the row as a type with properties."))
        }
        return CellDecoder(columns.names[0], values[0], [])
    }

    /// The column that a key names.
    ///
    /// - Throws: `DecodingError` when there is none.
    func cell(_ key: some CodingKey) throws -> CellDecoder {
        let name = key.stringValue
        guard let place = columns[name] else {
            let names = columns.names.map { "'\($0)'" }.joined(separator: ", ")
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "there is no column '\(name)'; there are \(names)."))
        }
        return CellDecoder(name, values[place], [key])
    }
}

/// Reads a column of a row as a type.
struct CellDecoder: Decoder, SingleValueDecodingContainer {
    private let name: String
    private let cell: SelectedValue
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ name: String, _ cell: SelectedValue, _ codingPath: [any CodingKey]) {
        (self.name, self.cell, self.codingPath) = (name, cell, codingPath)
    }

    func decodeNil() -> Bool { cell.value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // An optional asks itself whether there is a value.
        if type is any Unwrappable.Type { return try T(from: self) }
        guard !cell.value.isNull else {
            throw DecodingError.valueNotFound(
                type,
                context(
                    "column '\(name)' is null, which '\(type)' is not. Read it as '\(type)?'."))
        }
        if let type = type as? any Numeric.Type, Self.isPlain(type) {
            guard let number = try number(as: type) as? T else {
                throw misfit(T.self, "column '\(name)' cannot be read as '\(T.self)'.")
            }
            return number
        }
        guard let type = type as? any SelectableValue.Type else { return try T(from: self) }
        guard let value = type.init(selected: cell) as? T else {
            throw misfit(
                T.self, "column '\(name)' has \(cell.value.kind), which '\(T.self)' does not read.")
        }
        return value
    }

    /// Whether numbers of a type are read as what they are, and not by a form in which a program keeps its own type.
    private static func isPlain(_ type: any Numeric.Type) -> Bool {
        !(type is any SelectableValue.Type) || type is any FixedWidthInteger.Type
            || type == Double.self || type == Float.self || type == Decimal.self
    }

    /// The number as one of a type, if it is exactly that.
    private func number(as type: any Numeric.Type) throws -> (any Numeric)? {
        switch cell.value {
        case .int(let number):
            if type == Decimal.self { return Decimal(number) }
            guard let exact = type.exactly(number) else { throw tooGreat(type) }
            return exact
        case .double(let number) where type == Double.self: return number
        case .double(let number) where type == Float.self:
            guard let exact = Float(exactly: number) ?? (number.isNaN ? .nan : nil) else {
                throw tooGreat(type)
            }
            return exact
        case .decimal(let number) where type == Decimal.self: return number
        default:
            throw misfit(
                type, "column '\(name)' has \(cell.value.kind), which '\(type)' does not read.")
        }
    }

    private func tooGreat(_ type: Any.Type) -> DecodingError {
        misfit(
            type,
            "column '\(name)' has a number that '\(type)' cannot hold exactly. Read it as a type with "
                + "more digits.")
    }

    private func misfit(_ type: Any.Type, _ sentence: String) -> DecodingError {
        .typeMismatch(type, context(sentence))
    }

    private func context(_ sentence: String) -> DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: sentence)
    }

    // MARK: - As a decoder of the value

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw isOneValue(type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw isOneValue([Value].self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func isOneValue(_ type: Any.Type) -> DecodingError {
        misfit(
            type,
            "column '\(name)' has one value. A type that is kept as one conforms to "
                + "'CodableAttributeValue'.")
    }
}

extension Numeric {
    fileprivate static func exactly(_ number: Int64) -> (any Numeric)? { Self(exactly: number) }
}

extension Value {
    /// What a value is, in words.
    fileprivate var kind: String {
        switch self {
        case .null: "no value"
        case .bool: "true or false"
        case .int: "a whole number"
        case .double: "a binary number"
        case .decimal: "a decimal number"
        case .string: "a text"
        case .data, .large: "data"
        case .date: "a date"
        case .uuid: "a UUID"
        case .object: "an object"
        }
    }
}
