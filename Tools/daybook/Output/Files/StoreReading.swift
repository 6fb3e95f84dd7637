// The room of what commands read: stores, and the small files and streams beside them.

import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// Lookups that the reading commands share.
enum StoreReading {
    /// Opens a store for reading only. One that is shared is first brought up to its servers.
    static func open(_ path: String) throws -> Store {
        try SharedStores.bringUp(path)
        return try Store.open(at: path, options: StoreOptions(isReadOnly: true))
    }

    /// The sequence number of a moment; zero for a time before the first entry.
    ///
    /// - Throws: ``ToolError`` when the journal does not reach so far.
    static func sequence(of moment: JournalPosition, in store: Store) throws -> SequenceNumber {
        let head = try store.head()
        switch moment {
        case .head: return head
        case .time(let time): return try store.sequence(atTime: time.first)
        case .tag(let name): return try tag(name, in: store).sequence
        case .sequence(let number):
            guard number <= head.rawValue else {
                throw ToolError.usage(
                    "There is no entry \(number): the journal has entries 1 to \(head).")
            }
            return SequenceNumber(number)
        }
    }

    /// The first entry that is not before a moment.
    static func first(from moment: JournalPosition, in store: Store) throws -> SequenceNumber {
        guard case .time(let time) = moment else { return try sequence(of: moment, in: store) }
        return try store.sequence(atTime: time.first - 1).next
    }

    /// Narrows a filter to a range of moments, both ends included.
    ///
    /// A number is a position in the journal. A time is compared with the time of each entry;
    /// entries need not be in order of time.
    static func restrict(
        _ filter: inout AuditFilter, since first: JournalPosition?, until last: JournalPosition?,
        in store: Store
    ) throws {
        var (lowest, highest) = (filter.range.lowerBound, filter.range.upperBound)
        var (earliest, latest) = (filter.earliest, filter.latest)
        switch first {
        case .head: lowest = try store.head()
        case .sequence(let number): lowest = SequenceNumber(number)
        case .tag(let name): lowest = try tag(name, in: store).sequence
        case .time(let time): earliest = time.first
        case nil: break
        }
        switch last {
        case .head: highest = try store.head()
        case .sequence(let number): highest = SequenceNumber(number)
        case .tag(let name): highest = try tag(name, in: store).sequence
        case .time(let time): latest = time.last
        case nil: break
        }
        guard lowest <= highest, earliest <= latest else {
            throw ToolError.usage("The range ends before it begins.")
        }
        filter.range = lowest...highest
        (filter.earliest, filter.latest) = (earliest, latest)
    }

    /// The tag of that name.
    static func tag(_ name: String, in store: Store) throws -> StoreTag {
        if let tag = try store.tag(named: name) { return tag }
        let suggestion = name.suggestion(among: try store.tags().map(\.name) + ["head"])
        throw ToolError.usage(
            "There is no tag '\(name)'"
                + (suggestion.isEmpty
                    ? ", and it is neither a sequence number nor a time." : suggestion))
    }

    /// The entry at a moment.
    ///
    /// - Throws: ``ToolError`` when the moment is before the first entry.
    static func entry(at moment: JournalPosition, in store: Store) throws -> SequenceNumber {
        let sequence = try sequence(of: moment, in: store)
        if sequence == .zero, case .time = moment {
            throw ToolError.usage("No entry is as old as that.")
        }
        return sequence
    }

    /// The entries of a range, from the first to the last.
    ///
    /// - Throws: ``ToolError`` when one of them does not exist, or the last one is before the
    ///   first.
    static func entries(
        _ range: EntryRange, in store: Store
    ) throws -> ClosedRange<SequenceNumber> {
        guard let end = range.last else {
            let sequence = try existing(entry(at: range.first, in: store), in: store)
            return sequence...sequence
        }
        let first = try existing(self.first(from: range.first, in: store), in: store)
        let last: SequenceNumber =
            if case .time(let time) = end {
                try store.sequence(atTime: time.last)
            } else {
                try sequence(of: end, in: store)
            }
        guard first <= last else { throw ToolError.usage("The range ends before it begins.") }
        return first...last
    }

