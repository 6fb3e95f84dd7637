internal import DaybookSQLite
internal import Foundation

/// The SQLite file of a Core Data store, read in one state, and never written.
///
/// Apple does not document the layout. The article "Moving from Core Data" lists what is relied on,
/// and that is checked.
final class CoreDataFile {
    /// An entity as the file numbers it.
    struct NumberedEntity {
        let number: Int64
        /// The number of the entity that it inherits from; 0 for none.
        let parent: Int64
    }

    let path: String
    /// The entities by name; those of Core Data itself are left out.
    let entities: [String: NumberedEntity]
    /// The columns of each table.
    let columns: [String: [String]]
    private let connection: Connection
    private let stamp: [String]

    /// The entities from this number on belong to the history and to other parts of Core Data.
    private static let ownNumberMinimum: Int64 = 16_000

    /// Whether the file keeps a history of transactions.
    var hasHistory: Bool { columns["ACHANGE"] != nil && columns["ATRANSACTION"] != nil }

    /// Opens a store and begins to read one state of it.
    ///
    /// - Throws: ``CoreDataError`` when the file is not one, or cannot be read.
    init(_ path: String) throws {
        self.path = path
        guard FileManager.default.fileExists(atPath: path) else {
            throw CoreDataError("There is no file '\(path)'.")
        }
        stamp = Self.stamp(of: path)
        let hasLog = ["-wal", "-journal"].contains { Self.size(of: path + $0) > 0 }
        do {
            connection = try Connection(reading: path, beside: hasLog ? .others : .nobody)
            try connection.run("BEGIN")
            columns = try Self.columns(connection)
            entities = columns["Z_PRIMARYKEY"] == nil ? [:] : try Self.entities(connection)
        } catch let error as SQLiteError {
            let remedy =
                hasLog
                ? " If its folder cannot be written, copy the file, and those beside it with '-wal' or "
                    + "'-journal' behind its name, elsewhere." : ""
            throw CoreDataError("'\(path)' cannot be read: \(error).\(remedy)")
        }
        guard columns["Z_PRIMARYKEY"] != nil, columns["Z_METADATA"] != nil else {
            throw CoreDataError(
                "'\(path)' is not a Core Data store: it has no tables Z_PRIMARYKEY and Z_METADATA.")
        }
    }

    /// Ends the reading.
    ///
    /// - Throws: ``CoreDataError`` when the file was written to meanwhile.
    func finish() throws {
        try connection.close()
        guard Self.stamp(of: path) == stamp else {
            throw CoreDataError(
                "'\(path)' was written to while it was read. Quit the program that uses it, or "
                    + "import a copy.")
        }
    }

    // MARK: - Asking

    /// Passes the rows of a query to `body`.
    func rows(_ question: String, body: ([SQLiteValue]) throws -> Void) throws {
        do {
            try connection.statement(question).forEachRow(body: body)
        } catch let error as SQLiteError {
            throw CoreDataError("'\(path)' cannot be read: \(error).")
        }
    }

    /// The folder with the values that are kept in files.
    var externalFolder: String {
        let url = URL(fileURLWithPath: path)
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent()
            .appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA").path
    }

    // MARK: - Details

    private static func columns(_ connection: Connection) throws -> [String: [String]] {
        var columns: [String: [String]] = [:]
        let question = """
            SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p
            WHERE m.type = 'table'
            """
        try connection.statement(question).forEachRow { row in
            guard case .text(let table) = row[0], case .text(let column) = row[1] else { return }
            columns[table, default: []].append(column)
        }
        return columns
    }

    private static func entities(_ connection: Connection) throws -> [String: NumberedEntity] {
        var entities: [String: NumberedEntity] = [:]
        try connection.statement("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY").forEachRow {
            guard case .integer(let number) = $0[0], case .text(let name) = $0[1],
                number > 0, number < ownNumberMinimum
            else { return }
            var parent: Int64 = 0
            if case .integer(let above) = $0[2] { parent = above }
            entities[name] = NumberedEntity(number: number, parent: parent)
        }
        return entities
    }

    /// Sizes and times of the file and its log.
    private static func stamp(of path: String) -> [String] {
        [path, path + "-wal"].map { path in
            do {
                let values = try FileManager.default.attributesOfItem(atPath: path)
                return "\(values[.size] ?? "") \(values[.modificationDate] ?? "")"
            } catch {
                return "none"
            }
        }
    }

    private static func size(of path: String) -> Int {
        do {
            return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        } catch {
            return 0
        }
    }
}
