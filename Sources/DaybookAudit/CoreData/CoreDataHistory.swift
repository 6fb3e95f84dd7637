internal import DaybookObjectModel
internal import DaybookSQLite
internal import Foundation

/// The history of a Core Data store: who inserted and changed which objects, in which transaction.
///
/// It has no values but the current ones. Its beginning is missing when the program has removed old
/// transactions.
struct CoreDataHistory {
    /// A transaction of the source.
    struct Transaction {
        let number: Int64
        let author: String?
        let context: String?
        /// In microseconds since 1970.
        let time: Int64
    }

    /// What is known of an object: positions of transactions, from 1; 0 is before all of them.
    struct Trace {
        var insert = 0
        /// The last transaction that set a property.
        var last: [PropertyNumber: Int] = [:]
    }

    /// In their order; position 1 is the first.
    private(set) var transactions: [Transaction] = []
    /// By index of the object.
    private(set) var traces: [Trace]
    /// The number of objects that were deleted, of which the source keeps nothing.
    private(set) var deletedCount = 0

    private let schema: Schema
    private let layout: CoreDataLayout
    private let entities: [Int64: CoreDataLayout.Entity]
    private var positions: [Int64: Int] = [:]
    private var problems = RowProblems()

    /// An empty history: all objects are from before it.
    init(_ schema: Schema, _ layout: CoreDataLayout, objectCount: Int) {
        self.schema = schema
        self.layout = layout
        entities = Dictionary(
            layout.entities.values.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        traces = Array(repeating: Trace(), count: objectCount)
    }

    /// Reads the history.
    ///
    /// - Throws: ``CoreDataError`` with the rows that do not fit.
    mutating func read(_ file: CoreDataFile, _ graph: CoreDataGraph) throws {
        try readTransactions(file)
        try readChanges(file, graph)
        try problems.check()
    }

    // MARK: - Transactions

    private mutating func readTransactions(_ file: CoreDataFile) throws {
        let columns = file.columns["ATRANSACTION"] ?? []
        let author = Self.text("AUTHOR", columns, file)
        let context = Self.text("CONTEXTNAME", columns, file)
        let question = """
            SELECT t.Z_PK, t.ZTIMESTAMP, \(author), \(context) FROM ATRANSACTION t ORDER BY t.Z_PK
            """
        try file.rows(question) { row in
            guard case .integer(let number) = row[0] else { return }
            guard let time = row[1].microseconds else {
                return problems.add("ATRANSACTION", number, "ZTIMESTAMP is not a time.")
            }
            transactions.append(
                Transaction(
                    number: number, author: row[2].words, context: row[3].words, time: time))
            positions[number] = transactions.count
        }
    }

    /// A text, which is stored once for all transactions, or with each.
    private static func text(
        _ name: String, _ columns: [String], _ file: CoreDataFile
    ) -> String {
        let direct = columns.contains("Z\(name)") ? "t.Z\(name)" : "NULL"
        guard columns.contains("Z\(name)TS"), file.columns["ATRANSACTIONSTRING"] != nil else {
            return direct
        }
        return "coalesce((SELECT s.ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.Z\(name)TS), "
            + "\(direct))"
    }

    // MARK: - Changes

    private mutating func readChanges(_ file: CoreDataFile, _ graph: CoreDataGraph) throws {
        let bits = file.columns["ACHANGE"]?.contains("ZCOLUMNS") == true ? "ZCOLUMNS" : "NULL"
        let question = """
            SELECT Z_PK, ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, \(bits) FROM ACHANGE
            ORDER BY ZTRANSACTIONID, Z_PK
            """
        try file.rows(question) { row in
            guard case .integer(let number) = row[0] else { return }
            guard case .integer(let transaction) = row[1], let position = positions[transaction]
            else {
                return problems.add(
                    "ACHANGE", number,
                    "ZTRANSACTIONID does not lead to a row of table ATRANSACTION.")
            }
            guard case .integer(let type) = row[2], (0...2).contains(type),
                case .integer(let entity) = row[3], case .integer(let key) = row[4]
            else {
                return problems.add(
                    "ACHANGE", number,
                    "It does not name an object, or is not an insert, update or delete.")
            }
            guard let entity = entities[entity] else { return }
            guard let index = graph.index(of: key, in: entity.table) else {
                if type == 2 { deletedCount += 1 }
                return
            }
            switch type {
            case 0: traces[index] = Trace(insert: position)
            case 1:
                for property in touched(row[5], entity) {
                    traces[index].last[property] = position
                }
            default:
                problems.add(
                    "ACHANGE", number,
                    "It deletes row \(key) of table \(entity.table), which is there.")
            }
        }
    }

    /// The properties that an update has set.
    ///
    /// The first bit is the most significant one of the first byte. The bits stand for the properties
    /// of the object's own entity, attributes and relationships together, by name. If they do not fit
    /// the model, the update may have set any property.
    private func touched(
        _ bits: SQLiteValue, _ entity: CoreDataLayout.Entity
    ) -> [PropertyNumber] {
        let properties = entity.schema.properties.filter(\.isPersistent)
            .sorted { $0.name < $1.name }
        guard case .blob(let bytes) = bits, bytes.count == (properties.count + 7) / 8,
            !layout.unknownTables.contains(entity.table)
        else { return properties.map(\.number) }
        let set = (0..<bytes.count * 8).filter { bytes[$0 / 8] & (0x80 >> ($0 % 8)) != 0 }
        guard set.allSatisfy({ $0 < properties.count }) else { return properties.map(\.number) }
        return set.map { properties[$0].number }
    }
}

extension SQLiteValue {
    /// A time of Core Data in microseconds since 1970.
    fileprivate var microseconds: Int64? {
        let seconds: Double
        switch self {
        case .real(let number): seconds = number
        case .integer(let number): seconds = Double(number)
        default: return nil
        }
        guard abs(seconds) < 1e11 else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds).nearestMicrosecond
    }

    /// The text; nil when it is empty, and for another kind of value.
    fileprivate var words: String? {
        if case .text(let text) = self, !text.isEmpty { text } else { nil }
    }
}
