// The room of deriving: the values of derived attributes, worked out when everything else of an entry is
// settled. It reads the tables before the entry and the changes of the entry, and writes nothing.
//
// An entry carries derived values like any others: so folding, replaying, reading the past, blaming
// and following need not know of them, and an entry keeps what its readers were shown, however a
// later release folds text. Everything before an entry (a context, a merge, an undo) has no derived
// values.

internal import DaybookLMDB
internal import DaybookObjectModel

/// Completes the changes of an entry with the derived values that follow from them.
struct DerivedValues {
    let projection: Projection
    private var changes: [Change]
    private var positions: [ObjectID: Int]
    private var failures: [ValidationFailure] = []
    /// The forms of texts that an entry of another store has already, by object.
    private let given: [ObjectID: Change]

    var schema: Schema { projection.schema }

    /// Completes changes.
    ///
    /// - Parameters:
    ///   - changes: One for each object, as everything else has left them. Derived values in them do
    ///     not count.
    ///   - projection: The tables before the entry, by the model in which the changes are.
    ///   - renewed: The attributes whose values are worked out for all objects.
    ///   - given: The changes of an entry that another store has made: the forms of texts in it stay as
    ///     they are, for they may come from other tables of Unicode.
    ///   - transaction: The transaction to read in.
    /// - Returns: The changes in the order of an entry.
    /// - Throws: ``StoreError`` with ``StoreError/Code/validation`` and every value that does not fit its
    ///   attribute.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes; for a least or greatest value
    ///   that goes, and for a sum of binary numbers, O(*m*) more, *m* the number of members; O(*n*) for
    ///   attributes that are renewed.
    static func completed(
        _ changes: [Change], _ projection: Projection, renewing renewed: Set<PropertyNumber> = [],
        given: [Change] = [], in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Change] {
        guard !projection.schema.derivations.isEmpty else { return changes }
        var values = DerivedValues(changes, projection, given)
        for derivation in projection.schema.derivations {
            try values.work(
                out: derivation, isRenewed: renewed.contains(derivation.property),
                in: transaction)
        }
        guard values.failures.isEmpty else { throw StoreError.validation(values.failures) }
        try values.completeDeletes(in: transaction)
        values.changes.removeAll(where: \.isEmpty)
        values.changes.sortAsInEntry()
        return values.changes
    }

    init(_ changes: [Change], _ projection: Projection, _ given: [Change]) {
        self.projection = projection
        self.given = Dictionary(given.map { ($0.object, $0) }, uniquingKeysWith: { $1 })
        self.changes = changes.withoutDerived(in: projection.schema)
        positions = Dictionary(
            zip(self.changes.map(\.object), self.changes.indices), uniquingKeysWith: { $1 })
    }

    /// The changes without derived values.
    var ownChanges: [Change] { changes }

    /// What the entry does to an object; nil for nothing.
    func change(of object: ObjectID) -> Change? { positions[object].map { changes[$0] } }

    // MARK: - One attribute

    private mutating func work(
        out derivation: SchemaDerivation, isRenewed: Bool,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        var found: [ObjectID: Value] = [:]
        if case .text(let form, let source) = derivation.formula {
            found = texts(form, of: source, in: derivation)
            if isRenewed {
                try forEachObject(of: derivation.entity, in: transaction) { object in
                    found[object] = try value(after: source, of: object, in: transaction)
                        .text(form)
                }
            }
        } else {
            var movements = DerivedMovements(of: derivation, self)
            try movements.gather(in: transaction)
            for (object, movement) in movements.movements where !isRenewed {
                found[object] = try value(
                    of: derivation, in: object, after: movement, in: transaction)
            }
            if isRenewed {
                try forEachObject(of: derivation.entity, in: transaction) { object in
                    let movement = movements.movements[object] ?? DerivedMovements.Movement()
                    found[object] = try value(
                        of: derivation, in: object, fromMembersAfter: movement, in: transaction)
                }
            }
        }
        for (object, value) in found.sorted(by: { $0.key < $1.key }) {
            try set(value, derivation.property, of: object, in: transaction)
        }
    }

