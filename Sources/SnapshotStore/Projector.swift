internal import JournalLog
internal import LMDB
internal import ObjectModel

/// Folds one entry into the projection.
///
/// First every change is compared with what stands in the tables and turned into records; then the
/// records are written, table by table and sorted. So a change that does not fit is found before
/// anything is written. Saving, rebuilding and verifying all fold through here; where verifying only
/// keeps account, nothing is written, and what stood before is found in the tables of the past.
struct Projector {
    private let projection: Projection
    private let sequence: SequenceNumber
    /// What verifying keeps; nil when records are written.
    private let account: ProjectionAccount?
    private var encoder = RowEncoder()
    private var rows = PutBatch()
    private var versions = PutBatch()
    private var index = PutBatch()
    private var members = PutBatch()
    private var membersPast = PutBatch()
    private var referrers = PutBatch()
    private var referrersPast = PutBatch()
    private var removals: [(Table, [UInt8])] = []
    /// The greatest object number of each entity met so far, to tell that an object is new without
    /// looking for it.
    private var numbersMaximum: [EntityNumber: UInt64] = [:]

    private init(
        _ projection: Projection, _ sequence: SequenceNumber, _ account: ProjectionAccount? = nil
    ) {
        self.projection = projection
        self.sequence = sequence
        self.account = account
    }

    /// Folds the changes of an entry.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a change does not start from
    ///   what stands in the tables; nothing has been written then.
    static func fold(
        _ changes: [Change], of sequence: SequenceNumber, time: Int64, into projection: Projection,
        in transaction: borrowing WriteTransaction
    ) throws {
        var projector = Projector(projection, sequence)
        for change in changes { try projector.fold(change, in: transaction) }
        try projector.write(in: transaction)
        try record(time, sequence, projection, in: transaction)
    }

    /// Folds an entry that sets the model.
    static func fold(
        _ model: ManagedObjectModel, of sequence: SequenceNumber, time: Int64,
        into projection: Projection, in transaction: borrowing WriteTransaction
    ) throws {
        let key = StoreKey.sequence(sequence)
        let bytes = model.canonicalBytes
        try transaction.put(
            projection.tables.models, key.span.bytes, bytes.span.bytes, .upsert)
        try record(time, sequence, projection, in: transaction)
    }

    private static func record(
        _ time: Int64, _ sequence: SequenceNumber, _ projection: Projection,
        in transaction: borrowing WriteTransaction
    ) throws {
        let key = StoreKey.time(time, sequence)
        let nothing: [UInt8] = []
        try transaction.put(
            projection.tables.times, key.span.bytes, nothing.span.bytes, .upsert)
    }

    /// Keeps account of an entry in a store that has it already.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when the tables cannot be what folding
    ///   gives.
    static func count(
        _ entry: Entry, in account: ProjectionAccount, _ projection: Projection,
        in transaction: borrowing ReadTransaction
    ) throws {
        let tables = projection.tables
        let nothing: [UInt8] = []
        let time = StoreKey.time(entry.time, entry.sequence)
        account.add(tables.times, time.span.bytes, nothing.span.bytes)
        if let model = entry.model {
            let key = StoreKey.sequence(entry.sequence)
            let bytes = model.canonicalBytes
            account.add(tables.models, key.span.bytes, bytes.span.bytes)
            return
        }
        var projector = Projector(projection, entry.sequence, account)
        for change in entry.changes { try projector.fold(change, in: transaction) }
        account.add(projector.rows, to: tables.rows)
        account.add(projector.versions, to: tables.versions, from: tables.rows)
        account.add(projector.index, to: tables.index)
        account.add(projector.members, to: tables.members)
        account.add(projector.membersPast, to: tables.membersPast, from: tables.members)
        account.add(projector.referrers, to: tables.referrers)
        account.add(projector.referrersPast, to: tables.referrersPast, from: tables.referrers)
        for (table, key) in projector.removals where table == tables.index {
            account.subtract(table, key.span.bytes, nothing.span.bytes)
        }
    }

    // MARK: - One change

