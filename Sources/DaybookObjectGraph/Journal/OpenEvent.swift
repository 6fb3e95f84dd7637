import DaybookObjectModel

/// The current event: what has happened to each object since the last event ended.
struct OpenEvent {
    private(set) var records: [EventRecord] = []

    /// Whether nothing has happened.
    var isEmpty: Bool { records.isEmpty }

    /// What has happened to an object; nil for nothing.
    func record(of object: ManagedObject) -> EventRecord? {
        let index = Int(object.eventIndex)
        return records.indices.contains(index) ? records[index] : nil
    }

    /// Records that an object is new; values set in the same event need no record of their own.
    mutating func insert(_ object: ManagedObject) {
        object.eventIndex = Int32(records.count)
        object.undergo(.inserted)
        records.append(EventRecord(object: object, kind: .insert))
    }

    /// Records the value of a property before its first change.
    mutating func touch(_ property: PropertyNumber, _ old: Value, of object: ManagedObject) {
        records[index(of: object)].touch(property, old)
    }

    /// Records that a member joins, leaves or moves.
    mutating func move(
        _ member: ObjectID, in property: PropertyNumber, of object: ManagedObject,
        from old: Double?, to new: Double?
    ) {
        let index = index(of: object)
        let first = records[index].moves[property]?[member]
        records[index].moves[property, default: [:]][member] =
            EventRecord.Move(old: first.map(\.old) ?? old, new: new)
    }

    /// Records that an object is deleted.
    mutating func delete(_ object: ManagedObject, _ values: [Value], because cause: ObjectID?) {
        records[index(of: object)].delete(values, because: cause)
    }

    /// Records the object whose deletion has changed another.
    mutating func record(cause: ObjectID, of object: ManagedObject) {
        guard object.eventIndex >= 0 else { return }
        records[Int(object.eventIndex)].cause = cause
    }

    /// Begins the next event.
    ///
    /// - Returns: What has happened in this one.
    mutating func end() -> [EventRecord] {
        let ended = records
        records = []
        for index in ended.indices {
            ended[index].object.eventIndex = -1
            ended[index].object.undergo(.eventEnded)
        }
        return ended
    }

    /// The object's record, made if there is none.
    private mutating func index(of object: ManagedObject) -> Int {
        if object.eventIndex < 0 {
            object.eventIndex = Int32(records.count)
            var record = EventRecord(object: object, kind: .update)
            // Objects that are edited one after the other are usually edited alike.
            let expected = records.last?.edits.count ?? 0
            if expected > 1 { record.edits.reserveCapacity(expected) }
            records.append(record)
            object.undergo(.edited)
        }
        return Int(object.eventIndex)
    }
}
