package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

// Indexes as of the past. A row that has not changed since a moment has the same records now as then. For the
// objects that have changed there are the versions; what their records were is remembered in memory.

/// The index of a property as it is in the state of a snapshot.
struct StateIndex {
    /// Whether an index record is one of now or one that the object had then.
    enum Age {
        case present
        case former
    }

    let index: SchemaIndex
    /// The records of the objects that have changed since; nil in the present.
    let former: FormerRecords?
}

/// What serves a question by a property's index.
package enum IndexUse: Sendable, Hashable {
    /// The index of the present alone.
    case present
    /// The index of the present, and the records that so many changed objects had then. These were found in
    /// the entries since, or among all versions.
    case past(changed: Int, since: SequenceNumber, inEntries: Bool)
    /// All objects are read: too many have changed.
    case tooManyChanges(since: SequenceNumber)
    /// All objects are read: there is no such index, or not all of it.
    case none
}

extension Snapshot {
    /// What serves a question by a property's index in this state.
    package func indexUse(of property: SchemaProperty) throws -> IndexUse {
        try indexUse(of: SchemaIndex(of: property))
    }

    /// What serves a question by an index in this state.
    package func indexUse(of wanted: SchemaIndex) throws -> IndexUse {
        guard let index = try index(of: wanted) else {
            let hasIndex = try models.hasIndex(of: wanted, in: transaction)
            return hasIndex ? .tooManyChanges(since: sequence) : .none
        }
        guard let former = index.former else { return .present }
        return .past(
            changed: former.count, since: sequence, inEntries: former.source == .entries)
    }

    /// The index of a property in this state; nil when there is none, or too much has changed since.
    func index(of property: SchemaProperty) throws -> StateIndex? {
        try index(of: SchemaIndex(of: property))
    }

    /// An index in this state; nil when there is none, or too much has changed since.
    func index(of index: SchemaIndex) throws -> StateIndex? {
        guard try models.hasIndex(of: index, in: transaction) else { return nil }
        if isLatest { return StateIndex(index: index, former: nil) }
        return try formerRecords(of: index).map { StateIndex(index: index, former: $0) }
    }

    /// Walks an index in the order of the values, each as the ordered part of the key and the object.
    ///
    /// Records of now may be of objects that have changed since; ``withRow(of:_:_:)`` leaves these out.
    func scan(
        _ index: StateIndex, from lower: [UInt8], to upper: [UInt8],
        order: ScanOrder = .ascending,
        _ body: (_ value: RawSpan, ObjectID, StateIndex.Age) throws -> WalkStep
    ) throws {
        guard let former = index.former else {
            try projection.scanIndex(from: lower, to: upper, order: order, in: transaction) {
                value, object in try body(value, object, .present)
            }
            return
        }
        var rest = former.indices(from: lower, to: upper)
        var step = WalkStep.proceed
        func passOn(before value: RawSpan?) throws {
            while step == .proceed, !rest.isEmpty {
                let next = order == .ascending ? rest.lowerBound : rest.upperBound - 1
                let isNext = try former.withKey(at: next) { key in
                    try Projection.withParts(ofIndexKey: key) { own, object in
                        if let value {
                            let precedes =
                                order == .ascending
                                ? own.precedes(value) : value.precedes(own)
                            guard precedes else { return false }
                        }
                        step = try body(own, object, .former)
                        return true
                    }
                }
                guard isNext else { return }
                rest = order == .ascending ? rest.dropFirst() : rest.dropLast()
            }
        }
        try projection.scanIndex(from: lower, to: upper, order: order, in: transaction) {
            value, object in
            try passOn(before: value)
            if step == .proceed { step = try body(value, object, .present) }
            return step
        }
        try passOn(before: nil)
    }

    /// Calls `body` with the row in this state of an object whose index record was found; not at all for a
    /// record of now whose object has changed since.
    func withRow(
        of object: ObjectID, _ age: StateIndex.Age,
        _ body: (RawSpan, RowLayout) throws -> Void
    ) throws {
        switch age {
        case .present:
            try projection.withUnchangedRow(
                of: object, since: sequence, in: transaction, body)
        case .former:
            try projection.withReplacedRow(
                of: object, since: sequence, in: transaction, body)
        }
    }

    // MARK: - What has changed

    /// Under which what is known of an index in this state is remembered.
    func pastPlace(of index: SchemaIndex) throws -> PastIndexes.Place {
        PastIndexes.Place(
            property: index.number, moment: sequence,
            rewinds: try StoreMetadata.rewindsIfSound(projection.tables.meta, in: transaction))
    }