    private mutating func fold(
        _ change: Change, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let entity = projection.schema.entity(change.object.entity) else {
            throw mismatch(change, nil)
        }
        let key = StoreKey.object(change.object)
        switch change.kind {
        case .insert(let values, let members):
            guard try isNew(change.object, key, in: transaction) else {
                throw mismatch(change, nil)
            }
            encoder.encode(since: sequence, values)
            rows.add(key, encoder.bytes)
            for property in entity.indexedSlots {
                addIndex(property, property.slot.map { values[$0] }, change.object)
            }
            indexConstraints(of: entity, from: nil, to: values, change.object)
            for property in entity.referenceSlots {
                try connect(change.object, property, property.slot.map { values[$0] })
            }
            try fold(members, of: change, in: transaction)
        case .update(let edits, let members):
            let before = try rowBytes(change, key, in: transaction)
            let relationships = entity.storedToMany.count
            var (values, origins) = try projection.decoding(change.object) {
                () throws(DecodingFailure) in
                let layout = try RowLayout(before.span.bytes)
                return (
                    try layout.values(in: before.span.bytes),
                    try layout.origins(in: before.span.bytes, relationships: relationships)
                )
            }
            let old = values
            do {
                try Change.apply(edits, to: &values, of: change.object, entity)
            } catch {
                throw mismatch(change, error.property)
            }
            indexConstraints(of: entity, from: old, to: values, change.object)
            versions.add(StoreKey.version(change.object, sequence), before)
            origins.move(to: sequence, by: edits, members, entity)
            encoder.encode(since: sequence, values, origins: origins)
            rows.add(key, encoder.bytes)
            for edit in edits where edit.old != edit.new {
                guard let property = entity.property(edit.property) else { continue }
                if property.isIndexed {
                    removeIndex(property, edit.old, change.object)
                    addIndex(property, edit.new, change.object)
                } else if property.relationship != nil {
                    try disconnect(change.object, property, edit.old, in: transaction)
                    try connect(change.object, property, edit.new)
                }
            }
            try fold(members, of: change, in: transaction)
        case .delete(let values, let members):
            let before = try rowBytes(change, key, in: transaction)
            let stored = try projection.decoding(change.object) { () throws(DecodingFailure) in
                try RowLayout(before.span.bytes).values(in: before.span.bytes)
            }
            guard stored == values, account?.end(change.object) ?? true else {
                throw mismatch(change, nil)
            }
            versions.add(StoreKey.version(change.object, sequence), before)
            removals.append((projection.tables.rows, key))
            for property in entity.indexedSlots {
                removeIndex(property, property.slot.map { values[$0] }, change.object)
            }
            indexConstraints(of: entity, from: values, to: nil, change.object)
            for property in entity.referenceSlots {
                let value = property.slot.map { values[$0] }
                try disconnect(change.object, property, value, in: transaction)
            }
            try fold(members, of: change, in: transaction)
        }
    }

    private mutating func isNew(
        _ object: ObjectID, _ key: [UInt8], in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        if let account { return account.begin(object) }
        if numbersMaximum[object.entity] == nil {
            numbersMaximum[object.entity] = try projection.numberMaximum(
                of: object.entity, in: transaction)
        }
        if object.number > numbersMaximum[object.entity] ?? 0 {
            numbersMaximum[object.entity] = object.number
            return true
        }
        return try !transaction.contains(projection.tables.rows, key.span.bytes)
    }

    private func rowBytes(
        _ change: Change, _ key: [UInt8], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8] {
        if let account, !account.isThere(change.object) { throw mismatch(change, nil) }
        let found = try before(
            projection.tables.rows, projection.tables.versions, key, in: transaction)
        guard let found else { throw mismatch(change, nil) }
        let since = try projection.decoding(change.object) { () throws(DecodingFailure) in
            try RowLayout(found.span.bytes).since
        }
        guard since < sequence else {
            throw StoreError.corrupt(
                "The record of \(projection.schema.name(of: change.object)) says that it is of "
                    + "entry \(since), which cannot be before entry \(sequence)")
        }
        return found
    }

    /// What stands under a key before the entry: in the table of the present, or for an entry of long ago
    /// in that of the past.
    private func before(
        _ present: Table, _ past: Table, _ key: [UInt8],
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt8]? {
        guard let account else { return try transaction.get(present, key.span.bytes) { $0.array } }
        return try account.past(past, key, before: sequence, in: transaction)
    }

    private func mismatch(_ change: Change, _ property: PropertyNumber?) -> StoreError {
        let name = projection.schema.name(of: change.object)
        let entity = projection.schema.entity(change.object.entity)
        let place = property.flatMap { entity?.property($0)?.name }.map { "'\($0)' of \(name)" }
        return .corrupt(
            "Entry \(sequence) does not fit what stands in the tables for \(place ?? name)")
    }

    // MARK: - Indexes and connections

    private mutating func addIndex(
        _ property: SchemaProperty, _ value: Value?, _ object: ObjectID
    ) {
        guard let value, property.indexHolds(value) else { return }
        index.add(StoreKey.index(property.number, value, object))
    }

    private mutating func removeIndex(
        _ property: SchemaProperty, _ value: Value?, _ object: ObjectID
    ) {
        guard let value, property.indexHolds(value) else { return }
        removals.append(
            (projection.tables.index, StoreKey.index(property.number, value, object)))
    }

    private mutating func indexConstraints(
        of entity: SchemaEntity, from old: [Value]?, to new: [Value]?, _ object: ObjectID
    ) {
        for constraint in entity.constraints where constraint.isCompound {
            let before = old.flatMap { constraint.key(of: constraint.values(in: $0)) }
            let after = new.flatMap { constraint.key(of: constraint.values(in: $0)) }
            guard before != after else { continue }
            let id = StoreKey.object(object)
            if let before { removals.append((projection.tables.index, before + id)) }
            if let after { index.add(after + id) }
        }
    }

