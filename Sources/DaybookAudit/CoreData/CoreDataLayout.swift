internal import DaybookObjectModel

/// Where the entities and properties of a model are in a Core Data store.
///
/// - A root entity and all that inherit from it share the table Z and the root's name, in capitals.
/// - An attribute or a to-one relationship has the column Z and its name. Where several entities of
///   one table declare the same name, those after the first, by number, get 1, 2 … behind it.
/// - A to-many relationship whose inverse leads to one object has no column of its own; its order, if
///   it has one, is in the column Z_FOK_ and the name of the inverse.
/// - One whose inverse leads to many objects has a table of pairs; see ``CoreDataPairs``.
struct CoreDataLayout {
    /// An entity with objects or subentities.
    struct Entity {
        let schema: SchemaEntity
        /// Its number in the file.
        let number: Int64
        let table: String
        /// The stored attributes and to-one relationships.
        let columns: [Column]
    }

    /// A slot and its column.
    struct Column {
        let slot: Int
        let property: SchemaProperty
        let name: String
        /// The table of the objects that it leads to; nil for an attribute.
        let destination: String?
        /// Whether its bytes may stand in a file.
        let isExternal: Bool
    }

    /// A to-many relationship that is kept with its owner.
    struct Membership {
        let property: SchemaProperty
        let owners: String
        let members: String
        /// The query for owner, member and place.
        let question: String
        /// The table in which the pairs stand.
        let table: String
    }

    /// A column that only the entities of these numbers may have values in.
    struct Exclusive {
        let table: String
        let column: String
        let numbers: [Int64]
    }

    /// The two columns of a one-to-one relationship, which must agree.
    struct Mirror {
        let table: String
        let column: String
        let otherTable: String
        let otherColumn: String
    }

    /// By number of the model's entity.
    private(set) var entities: [EntityNumber: Entity] = [:]
    private(set) var memberships: [Membership] = []
    private(set) var exclusive: [Exclusive] = []
    private(set) var mirrors: [Mirror] = []
    /// The tables with columns that the model knows nothing of.
    private(set) var unknownTables: Set<String> = []
    /// The numbers of the entities that the model does not have.
    private(set) var unknownEntities: [Int64] = []

    private let schema: Schema
    private let file: CoreDataFile
    private var names = CoreDataColumnNames()
    private var problems: [String] = []

    /// Finds all tables and columns.
    ///
    /// - Parameters:
    ///   - schema: The model.
    ///   - file: The store.
    ///   - external: The attributes whose values may stand in files, as `Entity.attribute`.
    ///   - ignoresUnknown: Whether entities and columns that the model does not have are left out.
    /// - Throws: ``CoreDataError`` with everything that is missing or unknown.
    init(
        _ schema: Schema, in file: CoreDataFile, external: Set<String>, ignoresUnknown: Bool
    ) throws {
        self.schema = schema
        self.file = file
        for root in schema.entities where root.superentity == nil { nameColumns(root) }
        for entity in schema.entities { find(entity, external) }
        checkExternal(external)
        for entity in schema.entities { findMemberships(entity) }
        noteUnknown(ignoresUnknown)
        guard problems.isEmpty else {
            throw CoreDataError("'\(file.path)' does not fit the model.", problems: problems)
        }
    }

    // MARK: - Tables and columns

    func table(of entity: SchemaEntity) -> String {
        "Z" + schema.root(of: entity).name.uppercased()
    }

    private func number(of entity: SchemaEntity) -> Int64? {
        file.entities[entity.name]?.number
    }

    /// Gives the properties of a family their columns, entity by entity as they are numbered.
    private mutating func nameColumns(_ root: SchemaEntity) {
        let family = root.family.compactMap { schema.entity($0) }
            .sorted { (number(of: $0) ?? 0) < (number(of: $1) ?? 0) }
        let table = table(of: root)
        for entity in family {
            for property in schema.declared(by: entity)
            where property.isPersistent && property.relationship?.isToMany != true {
                names.add(property, in: table)
            }
        }
        for (column, property) in names.shared(in: table) {
            let holders = family.filter { $0.property(property) != nil }
            exclusive.append(
                Exclusive(
                    table: table, column: column, numbers: holders.compactMap { number(of: $0) }))
        }
    }

