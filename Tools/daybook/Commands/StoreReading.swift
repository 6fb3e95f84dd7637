import JournalLog
import ObjectModel
import SnapshotStore

/// What commands that read a store have in common.
enum StoreReading {
    /// Opens a store so that nothing is written.
    static func open(_ path: String) throws -> Store {
        var options = StoreOptions()
        options.isReadOnly = true
        return try Store.open(at: path, options: options)
    }

    /// The entry that a place in the journal means; the head as it is now for `head`.
    static func sequence(of moment: Moment, in store: Store) throws -> SequenceNumber {
        switch moment {
        case .head: try store.head()
        case .sequence(let number): SequenceNumber(number)
        case .time(let time): try store.sequence(atTime: time.first)
        }
    }

    /// The entity of that name.
    static func entity(_ name: String, in schema: Schema) throws -> SchemaEntity {
        if let entity = schema.entity(named: name) { return entity }
        let names = schema.entities.map(\.name)
        let near = Suggestion.nearest(to: name, among: names)
        throw ToolError.usage(
            "There is no entity '\(name)'; "
                + (near.map { "did you mean '\($0)'?" } ?? "there is \(Operation.list(names))."))
    }

    /// A value as people read it: text as it is, nothing for none.
    static func text(_ value: Value, of property: SchemaProperty?, in schema: Schema) -> String {
        switch value {
        case .null: return ""
        case .string(let text): return text
        case .date(let date): return DateText.text(date)
        default:
            var writer = JSONWriter()
            writer.value(value, for: property?.attribute?.type, in: schema)
            return writer.text
        }
    }
}