    private mutating func connect(
        _ owner: ObjectID, _ property: SchemaProperty, _ value: Value?
    ) throws {
        guard let destination = value?.reference else { return }
        let key = StoreKey.link(from: destination, property.number, to: owner)
        try addReferrer(key, owner)
    }

    private mutating func addReferrer(_ key: [UInt8], _ owner: ObjectID) throws {
        guard account?.begin(projection.tables.referrers, key) ?? true else {
            throw StoreError.corrupt(
                "The reference of \(projection.schema.name(of: owner)) that entry \(sequence) "
                    + "begins is there already")
        }
        referrers.add(key, StoreKey.sequence(sequence))
    }

    private mutating func disconnect(
        _ owner: ObjectID, _ property: SchemaProperty, _ value: Value?,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let destination = value?.reference else { return }
        let key = StoreKey.link(from: destination, property.number, to: owner)
        try endReferrer(key, owner, in: transaction)
    }

    private mutating func endReferrer(
        _ key: [UInt8], _ owner: ObjectID, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let table = projection.tables.referrers
        let past = projection.tables.referrersPast
        guard account?.end(table, key) ?? true,
            let since = try before(table, past, key, in: transaction)
        else {
            throw StoreError.corrupt(
                "The reference of \(projection.schema.name(of: owner)) that entry \(sequence) "
                    + "ends is not in the tables")
        }
        referrersPast.add(key + StoreKey.sequence(sequence), since)
        removals.append((table, key))
    }

    private mutating func fold(
        _ edits: [MembershipEdit], of change: Change,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let owner = change.object
        for edit in edits {
            for member in edit.removed {
                let key = StoreKey.link(from: owner, edit.property, to: member.object)
                let table = projection.tables.members
                guard account?.end(table, key) ?? true,
                    let found = try before(
                        table, projection.tables.membersPast, key, in: transaction),
                    found.suffix(8) == member.orderBytes[...]
                else {
                    throw mismatch(change, edit.property)
                }
                membersPast.add(key + StoreKey.sequence(sequence), found)
                removals.append((table, key))
                let back = StoreKey.link(from: member.object, edit.property, to: owner)
                try endReferrer(back, owner, in: transaction)
            }
            for member in edit.added {
                let key = StoreKey.link(from: owner, edit.property, to: member.object)
                let isMoved = edit.removed.contains { $0.object == member.object }
                let table = projection.tables.members
                let isThere =
                    try account.map { !$0.begin(table, key) }
                    ?? (!isMoved && transaction.contains(table, key.span.bytes))
                if isThere { throw mismatch(change, edit.property) }
                members.add(key, StoreKey.sequence(sequence) + member.orderBytes)
                try addReferrer(
                    StoreKey.link(from: member.object, edit.property, to: owner), owner)
            }
        }
    }

    // MARK: - Writing

    private mutating func write(in transaction: borrowing WriteTransaction) throws {
        let tables = projection.tables
        for (table, key) in removals {
            guard try transaction.delete(table, key.span.bytes) else {
                throw StoreError.corrupt(
                    "A record of '\(table.name)' that entry \(sequence) ends is not there")
            }
        }
        try rows.write(to: tables.rows, in: transaction)
        try versions.write(to: tables.versions, in: transaction)
        try index.write(to: tables.index, in: transaction)
        try members.write(to: tables.members, in: transaction)
        try membersPast.write(to: tables.membersPast, in: transaction)
        try referrers.write(to: tables.referrers, in: transaction)
        try referrersPast.write(to: tables.referrersPast, in: transaction)
    }
}

extension RowOrigins {
    /// Notes what an entry changes.
    fileprivate mutating func move(
        to sequence: SequenceNumber, by edits: [Edit], _ memberships: [MembershipEdit],
        _ entity: SchemaEntity
    ) {
        for edit in edits where edit.old != edit.new {
            guard let slot = entity.property(edit.property)?.slot else { continue }
            values[slot] = sequence
        }
        for edit in memberships where !edit.isEmpty {
            let place = entity.storedToMany.firstIndex { $0.number == edit.property }
            if let place { members[place] = sequence }
        }
    }
}

extension SchemaProperty {
    /// Whether the index has a record for an object with this value. Unique indexes hold no nulls,
    /// because any number of objects may have none.
    func indexHolds(_ value: Value) -> Bool {
        !value.isNull || attribute?.isUnique != true
    }
}

extension Member {
    fileprivate var orderBytes: [UInt8] {
        var writer = KeyWriter(capacity: 8)
        writer.append(order.bitPattern)
        return writer.bytes
    }
}
