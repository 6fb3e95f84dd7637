import Daybook
import DaybookAudit
import DaybookObjectModel

/// Carrying out the events of one step.
///
/// Rows refer to rows that come later in the same step, and another row may briefly still refer to
/// a deleted one. So attributes come first, then relationships, then deletes. What followed from
/// these by delete rules there follows here as well, and says so; what does not is made up for.
extension Importer {
    /// Relationships that an event sets.
    private struct Connection {
        let object: ManagedObject
        let members: [JSONMember]
        let received: Received
    }

    /// The objects that a step deletes, each with its line and whether another delete has caused its own.
    private struct Doomed {
        private(set) var inOrder: [(object: ManagedObject, line: Int, isCaused: Bool)] = []
        private(set) var objects: Set<ManagedObject> = []

        mutating func insert(_ object: ManagedObject, line: Int, isCaused: Bool) {
            if objects.insert(object).inserted { inOrder.append((object, line, isCaused)) }
        }
    }

    func apply(_ step: [Received]) throws {
        var doomed = Doomed()
        var connections: [Connection] = []
        var checked: Set<ManagedObject> = []
        for received in step {
            try naming(received.line) {
                let event = received.event
                let entity = try entity(of: event)
                let object = try object(of: received, entity, notIn: doomed.objects)
                if event.operation != .insert, !options.ignoresBefore,
                    event.operation != .delete || !doomed.objects.contains(object)
                {
                    try check(event, entity, object, isFirst: checked.insert(object).inserted)
                }
                directory.remember(event, object.objectID, of: entity)
                guard event.operation != .delete else {
                    return doomed.insert(
                        object, line: received.line, isCaused: event.isCaused)
                }
                let row = try split(event.after ?? [], entity)
                try recorder.set(
                    row.attributes + nulls(event, entity), of: object, received.line)
                recorder.matcher.markTouched(object)
                connections.append(
                    Connection(
                        object: object, members: row.relationships, received: received))
            }
        }
        for isCaused in [false, true] {
            for connection in connections
            where connection.received.event.isCaused == isCaused
                && !doomed.objects.contains(connection.object)
            {
                try naming(connection.received.line) { try connect(connection) }
            }
            for (object, line, isCausedDelete) in doomed.inOrder where isCausedDelete == isCaused {
                try delete(object, line, unlessIn: doomed.objects)
            }
        }
    }

    /// Deletes an object, unless a delete rule has deleted it with another one.
    private func delete(
        _ object: ManagedObject, _ line: Int, unlessIn doomed: Set<ManagedObject>
    ) throws {
        guard !object.isDeleted else {
            return recorder.trace.count(.delete, of: object, line: line)
        }
        try release(from: object, unlessIn: doomed)
        recorder.delete(object, line)
    }

    /// Lets go of what an object refers to and a delete rule would delete with it, though the source has not. What
    /// refers to the object goes by the rule: some sources do not tell of that.
    private func release(
        from object: ManagedObject, unlessIn doomed: Set<ManagedObject>
    ) throws {
        let entity = try recorder.entity(named: object.objectID.entityName)
        for property in entity.properties
        where property.relationship?.deleteRule == .cascade
            && (property.slot != nil || property.isStoredToMany)
        {
            let targets = object.relatedObjects(forKey: property.name)
            let going = targets.filter(doomed.contains)
            if going.count < targets.count {
                object.setRelatedObjects(going, forKey: property.name)
            }
        }
    }

    /// Gives a problem the line of its event, which is not the line being read.
    private func naming<Result>(_ line: Int, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var problem as LineProblem {
            problem.line = problem.line ?? line
            throw problem
        }
    }

    // MARK: - Finding

    private func entity(of event: ForeignEvent) throws -> SchemaEntity {
        if let entity = directory.entity(of: event) { return entity }
        let table = event.tables.first ?? ""
        throw LineProblem(
            "There is no entity '\(table)'; say which one the table is with "
                + "'--table \(table)=\(recorder.schema.entities.first?.name ?? "Country")'.")
    }

