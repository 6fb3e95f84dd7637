import CDaybookSQLite
import Foundation

/// SQLite with the same indexes and prepared statements; rows become structures of the columns that are
/// read. It keeps no history.
final class SQLiteShapes: Shaped {
    static let name = SQLiteContender.name

    private let sample: ShapeSample
    /// A folder for the parcels alone, whose file is closed between questions.
    private let parcelFolder: URL
    private var shapes: SQLiteFile?
    private var statements: [Shape: OpaquePointer] = [:]

    private struct Parcel {
        let number: Int
        let name: String
        let street: String
        let grams: Int
        let price: Double

        init(_ row: OpaquePointer) {
            number = Int(sqlite3_column_int64(row, 0))
            name = SQLiteFile.text(row, 1)
            street = SQLiteFile.text(row, 2)
            grams = Int(sqlite3_column_int64(row, 3))
            price = sqlite3_column_double(row, 4)
        }
    }

    /// A number and a text.
    private struct Pair {
        let number: Int
        let text: String

        init(_ row: OpaquePointer) {
            number = Int(sqlite3_column_int64(row, 0))
            text = SQLiteFile.text(row, 1)
        }
    }

    private struct Item {
        let number: Int
        let weight: Int
        let box: Int

        init(_ row: OpaquePointer) {
            number = Int(sqlite3_column_int64(row, 0))
            weight = Int(sqlite3_column_int64(row, 1))
            box = Int(sqlite3_column_int64(row, 2))
        }
    }

    init(in folder: URL, _ sample: ShapeSample) throws {
        self.sample = sample
        parcelFolder = folder.appendingPathComponent("sqlite-parcels", isDirectory: true)
        try FileManager.default.createDirectory(
            at: parcelFolder, withIntermediateDirectories: true)
        try fillParcels()
        let shapes = try SQLiteFile(
            folder.appendingPathComponent("shapes.sqlite"), flags: SQLITE_OPEN_CREATE)
        self.shapes = shapes
        try fillShapes(shapes)
        for shape in [Shape.wideRange, .wideScan, .longTexts, .members] {
            statements[shape] = try shapes.prepare(Self.text(of: shape))
        }
    }

    func answer(_ shape: Shape, turn: Int) throws -> (seconds: Double, answer: Int) {
        switch shape {
        case .cold:
            try PageCache.drop(parcelFolder)
            return try readParcels(sample.coldOrder[turn])
        case .firstFetch:
            return try repeated {
                try Self.fetchParcel(sample.coldOrder[turn][0], in: parcelFolder)
            }
        case .newProcess:
            return try FirstFetch.ask(Self.name, sample.coldOrder[turn][0], in: parcelFolder)
        case .wideRange, .wideScan, .longTexts, .members:
            guard let statement = statements[shape], let shapes else { return (.nan, 0) }
            var answer = 0
            let seconds = try Stopwatch.seconds {
                answer = try find(shape, turn, statement, shapes)
            }
            return (seconds, answer)
        }
    }

    func close() throws {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        shapes = nil
    }

    // MARK: - Questions

    private static func openParcels(_ folder: URL, flags: Int32 = 0) throws -> SQLiteFile {
        try SQLiteFile(folder.appendingPathComponent("parcels.sqlite"), flags: flags)
    }

    private func readParcels(_ order: [Int]) throws -> (seconds: Double, answer: Int) {
        let file = try Self.openParcels(parcelFolder)
        // Around what is read of a mapped file the system reads a lot more: in no cache, a read of a page
        // is several times as fast.
        try file.execute("PRAGMA mmap_size = 0")
        let statement = try file.prepare(
            "SELECT number, name, street, grams, price FROM parcel WHERE id = ?")
        defer { sqlite3_finalize(statement) }
        var sum = 0
        let seconds = try Stopwatch.seconds {
            for index in order {
                sqlite3_bind_int64(statement, 1, Int64(index + 1))
                sum += try file.rows(statement, Parcel.init).reduce(0) { $0 + $1.grams }
            }
        }
        return (seconds, sum)
    }

    static func fetchParcel(_ number: Int, in folder: URL) throws -> Int {
        let file = try openParcels(folder)
        let statement = try file.prepare(
            "SELECT number, name, street, grams, price FROM parcel WHERE number = ?")
        defer { sqlite3_finalize(statement) }
        sqlite3_bind_int64(statement, 1, Int64(number))
        return try file.rows(statement, Parcel.init).reduce(0) {
            $0 + $1.grams + $1.name.utf8.count
        }
    }

