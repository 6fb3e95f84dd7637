import DaybookObjectModel
import Foundation

/// A keyed archive: objects with classes and members, which refer to each other by number.
struct KeyedArchive {
    /// One object of the archive.
    struct Object {
        /// Its number, which tells it from others.
        let number: Int
        let className: String
        fileprivate let members: [String: Int]
    }

    private static let memberCountMaximum = 200_000

    private let list: BinaryPropertyList
    /// The objects of the property list that are the objects of the archive.
    private let objects: [Int]
    private let root: Int

    /// Opens an archive.
    ///
    /// - Throws: ``ModelFileError`` when it is not one.
    init(_ data: Data) throws(ModelFileError) {
        list = try BinaryPropertyList(data)
        let members = try Self.members(list.top, in: list)
        guard let top = members["$top"], let objects = members["$objects"],
            case .list(let numbers) = try list.object(objects),
            let root = try Self.members(top, in: list)["root"],
            case .reference(let number) = try list.object(root)
        else { throw ModelFileError("It is a property list, but not a keyed archive with a root.") }
        self.objects = numbers
        self.root = number
    }

    /// The outermost object.
    func rootObject() throws(ModelFileError) -> Object {
        guard let object = try object(root) else {
            throw ModelFileError("The root of the archive is not an object.")
        }
        return object
    }

    // MARK: - Members

    /// A member that is an object; nil when there is none.
    func object(_ name: String, of object: Object) throws(ModelFileError) -> Object? {
        guard let member = object.members[name] else { return nil }
        guard case .reference(let number) = try list.object(member) else {
            throw mistake(name, object, "an object")
        }
        return try self.object(number)
    }

    /// A member that is a value: text, a number, a truth value, a date, data, or an object for one
    /// of these.
    func value(_ name: String, of object: Object) throws(ModelFileError) -> Value {
        guard let member = object.members[name] else { return .null }
        switch try list.object(member) {
        case .value(let value): return value
        case .null: return .null
        case .reference(let number): return try value(number)
        case .list, .dictionary: throw mistake(name, object, "a value")
        }
    }

    /// A member that is text and not empty.
    func text(_ name: String, of object: Object) throws(ModelFileError) -> String? {
        switch try value(name, of: object) {
        case .string(let text): return text.isEmpty ? nil : text
        case .null: return nil
        default: throw mistake(name, object, "text")
        }
    }

    /// A member that is an integer; zero when it is left out.
    func integer(_ name: String, of object: Object) throws(ModelFileError) -> Int {
        switch try value(name, of: object) {
        case .int(let number): return Int(number)
        case .bool(let truth): return truth ? 1 : 0
        case .null: return 0
        default: throw mistake(name, object, "an integer")
        }
    }

    /// A member that is true or false; false when it is left out.
    func truth(_ name: String, of object: Object) throws(ModelFileError) -> Bool {
        try integer(name, of: object) != 0
    }

    /// The elements of a member that is an array or a set; none when it is left out.
    func elements(_ name: String, of object: Object) throws(ModelFileError) -> [Object] {
        guard let collection = try self.object(name, of: object) else { return [] }
        return try elements(of: collection)
    }

    /// The elements of an array or a set that are objects.
    func elements(of collection: Object) throws(ModelFileError) -> [Object] {
        var found: [Object] = []
        for number in try references("NS.objects", of: collection) {
            if let object = try object(number) { found.append(object) }
        }
        return found
    }

    /// The texts of an array or a set.
    func texts(of collection: Object) throws(ModelFileError) -> [String] {
        var found: [String] = []
        for number in try references("NS.objects", of: collection) {
            if case .string(let text) = try value(number) { found.append(text) }
        }
        return found
    }

    /// The objects of a member that is a dictionary, by their keys, in the order of these.
    func entries(
        _ name: String, of object: Object
    ) throws(ModelFileError) -> [(key: String, value: Object)] {
        guard let dictionary = try self.object(name, of: object) else { return [] }
        var found: [(key: String, value: Object)] = []
        for (key, number) in try pairs(of: dictionary) {
            guard let value = try self.object(number) else {
                throw mistake(name, object, "a dictionary of objects")
            }
            found.append((key, value))
        }
        return found.sorted { $0.key < $1.key }
    }

    /// The texts of a member that is a dictionary; values of other kinds are left out.
    func textEntries(_ name: String, of object: Object) throws(ModelFileError) -> [String: String] {
        guard let dictionary = try self.object(name, of: object) else { return [:] }
        var found: [String: String] = [:]
        for (key, number) in try pairs(of: dictionary) {
            if case .string(let text)? = try plainValue(number) { found[key] = text }
        }
        return found
    }

    // MARK: - Objects

    private func pairs(of dictionary: Object) throws(ModelFileError) -> [(String, Int)] {
        let keys = try references("NS.keys", of: dictionary)
        let values = try references("NS.objects", of: dictionary)
        guard keys.count == values.count else {
            throw ModelFileError(
                "Object \(dictionary.number) is a dictionary with \(keys.count) keys and "
                    + "\(values.count) values.")
        }
        var pairs: [(String, Int)] = []
        for (key, number) in zip(keys, values) {
            guard case .string(let text) = try value(key) else {
                throw ModelFileError(
                    "Object \(dictionary.number) is a dictionary with a key that is not text.")
            }
            pairs.append((text, number))
        }
        return pairs
    }