    /// The object of an event, made if the event says so.
    private func object(
        of received: Received, _ entity: SchemaEntity, notIn doomed: Set<ManagedObject>
    ) throws -> ManagedObject {
        let event = received.event
        if event.operation == .insert { return try recorder.newObject(of: entity, received.line) }
        if let object = try existingObject(of: event, entity, notIn: doomed) {
            if event.operation != .delete {
                recorder.trace.count(.update, of: object, line: received.line)
            }
            return object
        }
        guard event.operation == .read else {
            throw LineProblem(
                "The store has no such '\(entity.name)' to \(event.operation). Import the stream "
                    + "from its beginning, or the state that it begins with.", code: .conflict)
        }
        return try recorder.newObject(of: entity, received.line)
    }

    private func existingObject(
        of event: ForeignEvent, _ entity: SchemaEntity, notIn doomed: Set<ManagedObject>
    ) throws -> ManagedObject? {
        if let name = event.name, let known = directory.known(name, in: event.table) {
            return try object(known, name)
        }
        guard let key = directory.key(of: entity) else {
            guard event.name == nil || event.operation != .read else { return nil }
            throw noKey(of: entity)
        }
        guard
            let value = event.before?.first(named: key.name) ?? event.after?.first(named: key.name),
            value != .null
        else {
            throw LineProblem(
                "'\(key.name)' is missing; it says which '\(entity.name)' is meant.")
        }
        return try objects(of: entity, key, value).first { !doomed.contains($0) }
    }

    private func noKey(of entity: SchemaEntity) -> LineProblem {
        LineProblem(
            "Nothing says which '\(entity.name)' is meant: name a unique attribute with "
                + "'--key \(entity.name)=ATTRIBUTE'.")
    }

    /// The object that the source has a name for.
    private func object(
        _ known: ForeignDirectory.Known, _ name: String
    ) throws -> ManagedObject? {
        let entity = known.entity
        if let id = known.id {
            return try recorder.object(named: recorder.schema.name(of: id.object))
        }
        guard let key = directory.key(of: entity), let value = known.key, value != .null else {
            throw LineProblem(
                "'\(name)' was imported at an earlier time, and nothing says which object it has "
                    + "become: name a unique attribute with '--key \(entity.name)=ATTRIBUTE'.")
        }
        return try objects(of: entity, key, value).first
    }

    private func objects(
        of entity: SchemaEntity, _ key: SchemaProperty, _ json: JSONValue
    ) throws -> [ManagedObject] {
        guard let attribute = key.attribute else { return [] }
        var match = ObjectMatcher.Match(entity: entity)
        match.attributes = [(key, try recorder.value(json, of: attribute))]
        return try recorder.matcher.objects(match)
    }

    // MARK: - Rows

    /// The attributes and the relationships of a row.
    private func split(
        _ row: [JSONMember], _ entity: SchemaEntity
    ) throws -> (attributes: [JSONMember], relationships: [JSONMember]) {
        var attributes: [JSONMember] = []
        var relationships: [JSONMember] = []
        for member in try recorder.elementMembers(row, of: entity)
        where member.name != DebeziumFormat.identifier {
            guard let property = entity.property(named: member.name) else {
                guard !options.ignoresUnknown else { continue }
                _ = try recorder.property(named: member.name, of: entity)
                continue
            }
            // What is derived follows here from the rest, as it did there.
            if property.isDerived { continue }
            if let attribute = property.attribute {
                attributes.append(
                    JSONMember(member.name, member.value.plain(for: attribute.type)))
            } else {
                relationships.append(member)
            }
        }
        return (attributes, relationships)
    }

    /// The attributes of a new object that the event omits because they are null.
    private func nulls(
        _ event: ForeignEvent, _ entity: SchemaEntity
    ) throws -> [JSONMember] {
        guard event.operation == .insert, event.isWhole else { return [] }
        let after = try recorder.elementMembers(event.after ?? [], of: entity)
        return entity.properties.filter { property in
            property.isPersistent && !property.isDerived && property.attribute?.isOptional == true
                && after.first(named: property.name) == nil
        }.map { JSONMember($0.name, .null) }
    }

    private func connect(_ connection: Connection) throws {
        let event = connection.received.event
        let stream = event.origin.stream
        let entity = try recorder.entity(named: connection.object.objectID.entityName)
        var members: [JSONMember] = []
        for member in connection.members {
            let property = try recorder.property(named: member.name, of: entity)
            members.append(
                JSONMember(member.name, try reference(member.value, property, stream)))
        }
        let known = event.name.flatMap { directory.known($0, in: event.table) }
        for membership in event.memberships {
            guard entity.property(named: membership.name) != nil || !options.ignoresUnknown else {
                continue
            }
            let property = try recorder.property(named: membership.name, of: entity)
            let names = known?.members(of: membership.name).map { JSONValue.string($0) } ?? []
            members.append(
                JSONMember(membership.name, try reference(.array(names), property, stream)))
        }
        try recorder.set(members, of: connection.object, connection.received.line)
        recorder.matcher.markTouched(connection.object)
    }

