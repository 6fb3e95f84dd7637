internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// What an entry does to the texts of objects.
enum TextStep {
    /// An attribute has a text from this entry on; nil for none.
    case set(ObjectID, PropertyNumber, String?)
    /// An object is gone.
    case delete(ObjectID)
    /// An attribute is not searched any more.
    case drop(EntityNumber, PropertyNumber)
}

/// Turns entries into what they do to texts, by the models under which they were saved.
struct TextIndexFeed {
    private let store: Store
    private let history: ModelHistory

    init(_ store: Store) throws {
        self.store = store
        history = try store.modelHistory()
    }

    /// An attribute of an entity.
    private struct Place: Hashable {
        let entity: EntityNumber
        let property: PropertyNumber
    }

    /// Passes what an entry does to `body`, in order.
    func forEachStep(of entry: Entry, _ body: (TextStep) throws -> Void) throws {
        let schema = history.schema(at: entry.sequence)
        var appeared: Set<Place> = []
        if entry.version != nil {
            let former = history.schema(before: entry.sequence).map(Self.places) ?? []
            let places = Self.places(of: schema)
            for place in former.subtracting(places) {
                try body(.drop(place.entity, place.property))
            }
            appeared = places.subtracting(former)
            // Objects that are there already have a default or a converted value, which no change says.
            try forEachText(at: appeared, entry.sequence) {
                try body(.set($0, $1, $2))
            }
        }
        for change in entry.changes {
            guard let entity = schema.entity(change.object.entity) else { continue }
            func set(_ property: SchemaProperty, _ value: Value) throws {
                let place = Place(entity: entity.number, property: property.number)
                guard property.isSearched, !appeared.contains(place) else { return }
                try body(.set(change.object, property.number, value.text))
            }
            switch change.kind {
            case .insert(let values, _):
                for (property, value) in zip(entity.slots, values) where !value.isNull {
                    try set(property, value)
                }
            case .update(let edits, _):
                for edit in edits {
                    guard let property = entity.property(edit.property) else { continue }
                    try set(property, edit.new)
                }
            case .delete: try body(.delete(change.object))
            }
        }
    }

    private static func places(of schema: Schema) -> Set<Place> {
        var places: Set<Place> = []
        for entity in schema.entities {
            for property in entity.slots where property.isSearched {
                places.insert(Place(entity: entity.number, property: property.number))
            }
        }
        return places
    }

    /// The texts that objects have in some attributes after an entry. Attributes that have been removed since are
    /// passed over.
    private func forEachText(
        at places: Set<Place>, _ sequence: SequenceNumber,
        _ body: (ObjectID, PropertyNumber, String) throws -> Void
    ) throws {
        guard !places.isEmpty, sequence > SequenceNumber(1) else { return }
        for place in places {
            guard let entity = store.schema.entity(place.entity),
                let property = entity.property(place.property), property.isSearched
            else { continue }
            var texts: [(ObjectID, String)] = []
            try store.read(at: sequence) { snapshot in
                try snapshot.objects(of: [entity.number]) { object in
                    if let text = try snapshot.value(of: property, in: object).text {
                        texts.append((object, text))
                    }
                    return .proceed
                }
            }
            for (object, text) in texts { try body(object, property.number, text) }
        }
    }
}

extension SchemaProperty {
    /// Whether its values are searched.
    var isSearched: Bool {
        guard let attribute, isPersistent, !isRemoved, slot != nil else { return false }
        return attribute.type == .string && !attribute.isConfidential
    }
}

extension Value {
    fileprivate var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
