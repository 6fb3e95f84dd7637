import DaybookObjectModel
import Foundation

/// A binary property list whose objects are looked up by number.
///
/// Foundation reads such files, too, but on Linux it returns the references of a keyed archive as
/// objects without a public value. Here references are followed only on demand, so a file with
/// circular references costs nothing; and all reads together have a limit, so a file that names a
/// large object a thousand times is refused.
///
/// The layout: eight bytes `bplist00`, the objects, a table of their offsets, and 32 bytes that say how
/// wide offsets and numbers are, how many objects there are, which is the outermost, and where the
/// table is.
struct BinaryPropertyList {
    /// One object; members of containers are numbers of others.
    enum Object {
        case null
        case value(Value)
        /// A reference of a keyed archive.
        case reference(Int)
        case list([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    /// The first bytes of a file.
    static let mark = Array("bplist00".utf8)

    private static let trailerLength = 32
    /// Seconds from the beginning of 2001 that are no date but a mistake.
    private static let dateMaximum = 1e12

    /// The work that is left. A reader has only one copy of the list.
    private final class Budget {
        var rest = 20_000_000
    }

    private let budget = Budget()
    private let bytes: [UInt8]
    private let offsets: [Int]
    private let numberWidth: Int
    /// The number of the outermost object.
    let top: Int

    /// Reads the table of a file.
    ///
    /// - Throws: ``ModelFileError`` when it is not one.
    init(_ data: Data) throws(ModelFileError) {
        let bytes = Array(data)
        guard bytes.starts(with: Self.mark), bytes.count > Self.mark.count + Self.trailerLength
        else {
            throw ModelFileError("It is not a binary property list.")
        }
        let trailer = bytes.count - Self.trailerLength
        let offsetWidth = Int(bytes[trailer + 6])
        let numberWidth = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetWidth), (1...8).contains(numberWidth),
            let count = Self.integer(bytes, trailer + 8, 8),
            let top = Self.integer(bytes, trailer + 16, 8),
            let table = Self.integer(bytes, trailer + 24, 8),
            table >= Self.mark.count, table < trailer, count <= (trailer - table) / offsetWidth,
            top < count
        else {
            throw ModelFileError("It is a damaged property list: its table does not fit the file.")
        }
        var offsets: [Int] = []
        offsets.reserveCapacity(count)
        for number in 0..<count {
            guard let offset = Self.integer(bytes, table + number * offsetWidth, offsetWidth),
                offset >= Self.mark.count, offset < table
            else {
                throw ModelFileError(
                    "It is a damaged property list: object \(number) is not in it.")
            }
            offsets.append(offset)
        }
        self.bytes = bytes
        self.offsets = offsets
        self.numberWidth = numberWidth
        self.top = top
    }

    /// One object.
    ///
    /// - Throws: ``ModelFileError`` when it is damaged.
    func object(_ number: Int) throws(ModelFileError) -> Object {
        guard offsets.indices.contains(number), let object = decode(at: offsets[number]) else {
            throw ModelFileError("It is a damaged property list: object \(number) cannot be read.")
        }
        budget.rest -= object.cost
        guard budget.rest > 0 else {
            throw ModelFileError(
                "It names the same objects over and over, as no model does.")
        }
        return object
    }

    // MARK: - Decoding

    private func decode(at offset: Int) -> Object? {
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        let start = offset + 1
        switch marker >> 4 {
        case 0x0: return simple(low)
        case 0x1: return integerValue(start, 1 << low).map { .value(.int($0)) }
        case 0x2: return real(start, 1 << low).map { .value(.double($0)) }
        case 0x3: return date(start)
        case 0x8: return Self.integer(bytes, start, low + 1).map { .reference($0) }
        default: break
        }
        guard let (count, start) = count(low, start) else { return nil }
        switch marker >> 4 {
        case 0x4: return slice(start, count).map { .value(.data(Data($0))) }
        case 0x5:
            return slice(start, count).map { .value(.string(String(decoding: $0, as: UTF8.self))) }
        case 0x6: return wideText(start, count).map { .value(.string($0)) }
        case 0xA, 0xC: return numbers(start, count).map { .list($0) }
        case 0xD:
            guard let keys = numbers(start, count),
                let values = numbers(start + count * numberWidth, count)
            else { return nil }
            return .dictionary(keys: keys, values: values)
        default: return nil
        }
    }

    private func simple(_ low: Int) -> Object? {
        switch low {
        case 0x0: .null
        case 0x8: .value(.bool(false))
        case 0x9: .value(.bool(true))
        default: nil
        }
    }

    private func integerValue(_ start: Int, _ width: Int) -> Int64? {
        guard width <= 16, let digits = slice(start, width) else { return nil }
        // Only eight bytes and more have a sign; of sixteen the upper eight only repeat it.
        let bits = digits.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return width < 8 ? Int64(exactly: bits) : Int64(bitPattern: bits)
    }

    private func real(_ start: Int, _ width: Int) -> Double? {
        guard width == 4 || width == 8, let digits = slice(start, width) else { return nil }
        let bits = digits.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return width == 4
            ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
    }

    private func date(_ start: Int) -> Object? {
        guard let seconds = real(start, 8), abs(seconds) < Self.dateMaximum else { return nil }
        return .value(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    }

    /// How many parts an object has: in its marker, or as an integer behind it.
    private func count(_ low: Int, _ start: Int) -> (Int, start: Int)? {
        guard low == 0xF else { return (low, start) }
        guard start < bytes.count, bytes[start] >> 4 == 0x1 else { return nil }
        let width = 1 << Int(bytes[start] & 0x0F)
        guard width <= 8, let count = Self.integer(bytes, start + 1, width) else { return nil }
        return (count, start + 1 + width)
    }

    private func wideText(_ start: Int, _ count: Int) -> String? {
        guard count <= bytes.count / 2, let pairs = slice(start, count * 2) else { return nil }
        let units = stride(from: pairs.startIndex, to: pairs.endIndex, by: 2).map {
            UInt16(pairs[$0]) << 8 | UInt16(pairs[$0 + 1])
        }
        return String(decoding: units, as: UTF16.self)
    }

    private func numbers(_ start: Int, _ count: Int) -> [Int]? {
        guard count <= bytes.count / numberWidth, slice(start, count * numberWidth) != nil else {
            return nil
        }
        var numbers: [Int] = []
        for index in 0..<count {
            guard let number = Self.integer(bytes, start + index * numberWidth, numberWidth) else {
                return nil
            }
            numbers.append(number)
        }
        return numbers
    }

    private func slice(_ start: Int, _ count: Int) -> ArraySlice<UInt8>? {
        count >= 0 && start <= bytes.count && count <= bytes.count - start
            ? bytes[start..<start + count] : nil
    }

    private static func integer(_ bytes: [UInt8], _ start: Int, _ width: Int) -> Int? {
        guard start >= 0, width >= 0, width <= 8, start <= bytes.count, width <= bytes.count - start
        else {
            return nil
        }
        return Int(exactly: bytes[start..<start + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

extension BinaryPropertyList.Object {
    /// The work of reading it.
    fileprivate var cost: Int {
        switch self {
        case .null, .reference: 1
        case .value(.string(let text)): 1 + text.utf8.count / 16
        case .value(.data(let data)): 1 + data.count / 16
        case .value: 1
        case .list(let numbers): 1 + numbers.count
        case .dictionary(let keys, _): 1 + 2 * keys.count
        }
    }
}
