internal import DaybookObjectModel
internal import DaybookSQLite
internal import Foundation

/// Turns the values of a Core Data store's columns into those of attributes.
struct CoreDataValue {
    /// Why a value does not fit.
    struct Misfit: Error {
        /// The rest of a sentence that begins with the name of the column.
        let objection: String
    }

    /// The folder with the values that are kept in files.
    let externalFolder: String

    /// - Throws: ``Misfit``.
    func value(
        _ raw: SQLiteValue, of property: SchemaProperty, isExternal: Bool
    ) throws(Misfit) -> Value {
        guard let attribute = property.attribute else { return .null }
        let value = try value(raw, attribute.type, isExternal: isExternal)
            .normalized(for: attribute.type)
        if let misfit = property.misfit(of: value) { throw Misfit(objection: misfit.objection) }
        return value
    }

    private func value(
        _ raw: SQLiteValue, _ type: AttributeType, isExternal: Bool
    ) throws(Misfit) -> Value {
        switch (type, raw) {
        case (_, .null): return .null
        case (.bool, .integer(let number)) where number == 0 || number == 1:
            return .bool(number == 1)
        case (.int16, .integer(let number)), (.int32, .integer(let number)),
            (.int64, .integer(let number)):
            return .int(number)
        case (.float, .real(let number)):
            let single = Float(number)
            guard single.isFinite || !number.isFinite else {
                throw Misfit(
                    objection: "holds numbers of single precision, and this one is too large")
            }
            return .double(Double(single))
        case (.float, .integer(let number)): return .double(Double(Float(number)))
        case (.double, .real(let number)): return .double(number)
        case (.double, .integer(let number)): return .double(Double(number))
        case (.decimal, _): return try decimal(raw)
        case (.string, .text(let text)), (.url, .text(let text)): return .string(text)
        case (.date, .real(let seconds)):
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.date, .integer(let seconds)):
            return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case (.uuid, .blob(let bytes)) where bytes.count == 16: return .uuid(Self.uuid(bytes))
        case (.data, .blob(let bytes)), (.codable, .blob(let bytes)):
            return .data(Data(try data(bytes, isExternal: isExternal)))
        default: throw Misfit(objection: "holds \(type.noun), which is not what the row has")
        }
    }

    /// A decimal is stored as an integer, a fraction or text, depending on its digits.
    private func decimal(_ raw: SQLiteValue) throws(Misfit) -> Value {
        let text: String? =
            switch raw {
            case .integer(let number): String(number)
            case .real(let number): number.isFinite ? number.description : nil
            case .text(let text): text
            default: nil
            }
        guard let text, let decimal = Decimal(exactly: text) else {
            throw Misfit(objection: "holds a decimal number, which is not what the row has")
        }
        return .decimal(decimal)
    }

    private static func uuid(_ b: [UInt8]) -> UUID {
        UUID(
            uuid: (
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                b[13], b[14], b[15]
            ))
    }

    // MARK: - Data

    private func data(_ bytes: [UInt8], isExternal: Bool) throws(Misfit) -> [UInt8] {
        let name = Self.fileName(bytes)
        guard isExternal else {
            if let name, FileManager.default.fileExists(atPath: path(name)) {
                throw Misfit(objection: "is kept in files: name it with '--external'")
            }
            return bytes
        }
        switch bytes.first {
        case 1: return Array(bytes.dropFirst())
        case 2:
            guard let name else {
                throw Misfit(objection: "does not name a file as Core Data does")
            }
            guard let data = FileManager.default.contents(atPath: path(name)) else {
                throw Misfit(
                    objection: "is kept in the file '\(path(name))', which cannot be read")
            }
            return Array(data)
        case nil: return []
        default:
            throw Misfit(
                objection: "does not begin as the values of an attribute that allows external "
                    + "storage; leave out its '--external'")
        }
    }

    private func path(_ name: String) -> String {
        externalFolder + "/" + name
    }

    /// The UUID after a byte 2, perhaps with a zero after it: the name of a file.
    private static func fileName(_ bytes: [UInt8]) -> String? {
        var name = bytes.dropFirst()
        if name.last == 0 { name.removeLast() }
        guard bytes.first == 2, name.count == 36 else { return nil }
        return UUID(uuidString: String(decoding: name, as: UTF8.self)).map { _ in
            String(decoding: name, as: UTF8.self)
        }
    }
}
