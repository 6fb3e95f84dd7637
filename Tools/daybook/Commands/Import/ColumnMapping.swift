import DaybookAudit
import DaybookObjectModel

/// Which column of a table goes to which property of an entity.
struct ColumnMapping {
    /// A column with a place for its values.
    struct Column {
        /// Its index in the table.
        let index: Int
        /// Its name in the header.
        let name: String
        let property: SchemaProperty
        /// The place of the value in a row of the entity.
        let slot: Int
        /// The attribute that identifies the destination; nil for an attribute.
        let key: SchemaProperty?
        // Kept separately, because reading one member of a description copies all of it.
        /// The type of the values, or of the keys.
        let type: AttributeType
        /// Whether an empty field is no value.
        let isOptional: Bool
        /// Whether errors must not tell the values.
        let isConfidential: Bool

        fileprivate init(
            _ index: Int, _ name: String, _ property: SchemaProperty, _ slot: Int,
            key: SchemaProperty?, _ attribute: AttributeDescription
        ) {
            self.index = index
            self.name = name
            self.property = property
            self.slot = slot
            self.key = key
            type = attribute.type
            isOptional = key != nil || attribute.isOptional
            isConfidential = attribute.isConfidential
        }
    }

    /// The user's wishes.
    struct Options {
        /// The paths of properties by column.
        var paths: [(column: String, path: String)] = []
        /// The columns to leave out.
        var skipped: [String] = []
    }

    let entity: SchemaEntity
    /// All columns that are read.
    let columns: [Column]
    /// The number of columns of the table.
    let width: Int

    /// - Parameters:
    ///   - header: The first record of the table.
    ///   - entity: The entity of the objects that the other records become.
    ///   - schema: The model.
    ///   - options: The user's wishes.
    /// - Throws: ``ToolError`` with everything that does not fit.
    init(
        _ header: CSVRecord, to entity: SchemaEntity, in schema: Schema, _ options: Options
    ) throws {
        var finder = PlaceFinder(entity, schema)
        let names = try Self.names(header)
        finder.checkOptions(options, names)
        var columns: [Column] = []
        let paths = Dictionary(options.paths.map { ($0.column, $0.path) }) { first, _ in first }
        for (index, name) in names.enumerated() where !options.skipped.contains(name) {
            guard let place = finder.place(of: paths[name] ?? name, in: name),
                let attribute = (place.key ?? place.property).attribute
            else { continue }
            if let other = columns.first(where: { $0.slot == place.slot }) {
                finder.problems.append(
                    "The columns '\(other.name)' and '\(name)' both lead to "
                        + "'\(place.property.name)'.")
            }
            columns.append(
                Column(index, name, place.property, place.slot, key: place.key, attribute))
        }
        guard finder.problems.isEmpty else {
            throw ToolError(
                .usage, "The columns do not fit '\(entity.name)'.", details: finder.problems)
        }
        self.entity = entity
        self.columns = columns
        width = names.count
    }

    /// The name of the column of a property; nil when no column leads to it.
    func column(of property: String) -> String? {
        columns.first { $0.property.name == property }?.name
    }

    private static func names(_ header: CSVRecord) throws -> [String] {
        if let (flaw, field) = header.flaw {
            throw ToolError.usage("line \(header.line), field \(field + 1): \(flaw.sentence)")
        }
        return try (0..<header.count).map { index in
            guard let name = String(validating: header[index], as: UTF8.self) else {
                throw ToolError.usage(
                    "line \(header.line), field \(index + 1): The name is not UTF-8 text. Convert "
                        + "the file, as 'iconv -f LATIN1 -t UTF-8' does.")
            }
            return name
        }
    }
}

/// Finds the properties that columns lead to, and gathers what does not fit.
private struct PlaceFinder {
    var problems: [String] = []
    private let entity: SchemaEntity
    private let schema: Schema

    init(_ entity: SchemaEntity, _ schema: Schema) {
        self.entity = entity
        self.schema = schema
    }

