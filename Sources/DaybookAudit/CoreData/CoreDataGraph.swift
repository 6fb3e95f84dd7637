internal import DaybookObjectModel
internal import DaybookSQLite

/// The objects of a Core Data store, as they are now.
///
/// References are the indexes of objects, written as object numbers, until the objects have theirs.
struct CoreDataGraph {
    /// An object.
    struct Object {
        let entity: SchemaEntity
        let table: String
        /// Its row.
        let key: Int64
        /// In slot order.
        var values: [Value]
    }

    /// A member of a to-many relationship that is kept with its owner.
    struct Member {
        let property: SchemaProperty
        let owner: Int
        let member: Int
        /// Its place among the members, from 1; 0 where there is no order.
        let place: Int
    }

    private(set) var objects: [Object] = []
    private(set) var members: [Member] = []
    /// The attributes of which every value begins with the byte 1.
    var suspects: [String] { beginsWithOne.filter(\.value).map(\.key).sorted() }

    /// By attribute: whether every value so far does.
    private var beginsWithOne: [String: Bool] = [:]
    private var indexes: [String: [Int64: Int]] = [:]
    private var problems = RowProblems()

    /// Reads all objects, and calls `progress` for each.
    ///
    /// - Throws: ``CoreDataError`` with the rows that do not fit.
    init(
        _ schema: Schema, _ layout: CoreDataLayout, in file: CoreDataFile,
        progress: () -> Void
    ) throws {
        let entities = layout.entities.values.filter { !$0.schema.isAbstract }
            .sorted { $0.schema.number < $1.schema.number }
        for entity in entities { try readKeys(entity, file) }
        try checkNumbers(layout, file)
        try problems.check()
        let values = CoreDataValue(externalFolder: file.externalFolder)
        for entity in entities { try readValues(entity, file, values, progress) }
        for membership in layout.memberships { try readMembers(membership, schema, file) }
        for mirror in layout.mirrors { try check(mirror, file) }
        for column in layout.exclusive { try check(column, file) }
        try problems.check()
    }

    /// The object of a row; nil if there is none.
    func index(of key: Int64, in table: String) -> Int? {
        indexes[table]?[key]
    }

    // MARK: - Objects

    private mutating func readKeys(_ entity: CoreDataLayout.Entity, _ file: CoreDataFile) throws {
        let question =
            "SELECT Z_PK FROM \"\(entity.table)\" WHERE Z_ENT = \(entity.number) ORDER BY Z_PK"
        let blank = [Value](repeating: .null, count: entity.schema.storedSlotCount)
        try file.rows(question) { row in
            guard case .integer(let key) = row[0] else { return }
            indexes[entity.table, default: [:]][key] = objects.count
            objects.append(
                Object(entity: entity.schema, table: entity.table, key: key, values: blank))
        }
    }

    /// Finds rows of entities that do not exist or have no objects.
    private mutating func checkNumbers(
        _ layout: CoreDataLayout, _ file: CoreDataFile
    ) throws {
        for (table, entities) in Dictionary(grouping: layout.entities.values, by: \.table) {
            let known = entities.filter { !$0.schema.isAbstract }.map { String($0.number) }
            let leftOut = layout.unknownEntities.map(String.init)
            let numbers = (known + leftOut).joined(separator: ", ")
            let question = """
                SELECT Z_PK FROM "\(table)" WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(numbers))
                """
            try file.rows(question) { row in
                guard case .integer(let key) = row[0] else { return }
                problems.add(table, key, "Z_ENT is not the number of an entity with objects.")
            }
        }
    }

    private mutating func readValues(
        _ entity: CoreDataLayout.Entity, _ file: CoreDataFile, _ values: CoreDataValue,
        _ progress: () -> Void
    ) throws {
        let columns = entity.columns.map { "\"\($0.name)\"" }
        let question = """
            SELECT \((["Z_PK"] + columns).joined(separator: ", ")) FROM "\(entity.table)"
            WHERE Z_ENT = \(entity.number)
            """
        try file.rows(question) { row in
            guard case .integer(let key) = row[0], let index = index(of: key, in: entity.table)
            else { return }
            progress()
            for (column, raw) in zip(entity.columns, row.dropFirst()) {
                do {
                    objects[index].values[column.slot] =
                        try column.destination.map { try reference(raw, column, in: $0) }
                        ?? values.value(raw, of: column.property, isExternal: column.isExternal)
                    if !column.isExternal { noteFirstByte(raw, column, entity.schema) }
                } catch let misfit as CoreDataValue.Misfit {
                    problems.add(
                        entity.table, key,
                        "'\(entity.schema.name).\(column.property.name)' \(misfit.objection).")
                }
            }
        }
    }

