import Foundation

/// Writes keyed archives as Core Data's compiler does, from the documented layout of binary property
/// lists, independently of the reader.
struct ArchiveWriter {
    /// A member of an object in the archive.
    enum Member {
        case object(Int)
        case integer(Int64)
        case truth(Bool)
        case number(Double)
        case data(Data)
        case objects([Int])
    }

    /// One object of the property list.
    enum Part {
        case truth(Bool)
        case integer(Int64)
        case number(Double)
        case text(String)
        case data(Data)
        case reference(Int)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
    }

    /// The objects of the property list; tests may change them.
    var parts: [Part] = []
    /// The objects of the archive, as numbers of those.
    var objects: [Int] = []
    private var classes: [String: Int] = [:]

    init() {
        objects.append(part(.text("$null")))
    }

    mutating func part(_ part: Part) -> Int {
        parts.append(part)
        return parts.count - 1
    }

    /// Adds a text and gives back its number in the archive.
    mutating func text(_ text: String) -> Int {
        objects.append(part(.text(text)))
        return objects.count - 1
    }

    /// Adds a number by itself, as that of a default value.
    mutating func value(_ value: Part) -> Int {
        objects.append(part(value))
        return objects.count - 1
    }

    /// Room for an object that others refer to before it is known.
    mutating func room() -> Int {
        objects.append(0)
        return objects.count - 1
    }

    /// Adds an object, in room that was made for it if there is any.
    @discardableResult
    mutating func object(
        _ className: String, _ members: [(String, Member)], at place: Int? = nil
    ) -> Int {
        var pairs: [(key: Int, value: Int)] = []
        for (name, member) in members {
            let value: Int =
                switch member {
                case .object(let number): part(.reference(number))
                case .integer(let number): part(.integer(number))
                case .truth(let truth): part(.truth(truth))
                case .number(let number): part(.number(number))
                case .data(let data): part(.data(data))
                case .objects(let numbers): part(.array(numbers.map { part(.reference($0)) }))
                }
            pairs.append((part(.text(name)), value))
        }
        let classNumber: Int
        if let known = classes[className] {
            classNumber = known
        } else {
            let name = part(.text(className))
            objects.append(part(.dictionary([(part(.text("$classname")), name)])))
            classNumber = objects.count - 1
            classes[className] = classNumber
        }
        pairs.append((part(.text("$class")), part(.reference(classNumber))))
        let number = part(.dictionary(pairs))
        if let place {
            objects[place] = number
            return place
        }
        objects.append(number)
        return objects.count - 1
    }

    mutating func dictionary(_ pairs: [(String, Int)]) -> Int {
        let keys = pairs.map { text($0.0) }
        return object(
            "NSDictionary", [("NS.keys", .objects(keys)), ("NS.objects", .objects(pairs.map(\.1)))])
    }

    mutating func array(_ numbers: [Int]) -> Int {
        object("NSArray", [("NS.objects", .objects(numbers))])
    }

    /// The file.
    mutating func archive(root: Int) -> Data {
        let reference = part(.reference(root))
        let top = part(.dictionary([(part(.text("root")), reference)]))
        let list = part(.array(objects))
        let outermost = part(
            .dictionary([
                (part(.text("$version")), part(.integer(100_000))),
                (part(.text("$archiver")), part(.text("NSKeyedArchiver"))),
                (part(.text("$top")), top), (part(.text("$objects")), list),
            ]))
        return file(top: outermost)
    }

    // MARK: - Bytes

    private func file(top: Int) -> Data {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for part in parts {
            offsets.append(bytes.count)
            bytes += Self.bytes(of: part)
        }
        let table = bytes.count
        for offset in offsets { bytes += Self.bigEndian(UInt64(offset), 4) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 4]
        bytes += Self.bigEndian(UInt64(parts.count), 8)
        bytes += Self.bigEndian(UInt64(top), 8)
        bytes += Self.bigEndian(UInt64(table), 8)
        return Data(bytes)
    }

    private static func bytes(of part: Part) -> [UInt8] {
        switch part {
        case .truth(let truth): return [truth ? 0x09 : 0x08]
        case .integer(let number): return [0x13] + bigEndian(UInt64(bitPattern: number), 8)
        case .number(let number): return [0x23] + bigEndian(number.bitPattern, 8)
        case .reference(let number): return [0x83] + bigEndian(UInt64(number), 4)
        case .data(let data): return head(0x40, data.count) + data
        case .text(let text):
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                return head(0x50, text.utf8.count) + text.utf8
            }
            let units = Array(text.utf16)
            return head(0x60, units.count) + units.flatMap { bigEndian(UInt64($0), 2) }
        case .array(let numbers):
            return head(0xA0, numbers.count) + numbers.flatMap { bigEndian(UInt64($0), 4) }
        case .dictionary(let pairs):
            return head(0xD0, pairs.count) + pairs.flatMap { bigEndian(UInt64($0.key), 4) }
                + pairs.flatMap { bigEndian(UInt64($0.value), 4) }
        }
    }

    private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0xF, 0x12] + bigEndian(UInt64(count), 4)
    }

    private static func bigEndian(_ number: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}