    private func find(
        _ shape: Shape, _ turn: Int, _ statement: OpaquePointer, _ file: SQLiteFile
    ) throws -> Int {
        switch shape {
        case .wideRange:
            let first = (turn * 1_013) % (sample.wides / 2)
            sqlite3_bind_int64(statement, 1, Int64(first))
            sqlite3_bind_int64(statement, 2, Int64(first + 1_000))
        case .wideScan:
            sqlite3_bind_int64(statement, 1, Int64(turn % 50))
            sqlite3_bind_double(statement, 2, Double(sample.wides) / 8)
        case .members:
            let first = sample.firstBox(turn)
            sqlite3_bind_int64(statement, 1, Int64(first))
            sqlite3_bind_int64(statement, 2, Int64(first + ShapeSample.boxesRead))
            return try file.rows(statement, Item.init).reduce(0) { $0 + $1.weight }
        case .longTexts, .cold, .firstFetch, .newProcess: break
        }
        return try file.rows(statement, Pair.init).reduce(0) {
            $0 + $1.number + $1.text.utf8.count
        }
    }

    private static func text(of shape: Shape) -> String {
        switch shape {
        case .wideRange: "SELECT count20, text15 FROM wide WHERE number >= ? AND number < ?"
        case .wideScan: "SELECT count20, text15 FROM wide WHERE count7 = ? AND value4 >= ?"
        case .longTexts: "SELECT number, body FROM article WHERE instr(body, 'amber')"
        case .members:
            """
            SELECT i.number, i.weight, i.box FROM box b JOIN item i ON i.box = b.id
            WHERE b.number >= ? AND b.number < ?
            """
        case .cold, .firstFetch, .newProcess: ""
        }
    }

    // MARK: - Filling

    private func fillParcels() throws {
        let file = try Self.openParcels(parcelFolder, flags: SQLITE_OPEN_CREATE)
        try file.execute(
            """
            CREATE TABLE parcel (id INTEGER PRIMARY KEY, number INTEGER NOT NULL,
                name TEXT NOT NULL, street TEXT NOT NULL, grams INTEGER NOT NULL,
                price REAL NOT NULL);
            BEGIN
            """)
        try file.insert("parcel", columns: 6, rows: sample.parcels) { statement, index in
            sqlite3_bind_int64(statement, 2, Int64(index))
            SQLiteFile.bind(sample.name(index), statement, 3)
            SQLiteFile.bind(sample.street(index), statement, 4)
            sqlite3_bind_int64(statement, 5, Int64(sample.grams(index)))
            sqlite3_bind_double(statement, 6, sample.price(index))
        }
        try file.execute("CREATE INDEX parcel_number ON parcel (number); COMMIT")
        try file.settle()
    }

    private func fillShapes(_ file: SQLiteFile) throws {
        let columns = ShapeSample.wideColumns.map { column in
            switch column.kind {
            case .count: "\(column.name) INTEGER NOT NULL"
            case .text: "\(column.name) TEXT NOT NULL"
            case .value: "\(column.name) REAL NOT NULL"
            }
        }
        try file.execute(
            """
            CREATE TABLE wide (id INTEGER PRIMARY KEY, number INTEGER NOT NULL,
                \(columns.joined(separator: ", ")));
            CREATE TABLE article (id INTEGER PRIMARY KEY, number INTEGER NOT NULL,
                body TEXT NOT NULL);
            CREATE TABLE box (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
            CREATE TABLE item (id INTEGER PRIMARY KEY, number INTEGER NOT NULL,
                weight INTEGER NOT NULL, box INTEGER REFERENCES box(id));
            BEGIN
            """)
        try fillWides(file)
        try file.insert("article", columns: 3, rows: sample.articles) { statement, index in
            sqlite3_bind_int64(statement, 2, Int64(index))
            SQLiteFile.bind(sample.body(index), statement, 3)
        }
        try file.insert("box", columns: 2, rows: sample.boxes) { statement, index in
            sqlite3_bind_int64(statement, 2, Int64(index))
        }
        let items = sample.boxes * ShapeSample.itemsOfBox
        try file.insert("item", columns: 4, rows: items) { statement, item in
            sqlite3_bind_int64(statement, 2, Int64(item))
            sqlite3_bind_int64(statement, 3, Int64(sample.weight(ofItem: item)))
            sqlite3_bind_int64(statement, 4, Int64(sample.box(ofItem: item) + 1))
        }
        try file.execute(
            """
            CREATE INDEX wide_number ON wide (number); CREATE INDEX box_number ON box (number);
            CREATE INDEX item_box ON item (box); COMMIT
            """)
        try file.settle()
    }

    private func fillWides(_ file: SQLiteFile) throws {
        let columns = ShapeSample.wideColumns
        try file.insert("wide", columns: columns.count + 2, rows: sample.wides) {
            statement, index in
            sqlite3_bind_int64(statement, 2, Int64(index))
            for (number, column) in columns.enumerated() {
                let place = Int32(number + 3)
                switch column.kind {
                case .count:
                    sqlite3_bind_int64(statement, place, Int64(sample.wideCount(number, index)))
                case .text: SQLiteFile.bind(sample.wideText(number, index), statement, place)
                case .value:
                    sqlite3_bind_double(statement, place, sample.wideValue(number, index))
                }
            }
        }
    }
}