    private mutating func noteFirstByte(
        _ raw: SQLiteValue, _ column: CoreDataLayout.Column, _ entity: SchemaEntity
    ) {
        guard case .blob(let bytes) = raw, column.property.attribute?.type != .uuid else { return }
        let name = "\(entity.name).\(column.property.name)"
        beginsWithOne[name] = bytes.first == 1 && beginsWithOne[name] ?? true
    }

    private func reference(
        _ raw: SQLiteValue, _ column: CoreDataLayout.Column, in table: String
    ) throws -> Value {
        switch raw {
        case .null:
            if let misfit = column.property.misfit(of: .null) {
                throw CoreDataValue.Misfit(objection: misfit.objection)
            }
            return .null
        case .integer(let key):
            guard let index = index(of: key, in: table) else {
                throw CoreDataValue.Misfit(
                    objection: "leads to row \(key) of table \(table), which is not there")
            }
            return .object(
                ObjectID(entity: objects[index].entity.number, number: UInt64(index)))
        default:
            throw CoreDataValue.Misfit(objection: "holds the number of a row, which is not there")
        }
    }

    // MARK: - Members

    private mutating func readMembers(
        _ membership: CoreDataLayout.Membership, _ schema: Schema, _ file: CoreDataFile
    ) throws {
        var found: [(owner: Int, member: Int, place: Double)] = []
        try file.rows(membership.question) { row in
            guard case .integer(let owner) = row[0], case .integer(let member) = row[1] else {
                return
            }
            guard let ownerIndex = index(of: owner, in: membership.owners) else {
                return problems.add(
                    membership.table, member,
                    "It leads to row \(owner) of table \(membership.owners), which is not there.")
            }
            guard let memberIndex = index(of: member, in: membership.members) else {
                return problems.add(
                    membership.table, owner,
                    "It leads to row \(member) of table \(membership.members), which is not there.")
            }
            found.append((ownerIndex, memberIndex, row[2].place))
        }
        let isOrdered = membership.property.relationship?.isOrdered == true
        found.sort {
            ($0.owner, $0.place, objects[$0.member].key) < (
                $1.owner, $1.place, objects[$1.member].key
            )
        }
        var place = 0
        for (position, pair) in found.enumerated() {
            place = position > 0 && found[position - 1].owner == pair.owner ? place + 1 : 1
            members.append(
                Member(
                    property: membership.property, owner: pair.owner, member: pair.member,
                    place: isOrdered ? place : 0))
        }
    }

    // MARK: - Checks

    private mutating func check(_ mirror: CoreDataLayout.Mirror, _ file: CoreDataFile) throws {
        let question = """
            SELECT a.Z_PK, b.Z_PK FROM "\(mirror.table)" a
            JOIN "\(mirror.otherTable)" b ON b.Z_PK = a."\(mirror.column)"
            WHERE b."\(mirror.otherColumn)" IS NOT a.Z_PK
            """
        try file.rows(question) { row in
            guard case .integer(let key) = row[0], case .integer(let other) = row[1] else { return }
            problems.add(
                mirror.table, key,
                "\(mirror.column) leads to row \(other) of table \(mirror.otherTable), which leads "
                    + "elsewhere.")
        }
    }

    private mutating func check(
        _ column: CoreDataLayout.Exclusive, _ file: CoreDataFile
    ) throws {
        let numbers = column.numbers.map(String.init).joined(separator: ", ")
        let question = """
            SELECT Z_PK FROM "\(column.table)"
            WHERE "\(column.column)" IS NOT NULL AND Z_ENT NOT IN (\(numbers))
            """
        try file.rows(question) { row in
            guard case .integer(let key) = row[0] else { return }
            problems.add(
                column.table, key,
                "\(column.column) has a value, which belongs to another entity: several declare a "
                    + "property of that name, and it is not clear which column belongs to which.")
        }
    }
}

extension SQLiteValue {
    /// The place among the members; the last for none.
    fileprivate var place: Double {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: .infinity
        }
    }
}