    /// The records that the objects had which have changed since; nil when these are too many.
    private func formerRecords(of index: SchemaIndex) throws -> FormerRecords? {
        let head = try StateFindings.head(of: journal, in: transaction)
        let place = try pastPlace(of: index)
        let known: FormerRecords?
        switch past.knowledge(of: place) {
        case .tooMany: return nil
        case .records(let records) where records.through >= head: return records
        case .records(let records): known = records
        case nil: known = nil
        }
        let holders = Holders(of: index, in: schema)
        var records = known ?? FormerRecords(through: sequence, from: .entries)
        if let changed = try changedObjects(
            of: holders.entities, after: records.through, through: head)
        {
            records.add(try keys(of: changed, holders), through: head)
        } else {
            guard let keys = try keysInVersions(holders) else {
                past.rememberTooMany(of: place)
                return nil
            }
            records = FormerRecords(through: sequence, from: .versions)
            records.add(keys, through: head)
        }
        return past.remember(records, of: place) ? records : nil
    }

    /// The entities whose objects are in an index, and where they have its properties.
    private struct Holders: Sendable {
        let index: SchemaIndex
        let slots: [EntityNumber: [Int]]

        init(of index: SchemaIndex, in schema: Schema) {
            self.index = index
            var slots: [EntityNumber: [Int]] = [:]
            for entity in schema.entities
            where !index.isCompound || entity.indexes.contains(where: { $0.number == index.number })
            {
                let own = index.elements.compactMap { entity.slot(of: $0.property.number) }
                if own.count == index.elements.count { slots[entity.number] = own }
            }
            self.slots = slots
        }

        var entities: [EntityNumber] { slots.keys.sorted() }
    }

    private func key(
        of object: ObjectID, _ holders: Holders, _ row: RowLayout, _ bytes: RawSpan
    ) throws -> [UInt8]? {
        guard let slots = holders.slots[object.entity] else { return nil }
        var values: [Value] = []
        for slot in slots { values.append(try projection.value(slot, of: object, row, bytes)) }
        guard holders.index.holdsNulls || !values.contains(where: \.isNull) else { return nil }
        return StoreKey.index(holders.index, values, object)
    }

    /// The keys of all objects that have changed since; nil when these are too many.
    private func keysInVersions(_ holders: Holders) throws -> [[UInt8]]? {
        var keys: [[UInt8]] = []
        for entity in holders.entities where past.hasRoom(for: keys.count) {
            try scanInParts([projection.tables.versions], of: entity) {
                [[UInt8]]()
            } walk: { part, own, lower, upper in
                _ = try own.projection.forEachReplaced(
                    from: lower, to: upper, since: own.sequence, in: own.transaction
                ) { object, row, bytes in
                    if let key = try own.key(of: object, holders, row, bytes) { part.append(key) }
                    return own.past.hasRoom(for: part.count) ? .proceed : .stop
                }
            } join: { part in
                keys += part
                return past.hasRoom(for: keys.count) ? .proceed : .stop
            }
        }
        return past.hasRoom(for: keys.count) ? keys : nil
    }

    private func keys(of objects: [ObjectID], _ holders: Holders) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        for object in objects {
            try projection.withReplacedRow(
                of: object, since: sequence, in: transaction
            ) { bytes, row in
                if let key = try key(of: object, holders, row, bytes) { keys.append(key) }
            }
        }
        return keys
    }

    /// So many versions are walked in the time in which an object is looked up that stands in an entry.
    private static let versionsAtOnce = 16

    /// The objects of some entities that entries change or delete, in order, each once; nil where it is faster to
    /// look among all versions, or entries cannot be read.
    func changedObjects(
        of entities: [EntityNumber], after first: SequenceNumber, through last: SequenceNumber
    ) throws -> [ObjectID]? {
        let wanted = Set(entities)
        var limit = 0
        func isWorthwhile(_ count: Int) throws -> Bool {
            guard count > limit else { return true }
            // A damaged journal may say any number.
            let (versions, isTooMany) = count.multipliedReportingOverflow(by: Self.versionsAtOnce)
            guard !isTooMany else { return false }
            limit = 2 * count
            return try projection.hasVersions(versions, of: entities, in: transaction)
        }
        let (passed, isTooMany) = last.rawValue.subtractingReportingOverflow(first.rawValue)
        guard !isTooMany, let passed = Int(exactly: passed), try isWorthwhile(passed) else {
            return nil
        }
        var objects: Set<ObjectID> = []
        var count = 0
        var isEnough = true
        var change = EncodedChange()
        do {
            try journal.entries(from: first.next, through: last, in: transaction) { entry in
                let payload = try EntryPayload.Encoded(entry)
                count += payload.changesCount
                isEnough = try isWorthwhile(count)
                guard isEnough else { return .stop }
                let bytes = payload.bytes.span.bytes
                var offset = payload.changesOffset
                for _ in 0..<payload.changesCount {
                    try change.read(bytes, at: &offset)
                    if change.kind != .insert, wanted.contains(change.object.entity) {
                        objects.insert(change.object)
                    }
                }
                return .proceed
            }
        } catch let error where error is JournalError || error is DecodingFailure {
            // The versions answer without the journal, whose damage is for `verify` to tell.
            return nil
        } catch let error as StoreError where error.code == .corrupt {
            return nil
        }
        return isEnough ? objects.sorted() : nil
    }
}