    private mutating func find(_ entity: SchemaEntity, _ external: Set<String>) {
        guard let numbered = file.entities[entity.name] else {
            problems.append("The store has no entity '\(entity.name)' in Z_PRIMARYKEY.")
            return
        }
        let parent = entity.superentity.flatMap { schema.entity($0) }
        if numbered.parent != parent.flatMap({ number(of: $0) }) ?? 0 {
            problems.append(
                "'\(entity.name)' inherits from another entity in the store than in the model.")
        }
        let composites = schema.declared(by: entity).compactMap(\.name.compositeNames.first)
        for name in Set(composites).sorted() {
            problems.append(
                "'\(entity.name).\(name)' is a composite attribute: how Core Data keeps its elements is "
                    + "not known here. Leave it out of the model, import with "
                    + "'--ignore-unknown', and add it to the new store with 'daybook migrate'.")
        }
        let table = table(of: entity)
        guard let present = file.columns[table] else {
            if parent == nil {
                problems.append("The store has no table \(table) for '\(entity.name)'.")
            }
            return
        }
        for name in ["Z_PK", "Z_ENT"] where parent == nil && !present.contains(name) {
            problems.append("Table \(table) has no column \(name).")
        }
        for property in schema.declared(by: entity) where !property.name.contains(".") {
            check(property, of: entity, table, present)
        }
        let line = schema.line(of: entity).map(\.name)
        let own = entity.slots.prefix(entity.storedSlotCount).filter { !$0.isDerived }
        let columns = own.compactMap { property in
            column(
                of: property, in: table,
                isExternal: line.contains { name in
                    external.contains("\(name).\(property.name)")
                })
        }
        entities[entity.number] = Entity(
            schema: entity, number: numbered.number, table: table, columns: columns)
    }

    private func column(
        of property: SchemaProperty, in table: String, isExternal: Bool
    ) -> Column? {
        guard let slot = property.slot, let name = names[property.number, in: table] else {
            return nil
        }
        let destination = property.end.flatMap { schema.entity($0.destination) }
        return Column(
            slot: slot, property: property, name: name,
            destination: destination.map { self.table(of: $0) }, isExternal: isExternal)
    }

    private mutating func check(
        _ property: SchemaProperty, of entity: SchemaEntity, _ table: String,
        _ present: [String]
    ) {
        guard let name = names[property.number, in: table] else { return }
        guard present.contains(name) else {
            problems.append(
                "Table \(table) has no column \(name) for '\(entity.name).\(property.name)'.")
            return
        }
        guard property.slot == nil, let end = property.end, let inverse = end.inverse,
            let destination = schema.entity(end.destination),
            destination.property(inverse)?.relationship?.isToMany == false
        else { return }
        let otherTable = self.table(of: destination)
        guard let other = names[inverse, in: otherTable],
            file.columns[otherTable]?.contains(other) == true
        else { return }
        mirrors.append(
            Mirror(table: table, column: name, otherTable: otherTable, otherColumn: other))
    }

    private mutating func checkExternal(_ external: Set<String>) {
        for name in external.sorted() {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            let attribute =
                parts.count == 2
                ? schema.entity(named: parts[0])?.property(named: parts[1])?.attribute : nil
            guard attribute?.type != .data, attribute?.type != .codable else { continue }
            problems.append("The model has no attribute '\(name)' with data.")
        }
    }

    // MARK: - To-many relationships

    private mutating func findMemberships(_ entity: SchemaEntity) {
        for property in schema.declared(by: entity) {
            guard property.relationship?.isToMany == true, let end = property.end,
                let destination = schema.entity(end.destination)
            else { continue }
            guard let inverse = end.inverse, let opposite = destination.property(inverse) else {
                problems.append(
                    "'\(entity.name).\(property.name)' leads to many objects and has no inverse. How "
                        + "Core Data keeps such a relationship is not known.")
                continue
            }
            guard property.isStoredToMany, file.columns[table(of: entity)] != nil,
                file.columns[table(of: destination)] != nil
            else { continue }
            let membership =
                opposite.relationship?.isToMany == true
                ? pairs(entity, property, destination, opposite)
                : keys(entity, property, destination, opposite)
            if let membership { memberships.append(membership) }
        }
    }

    /// The members know their one owner.
    private mutating func keys(
        _ entity: SchemaEntity, _ property: SchemaProperty, _ destination: SchemaEntity,
        _ opposite: SchemaProperty
    ) -> Membership? {
        let members = table(of: destination)
        let present = file.columns[members] ?? []
        guard let column = names[opposite.number, in: members], present.contains(column) else {
            return nil
        }
        let order = "Z_FOK_" + column.dropFirst()
        guard present.contains(order) else {
            problems.append(
                "Table \(members) has no column \(order) for the order of "
                    + "'\(entity.name).\(property.name)'.")
            return nil
        }
        return Membership(
            property: property, owners: table(of: entity), members: members,
            question: """
                SELECT "\(column)", Z_PK, "\(order)" FROM "\(members)"
                WHERE "\(column)" IS NOT NULL
                """, table: members)
    }