    /// The forms of the texts that the entry sets.
    private func texts(
        _ form: Derivation.TextForm, of source: PropertyNumber, in derivation: SchemaDerivation
    ) -> [ObjectID: Value] {
        let family = Set(schema.entity(derivation.entity)?.family ?? [])
        var found: [ObjectID: Value] = [:]
        for change in changes where family.contains(change.object.entity) {
            guard !change.isDelete, let value = new(source, of: change) else { continue }
            guard let given = given[change.object] else {
                found[change.object] = value.text(form)
                continue
            }
            // Where it has no form, the form did not change.
            if let text = new(derivation.property, of: given) { found[change.object] = text }
        }
        return found
    }

    /// A value that a change sets; nil when it leaves it as it is.
    func new(_ property: PropertyNumber, of change: Change) -> Value? {
        switch change.kind {
        case .insert(let values, _):
            guard let slot = schema.entity(change.object.entity)?.slot(of: property),
                slot < values.count
            else { return .null }
            return values[slot]
        case .update(let edits, _): return edits.first { $0.property == property }?.new
        case .delete: return nil
        }
    }

    /// A value that an object has before the entry.
    func value(
        before property: PropertyNumber, of object: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Value {
        guard let slot = schema.entity(object.entity)?.slot(of: property) else { return .null }
        return try projection.withRow(of: object, at: .latest, in: transaction) { bytes, layout in
            try projection.value(slot, of: object, layout, bytes)
        } ?? .null
    }

    /// A value that an object has after the entry.
    func value(
        after property: PropertyNumber, of object: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> Value {
        if let change = change(of: object) {
            if change.isDelete { return .null }
            if let value = new(property, of: change) { return value }
        }
        return try value(before: property, of: object, in: transaction)
    }

    private func forEachObject(
        of entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable,
        _ body: (ObjectID) throws -> Void
    ) throws {
        let family = schema.entity(entity)?.family ?? []
        try projection.objects(of: family, at: .latest, isLatest: true, in: transaction) { object in
            if change(of: object)?.isDelete != true { try body(object) }
            return .proceed
        }
        let members = Set(family)
        for change in changes where change.isInsert && members.contains(change.object.entity) {
            try body(change.object)
        }
    }

    // MARK: - Setting

    /// Puts a value into the changes.
    private mutating func set(
        _ value: Value, _ number: PropertyNumber, of object: ObjectID,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let property = schema.entity(object.entity)?.property(number),
            let slot = property.slot
        else { return }
        let value = value.normalized
        if let misfit = property.misfit(of: value) {
            let objection = "is derived from values that do not fit: it \(misfit.objection)"
            failures.append(
                ValidationFailure(
                    ValueMisfit(misfit.reason, objection), of: property, in: object, schema))
            return
        }
        if let position = positions[object],
            case .insert(var values, let members) = changes[position].kind
        {
            values[slot] = value
            changes[position].kind = .insert(values: values, members: members)
            return
        }
        let old = try self.value(before: number, of: object, in: transaction)
        guard old != value else { return }
        let edit = Edit(property: number, old: old, new: value)
        guard let position = positions[object] else {
            positions[object] = changes.count
            changes.append(Change(object: object, kind: .update(edits: [edit], members: [])))
            return
        }
        guard case .update(var edits, let members) = changes[position].kind else { return }
        edits.append(edit)
        edits.sort { $0.property < $1.property }
        changes[position].kind = .update(edits: edits, members: members)
    }

    /// Adds to deletes the derived values that their objects had.
    private mutating func completeDeletes(
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        for position in changes.indices {
            let object = changes[position].object
            guard case .delete(var values, let members) = changes[position].kind,
                let slots = schema.entity(object.entity)?.derivedSlots, !slots.isEmpty
            else { continue }
            for property in slots {
                guard let slot = property.slot, slot < values.count else { continue }
                values[slot] = try value(before: property.number, of: object, in: transaction)
            }
            changes[position].kind = .delete(values: values, members: members)
        }
    }
}

extension Value {
    /// A text in another form; null for anything else.
    func text(_ form: Derivation.TextForm) -> Value {
        if case .string(let text) = self { .string(form.text(text)) } else { .null }
    }
}
