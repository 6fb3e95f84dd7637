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
///
/// What is confidential by the newest model that has it is not indexed at all, also where it was not confidential once.
struct TextIndexFeed {
    private let store: Store
    private let history: ModelHistory
    private let hidden: Set<PropertyNumber>
    /// The entry that set the newest model.
    let model: SequenceNumber

    init(_ store: Store) throws {
        self.store = store
        history = try store.modelHistory()
        model = history.versions.last?.sequence ?? .zero
        hidden = history.confidential(through: model)
    }

    /// An attribute of an entity.
    private struct Place: Hashable {
        let entity: EntityNumber
        let property: PropertyNumber
    }

    /// Whether what was taken in when an earlier model was the newest is as it would be taken in now.
    func agrees(with earlier: SequenceNumber) -> Bool {
        earlier == model || history.confidential(through: earlier) == hidden
    }

    /// The first entry that set a model which this opening of the store does not know; nil for none.
    var firstUnknown: SequenceNumber? {
        let known = store.modelSequence
        return history.versions.first { $0.sequence > known }?.sequence
    }

    /// Passes what an entry does to `body`, in order.
    func forEachStep(of entry: Entry, _ body: (TextStep) throws -> Void) throws {
        let schema = history.schema(at: entry.sequence)
        var appeared: Set<Place> = []
        if entry.version != nil, let former = history.schema(before: entry.sequence).map(places) {
            let places = places(of: schema)
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
                guard isIndexed(property), !appeared.contains(place) else { return }
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

    private func isIndexed(_ property: SchemaProperty) -> Bool {
        property.isSearched && !hidden.contains(property.number)
    }

    private func places(of schema: Schema) -> Set<Place> {
        var places: Set<Place> = []
        for entity in schema.entities {
            for property in entity.slots where isIndexed(property) {
                places.insert(Place(entity: entity.number, property: property.number))
            }
        }
        return places
    }

    /// So many objects are read at a time.
    private static let objectsAtOnce = 5_000

    /// The texts that objects have in some attributes after an entry. Attributes that have been removed since are
    /// passed over.
    private func forEachText(
        at places: Set<Place>, _ sequence: SequenceNumber,
        _ body: (ObjectID, PropertyNumber, String) throws -> Void
    ) throws {
        for place in places {
            guard let entity = store.schema.entity(place.entity),
                let property = entity.property(place.property), isIndexed(property)
            else { continue }
            var objects: [ObjectID] = []
            try store.read(at: sequence) { snapshot in
                try snapshot.objects(of: [entity.number]) { object in
                    objects.append(object)
                    return .proceed
                }
            }
            var rest = objects[...]
            while !rest.isEmpty {
                var texts: [(ObjectID, String)] = []
                try store.read(at: sequence) { snapshot in
                    for object in rest.prefix(Self.objectsAtOnce) {
                        guard let text = try snapshot.value(of: property, in: object).text else {
                            continue
                        }
                        texts.append((object, text))
                    }
                }
                for (object, text) in texts { try body(object, property.number, text) }
                rest = rest.dropFirst(Self.objectsAtOnce)
            }
        }
    }
}

extension ModelHistory {
    /// The attributes that were confidential when an entry was the last, those that had been removed by then included:
    /// of them the last model that had them tells.
    fileprivate func confidential(through last: SequenceNumber) -> Set<PropertyNumber> {
        var confidential: Set<PropertyNumber> = []
        for version in versions where version.sequence <= last {
            for property in version.schema.entities.flatMap(\.slots) {
                guard let attribute = property.attribute else { continue }
                if attribute.isConfidential {
                    confidential.insert(property.number)
                } else {
                    confidential.remove(property.number)
                }
            }
        }
        return confidential
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