    private func references(_ name: String, of object: Object) throws(ModelFileError) -> [Int] {
        guard let member = object.members[name] else {
            throw mistake(name, object, "a list")
        }
        guard case .list(let numbers) = try list.object(member) else {
            throw mistake(name, object, "a list")
        }
        guard numbers.count <= Self.memberCountMaximum else {
            throw ModelFileError(
                "Object \(object.number) has more than \(Self.memberCountMaximum) elements.")
        }
        var references: [Int] = []
        for number in numbers {
            guard case .reference(let reference) = try list.object(number) else {
                throw mistake(name, object, "a list of objects")
            }
            references.append(reference)
        }
        return references
    }

    /// An object by its number; nil for the one that stands for none, and for a plain value.
    private func object(_ number: Int) throws(ModelFileError) -> Object? {
        guard objects.indices.contains(number) else {
            throw ModelFileError("The archive refers to object \(number), which it does not have.")
        }
        guard case .dictionary = try list.object(objects[number]) else { return nil }
        let members = try Self.members(objects[number], in: list)
        guard let member = members["$class"], case .reference(let place) = try list.object(member),
            objects.indices.contains(place),
            let name = try Self.members(objects[place], in: list)["$classname"],
            case .value(.string(let className)) = try list.object(name)
        else { throw ModelFileError("Object \(number) of the archive has no class.") }
        return Object(number: number, className: className, members: members)
    }

    /// The value of an object of the archive.
    private func value(_ number: Int) throws(ModelFileError) -> Value {
        if let value = try plainValue(number) { return value }
        throw ModelFileError("Object \(number) of the archive is not a value.")
    }

    private func plainValue(_ number: Int) throws(ModelFileError) -> Value? {
        guard objects.indices.contains(number) else {
            throw ModelFileError("The archive refers to object \(number), which it does not have.")
        }
        switch try list.object(objects[number]) {
        case .value(.string("$null")) where number == 0: return .null
        case .value(let value): return value
        case .null: return .null
        case .reference, .list: return nil
        case .dictionary: break
        }
        guard let object = try object(number) else { return nil }
        switch object.className {
        case "NSString", "NSMutableString": return try member("NS.string", of: object)
        case "NSData", "NSMutableData": return try member("NS.data", of: object)
        case "NSDate":
            guard case .double(let seconds) = try member("NS.time", of: object), seconds.isFinite
            else { return nil }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case "NSUUID":
            guard case .data(let data) = try member("NS.uuidbytes", of: object) else { return nil }
            return UUID(bytes: data).map { .uuid($0) }
        case "NSURL":
            guard let text = object.members["NS.relative"],
                case .reference(let place) = try list.object(text), objects.indices.contains(place),
                case .value(let value) = try list.object(objects[place])
            else { return nil }
            return value
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return try decimal(object)
        default: return nil
        }
    }

    /// A member that is stored in the object itself, not as a reference.
    private func member(_ name: String, of object: Object) throws(ModelFileError) -> Value? {
        guard let member = object.members[name], case .value(let value) = try list.object(member)
        else { return nil }
        return value
    }

    /// A decimal number: an exponent, a sign, and a mantissa as 16-bit digits, in an order of bytes that
    /// the archive names.
    private func decimal(_ object: Object) throws(ModelFileError) -> Value? {
        guard case .data(let mantissa)? = try member("NS.mantissa", of: object),
            mantissa.count == 16, case .int(let exponent)? = try member("NS.exponent", of: object),
            (-128...127).contains(exponent)
        else { return nil }
        // 1 is little-endian, 2 is big-endian, as in CFByteOrder.
        let isLittle = try integer("NS.mantissa.bo", of: object) != 2
        let length = try integer("NS.length", of: object)
        let isNegative = try truth("NS.negative", of: object)
        guard (0...8).contains(length) else { return nil }
        let bytes = Array(mantissa)
        var number = UInt128(0)
        for place in (0..<length).reversed() {
            let (first, second) = (UInt128(bytes[2 * place]), UInt128(bytes[2 * place + 1]))
            number = number << 16 | (isLittle ? second << 8 | first : first << 8 | second)
        }
        if length == 0, isNegative { return .decimal(.nan) }
        return Decimal(exactly: "\(isNegative ? "-" : "")\(number)e\(exponent)").map {
            .decimal($0)
        }
    }

    private func mistake(_ name: String, _ object: Object, _ expected: String) -> ModelFileError {
        ModelFileError(
            "'\(name)' of object \(object.number), of the class '\(object.className)', is not \(expected)."
        )
    }

    private static func members(
        _ number: Int, in list: BinaryPropertyList
    ) throws(ModelFileError) -> [String: Int] {
        guard case .dictionary(let keys, let values) = try list.object(number) else {
            throw ModelFileError("It is a property list, but not a keyed archive with a root.")
        }
        var members: [String: Int] = [:]
        for (key, value) in zip(keys, values) {
            guard case .value(.string(let name)) = try list.object(key) else {
                throw ModelFileError(
                    "Object \(number) of the property list has a key that is not text.")
            }
            members[name] = value
        }
        return members
    }
}

extension UUID {
    /// The identifier of sixteen bytes.
    fileprivate init?(bytes: Data) {
        guard bytes.count == 16 else { return nil }
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
        self.init(uuidString: groups.joined(separator: "-"))
    }
}