    private static func existing(
        _ sequence: SequenceNumber, in store: Store
    ) throws -> SequenceNumber {
        guard sequence > .zero else {
            throw ToolError.usage(
                "There is no entry 0: the journal has entries 1 to \(try store.head()).")
        }
        return sequence
    }

    /// The filter of a `--where`.
    static func filter(
        _ text: String, for entity: SchemaEntity, in schema: Schema
    ) throws -> Filter {
        do {
            return try Filter(parsing: text, for: entity, in: schema)
        } catch {
            throw ToolError.usage("'--where' cannot be understood: \(error.description)")
        }
    }

    /// The path that names joined by dots stand for, through to-one relationships.
    ///
    /// - Parameters:
    ///   - text: What was given for an option.
    ///   - skipped: How many characters before the names belong to the option.
    ///   - entity: The entity at which the path begins.
    ///   - schema: The schema of that entity.
    ///   - option: The option.
    /// - Returns: The path.
    /// - Throws: ``ToolError`` when the model has no such path, or it leads to many objects.
    static func path(
        _ text: String, without skipped: Int = 0, of entity: SchemaEntity, in schema: Schema,
        for option: String
    ) throws -> FilterPath {
        guard !text.contains(",") || option == "--template" else {
            let keys = text.split(separator: ",").map { "\(option) \($0)" }
            throw ToolError.usage(
                "'\(option)' takes one key at a time: '\(keys.joined(separator: " "))'.")
        }
        let names = text.dropFirst(skipped)
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var steps: [SchemaProperty] = []
        var current: SchemaEntity? = entity
        var rest = names[...]
        while let name = rest.first {
            guard let owner = current else {
                throw ToolError.usage(
                    "'\(option)' cannot be '\(text)': '\(steps.last?.name ?? "")' is an attribute.")
            }
            guard let (property, count) = owner.property(at: rest) else {
                throw ToolError.usage(owner.unknownProperty(at: rest).message)
            }
            guard property.relationship?.isToMany != true else {
                throw ToolError.usage(
                    "'\(option)' cannot be '\(text)': '\(name)' leads to many objects.")
            }
            steps.append(property)
            current = property.end.flatMap { schema.entity($0.destination) }
            rest = rest.dropFirst(count)
        }
        return FilterPath(steps)
    }

    /// The property of that name.
    static func property(_ name: String, of entity: SchemaEntity) throws -> SchemaProperty {
        if let property = entity.property(named: name) { return property }
        let suggestion = name.suggestion(among: entity.properties.map(\.name))
        throw ToolError.usage(
            "'\(entity.name)' has no property '\(name)'" + (suggestion.isEmpty ? "." : suggestion))
    }

    /// The object of that name.
    static func object(_ name: ObjectName, in schema: Schema) throws -> ObjectID {
        let entity = try entity(name.entity, in: schema)
        return ObjectID(entity: entity.number, number: name.number)
    }

    /// The entity of that name.
    static func entity(_ name: String, in schema: Schema) throws -> SchemaEntity {
        if let entity = schema.entity(named: name) { return entity }
        if let object = ObjectName(name), schema.entity(named: object.entity) != nil {
            throw ToolError.usage(
                "'\(name)' is an object, and an entity is asked for: '\(object.entity)'. 'daybook "
                    + "history' and 'daybook blame' show an object, and 'daybook fetch' with --where "
                    + "\"SELF == '\(object.objectText)'\".")
        }
        let names = schema.entities.map(\.name)
        let suggestion = name.suggestion(among: names)
        throw ToolError.usage(
            "The model has no entity '\(name)'"
                + (suggestion.isEmpty
                    ? "; there are \(names.map { "'\($0)'" }.joined(separator: ", "))."
                    : suggestion))
    }
}

extension ObjectName {
    /// The object without the property: `Country/17`.
    var objectText: String { "\(entity)/\(number)" }
}