    private mutating func pairs(
        _ entity: SchemaEntity, _ property: SchemaProperty, _ destination: SchemaEntity,
        _ opposite: SchemaProperty
    ) -> Membership? {
        let owner = CoreDataPairs.End(
            numbers: schema.line(of: entity).compactMap { number(of: $0) },
            relationship: property.name)
        let member = CoreDataPairs.End(
            numbers: schema.line(of: destination).compactMap { number(of: $0) },
            relationship: opposite.name)
        let found = file.columns.compactMap { table, columns in
            CoreDataPairs(
                table, columns, owner: owner, member: member,
                isSymmetric: property.isSelfInverse)
        }.min { $0.table < $1.table }
        guard let found else {
            problems.append(
                "The store has no table of pairs for '\(entity.name).\(property.name)', such as "
                    + "Z_\(number(of: entity) ?? 0)\(property.name.uppercased()).")
            return nil
        }
        if property.relationship?.isOrdered == true, found.order == nil {
            problems.append(
                "Table \(found.table) has no column for the order of "
                    + "'\(entity.name).\(property.name)'.")
        }
        return Membership(
            property: property, owners: table(of: entity), members: table(of: destination),
            question: found.question, table: found.table)
    }

    // MARK: - What the model does not have

    private mutating func noteUnknown(_ ignores: Bool) {
        let known = Set(schema.entities.map(\.name))
        let strangers = file.entities.filter { !known.contains($0.key) }
        unknownEntities = strangers.values.map(\.number).sorted()
        var unknown = strangers.keys.sorted().map {
            "The model has no entity '\($0)', which the store has."
        }
        for table in Set(entities.values.map(\.table)).sorted() {
            let columns = (file.columns[table] ?? []).filter { column in
                column.hasPrefix("Z") && column.wholeMatch(of: /Z\d*_.*/) == nil
                    && !names.has(column, in: table)
            }
            if !columns.isEmpty { unknownTables.insert(table) }
            unknown += columns.map {
                "The model has no property for column \($0) of table \(table)."
            }
        }
        if !ignores, !unknown.isEmpty {
            problems += unknown + ["'--ignore-unknown' leaves out what the model does not have."]
        }
    }
}

/// The columns of tables, as their names are given to the properties of the entities.
private struct CoreDataColumnNames {
    private var columns: [String: Set<String>] = [:]
    private var properties: [String: [PropertyNumber: String]] = [:]
    private var groups: [String: [String: [PropertyNumber]]] = [:]

    mutating func add(_ property: SchemaProperty, in table: String) {
        let base = "Z" + property.name.uppercased()
        var column = base
        var suffix = 1
        while columns[table]?.contains(column) == true {
            column = base + String(suffix)
            suffix += 1
        }
        columns[table, default: []].insert(column)
        properties[table, default: [:]][property.number] = column
        groups[table, default: [:]][base, default: []].append(property.number)
    }

    subscript(property: PropertyNumber, in table: String) -> String? {
        properties[table]?[property]
    }

    func has(_ column: String, in table: String) -> Bool {
        columns[table]?.contains(column) ?? false
    }

    /// The columns whose names only a number tells apart, with their properties.
    func shared(in table: String) -> [(column: String, property: PropertyNumber)] {
        (groups[table] ?? [:]).values.filter { $0.count > 1 }.flatMap { group in
            group.compactMap { number in self[number, in: table].map { ($0, number) } }
        }.sorted { $0.0 < $1.0 }
    }
}

extension Schema {
    /// The entity, and those that it inherits from, up to the root.
    func line(of entity: SchemaEntity) -> [SchemaEntity] {
        var line = [entity]
        while let above = line.last?.superentity.flatMap({ self.entity($0) }) {
            line.append(above)
        }
        return line
    }

    func root(of entity: SchemaEntity) -> SchemaEntity {
        line(of: entity).last ?? entity
    }

    /// The properties that an entity does not inherit.
    func declared(by entity: SchemaEntity) -> [SchemaProperty] {
        let above = entity.superentity.flatMap { self.entity($0) }
        return entity.properties.filter { above?.property($0.number) == nil }
    }
}