    /// A relationship of the source as one of this store: names of objects from earlier in the
    /// stream, or values of the destination's key.
    private func reference(
        _ json: JSONValue, _ property: SchemaProperty, _ stream: String
    ) throws -> JSONValue {
        guard property.relationship?.isToMany == true else {
            return json == .null ? .null : try name(ofDestination: json, property, stream)
        }
        switch json {
        case .null: return .array([])
        case .array(let elements):
            return .array(try elements.map { try name(ofDestination: $0, property, stream) })
        default:
            throw LineProblem(
                "'\(property.name)' leads to many objects: a list was expected, not \(json.noun).")
        }
    }

    private func name(
        ofDestination json: JSONValue, _ property: SchemaProperty, _ stream: String
    ) throws -> JSONValue {
        switch json {
        case .string, .number: break
        default:
            throw LineProblem(
                "'\(property.name)' is wrong: the key of the object that it leads to was expected, "
                    + "not \(json.noun).")
        }
        guard let object = try destination(json, property, stream) else {
            throw LineProblem(
                "'\(property.name)' leads to a "
                    + "'\(property.relationship?.destinationName ?? "")' that neither the stream nor "
                    + "the store has.", code: .conflict)
        }
        return .object([JSONMember("object", .string(object.objectID.description))])
    }

    private func destination(
        _ json: JSONValue, _ property: SchemaProperty, _ stream: String
    ) throws -> ManagedObject? {
        guard let end = property.end, let entity = recorder.schema.entity(end.destination) else {
            throw LineProblem("'\(property.name)' is not a relationship.")
        }
        if case .string(let name) = json {
            let known = directory.known(name, in: stream, leadingTo: entity)
            guard known.count < 2 else {
                throw LineProblem(
                    "'\(property.name)' cannot be '\(name)': \(known.count) tables of the stream "
                        + "have a row of that name, and '\(entity.name)' stands for each of them.")
            }
            if let only = known.first { return try object(only, name) }
        }
        guard let key = directory.key(of: entity) else { throw noKey(of: entity) }
        return try objects(of: entity, key, json).first
    }

    // MARK: - Checking

    /// Compares the old values of an event with the present ones.
    ///
    /// Relationships are set after all events of a step, so they can only be compared for the first
    /// event of an object.
    private func check(
        _ event: ForeignEvent, _ entity: SchemaEntity, _ object: ManagedObject, isFirst: Bool
    ) throws {
        let row = try split(event.before ?? [], entity)
        for member in row.attributes {
            let property = try recorder.property(named: member.name, of: entity)
            guard let attribute = property.attribute, property.isPersistent else { continue }
            let value = try recorder.value(member.value, of: attribute)
            guard object.storedValue(forKey: member.name) == value else {
                throw mismatch(member.name, object)
            }
        }
        guard isFirst else { return }
        for member in row.relationships {
            let property = try recorder.property(named: member.name, of: entity)
            let names: [JSONValue] =
                switch member.value {
                case .null: []
                case .array(let elements): elements
                default: [member.value]
                }
            let objects = try names.compactMap {
                try destination($0, property, event.origin.stream)
            }
            let present = object.relatedObjects(forKey: member.name)
            let isSame =
                property.relationship?.isOrdered == true
                ? present == objects : Set(present) == Set(objects)
            guard isSame, objects.count == names.count else {
                throw mismatch(member.name, object)
            }
        }
    }

    private func mismatch(_ name: String, _ object: ManagedObject) -> LineProblem {
        LineProblem(
            "'\(name)' of '\(object.objectID.description)' is not what the stream says it was "
                + "before. Someone else has changed it; import with '--ignore-before' to overrule "
                + "that.", code: .conflict)
    }
}

extension JSONValue {
    /// The value in the form of an attribute's type: some databases keep truth values as 0 and 1.
    fileprivate func plain(for type: AttributeType) -> JSONValue {
        switch (type, self) {
        case (.bool, .number("0")): .bool(false)
        case (.bool, .number("1")): .bool(true)
        default: self
        }
    }
}