    mutating func checkOptions(_ options: ColumnMapping.Options, _ names: [String]) {
        for (index, name) in names.enumerated() {
            guard let first = names.firstIndex(of: name), first < index else { continue }
            problems.append(
                "Columns \(first + 1) and \(index + 1) of the header are both called '\(name)'.")
        }
        var seen: Set<String> = []
        for name in options.paths.map(\.column) + options.skipped {
            if !names.contains(name) {
                let clause = Suggestion.clause(for: name, among: names)
                problems.append("The table has no column '\(name)'\(clause)")
            }
            if !seen.insert(name).inserted {
                problems.append("The options name the column '\(name)' twice.")
            }
        }
    }

    /// The place that a path such as `name` or `country.alpha2` leads to.
    mutating func place(
        of path: String, in column: String
    ) -> (property: SchemaProperty, slot: Int, key: SchemaProperty?)? {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let (property, count) = entity.property(at: names[...]) else {
            let name = entity.isComposite(names[0]) ? path : names[0]
            note(column, "'\(entity.name)' has no property '\(name)'", name, of: entity)
            return nil
        }
        let key = names.dropFirst(count).joined(separator: ".")
        guard property.isPersistent else {
            problems.append("'\(property.name)' is transient: no store keeps it.")
            return nil
        }
        guard !property.isDerived else {
            problems.append(
                "'\(property.name)' is derived and cannot be set. Leave out '\(column)' with '--skip'."
            )
            return nil
        }
        guard let end = property.end, let destination = schema.entity(end.destination) else {
            guard key.isEmpty, let slot = property.slot else {
                problems.append("'\(path)': '\(property.name)' is not a relationship.")
                return nil
            }
            return (property, slot, nil)
        }
        guard let slot = slot(of: property, in: column) else { return nil }
        return self.key(key.isEmpty ? nil : key, of: destination, property, column)
            .map { (property, slot, $0) }
    }

    private mutating func slot(of property: SchemaProperty, in column: String) -> Int? {
        if property.relationship?.isToMany == true {
            problems.append(
                "'\(property.name)' leads to many objects. Map a column to its inverse, or leave "
                    + "out '\(column)' with '--skip'.")
            return nil
        }
        guard let slot = property.slot, !property.isSelfInverse else {
            problems.append(
                "'\(property.name)' is kept with the objects that it leads to. Leave out "
                    + "'\(column)' with '--skip', and set it with 'daybook record'.")
            return nil
        }
        return slot
    }

    /// The attribute that identifies the destination.
    private mutating func key(
        _ name: String?, of destination: SchemaEntity, _ property: SchemaProperty,
        _ column: String
    ) -> SchemaProperty? {
        let unique = destination.properties.filter(\.isUnique)
        guard let name else {
            if unique.count == 1 { return unique[0] }
            problems.append(
                "'\(property.name)' is a relationship. Say which unique attribute of "
                    + "'\(destination.name)' the column has, as in '--map "
                    + "\(column)=\(property.name).\(unique.first?.name ?? "code")'.")
            return nil
        }
        guard let key = destination.property(named: name) else {
            note(column, "'\(destination.name)' has no property '\(name)'", name, of: destination)
            return nil
        }
        guard key.isUnique else {
            problems.append(
                "'\(destination.name).\(name)' is not unique, so it cannot tell which "
                    + "'\(destination.name)' is meant.")
            return nil
        }
        return key
    }

    private mutating func note(
        _ column: String, _ problem: String, _ name: String, of entity: SchemaEntity
    ) {
        let near = Suggestion.nearest(to: name, among: entity.properties.map(\.name))
        problems.append(
            "Column '\(column)': \(problem)"
                + (near.map { "; did you mean '\($0)'?" } ?? ".")
                + " Say where it goes with '--map', or leave it out with '--skip'.")
    }
}

extension CSVRecord.Flaw {
    /// The mistake as a sentence.
    var sentence: String {
        switch self {
        case .nul: "The field holds a NUL byte, which is not text."
        case .strayQuote:
            "A quotation mark stands inside a field that does not begin with one. Such a field is "
                + "quoted, and the mark written twice."
        case .textAfterQuote:
            "Text follows the quotation mark that ends the field. A mark inside is written twice."
        }
    }
}
