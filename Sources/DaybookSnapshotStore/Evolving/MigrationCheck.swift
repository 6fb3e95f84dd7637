internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Checks the stored objects against what the steps to a new model demand of them.
///
/// All objects are checked in one read transaction, while others may write. What others have
/// changed meanwhile is checked again in the write transaction: see ``complete(for:to:in:)``.
///
/// ``run(in:)`` checks before the entry that sets the model is folded, and finds the values that
/// objects must get in it. Where that entry changes objects, ``verify(in:)`` checks again after it
/// is folded, when everything is in its final state.
struct MigrationCheck {
    private let steps: [ModelStep]
    private var projection: Projection
    private var schema: Schema
    private let before: Schema
    private let work: LongWork
    /// The changes of the entry, before it is folded.
    private let pending: [ObjectID: Change]
    private var isFolded = false
    /// The derived attributes whose values are worked out anew.
    private let renewed: Set<PropertyNumber>
    /// Whether objects of relationships are moved, which can be checked only afterwards.
    let bringsContent: Bool
    /// What relationships get when the objects of others are moved to them.
    private var members: [ObjectID: [MembershipEdit]] = [:]
    /// The values that objects get, once for each property, however many steps ask for it.
    private var edits: [ObjectID: [PropertyNumber: Edit]] = [:]
    private var findings = MigrationFindings()
    /// The values that must be unique, by step, in the order of index records.
    private var values: [Int: PutBatch] = [:]
    /// The objects that are checked again; nil at first, when all are checked.
    private var touched: Set<ObjectID>?

    /// - Parameters:
    ///   - steps: The steps.
    ///   - parts: The store by the model before.
    ///   - schema: The model after.
    ///   - pending: The changes that will be in the entry.
    ///   - work: Told of every object.
    init(
        _ steps: [ModelStep], _ parts: StoreParts, to schema: Schema, with pending: [Change] = [],
        _ work: LongWork = LongWork(nil)
    ) {
        self.steps = steps
        bringsContent = steps.contains { step in
            if case .content? = step.check { true } else { false }
        }
        self.pending = Dictionary(
            pending.map { ($0.object, $0) }, uniquingKeysWith: { first, _ in first })
        self.schema = schema
        self.work = work
        before = parts.projection.schema
        renewed = schema.derivationsRenewed(after: before)
        projection = Projection(tables: parts.tables, schema: schema)
    }

    /// The changes that objects need to fit: missing values get the default, and relationships get
    /// what is moved to them.
    var changes: [Change] {
        Set(edits.keys).union(members.keys).map { object in
            Change(
                object: object,
                kind: .update(
                    edits: (edits[object] ?? [:]).values.sorted { $0.property < $1.property },
                    members: (members[object] ?? []).sorted { $0.property < $1.property }))
        }
    }

    /// Whether objects must be checked again when the changes are folded.
    var isUnfinished: Bool { bringsContent || !edits.isEmpty }

    /// Checks all objects concerned.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/validation``, naming the first objects that do
    ///   not fit each step, and how many there are; what the work's handler throws.
    /// - Complexity: O(*n*) page reads, *n* the number of objects of the entities concerned; none where
    ///   no step demands anything.
    @discardableResult
    mutating func run(in transaction: borrowing some Reading & ~Copyable) throws -> [Change] {
        try expectWork(in: transaction)
        try check(in: transaction)
        return changes
    }

    /// Checks what the entry has made of the objects, after it is folded.
    ///
    /// - Throws: As ``run(in:)``.
    mutating func verify(in transaction: borrowing some Reading & ~Copyable) throws {
        isFolded = true
        try check(in: transaction)
    }

    /// Checks objects again that have been touched since ``run(in:)``.
    ///
    /// - Parameters:
    ///   - objects: All objects that were changed since, or that others began or ceased to refer to.
    ///   - schema: The model after, as it is numbered now.
    ///   - transaction: The transaction to read in.
    /// - Throws: As ``run(in:)``.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of these objects.
    mutating func complete(
        for objects: Set<ObjectID>, to schema: Schema,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        self.schema = schema
        projection = Projection(tables: projection.tables, schema: schema)
        touched = objects
        for object in objects { edits[object] = nil }
        try check(in: transaction)
    }

    private func expectWork(in transaction: borrowing some Reading & ~Copyable) throws {
        for step in steps {
            for entity in step.walks(from: before, to: schema) {
                try work.expect(entity, projection.tables.rows, in: transaction)
            }
        }
    }

    private mutating func check(in transaction: borrowing some Reading & ~Copyable) throws {
        for (index, step) in steps.enumerated() where isTimely(step.check) {
            switch step.check {
            case nil: continue
            case .values(let entity, let number):
                try checkValues(index, entity, number, in: transaction)
            case .unique(let entity, let number):
                try checkUnique(index, entity, number, in: transaction)
            case .counts(let entity, let number):
                try checkCounts(index, entity, number, in: transaction)
            case .exclusive(let entity, let number):
                try checkExclusive(index, entity, number, in: transaction)
            case .noObjects(let entity):
                try checkNone(index, of: entity, in: transaction)
            case .noReferences(let entity):
                try checkReferences(index, to: entity, in: transaction)
            case .content(let move):
                if !isFolded { try bringOver(move, index, in: transaction) }
            }
        }
        if let refusal = findings.refusal(of: steps) { throw refusal }
    }

    // MARK: - Checks

    /// Whether a check can be made now: changes that are not folded are known one by one, and so
    /// only show single values.
    private func isTimely(_ check: ModelStep.Check?) -> Bool {
        if isFolded || pending.isEmpty && !bringsContent { return true }
        switch check {
        case .values, .content: return true
        case .counts, .exclusive: return false
        default: return pending.isEmpty
        }
    }

    /// Gives the objects of a relationship to the one that replaces it.
    private mutating func bringOver(
        _ move: ModelStep.ContentMove, _ index: Int,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        var content = MovedContent(move, from: before, to: schema, projection.tables, work)
        try content.read(in: transaction)
        for (object, edit) in content.edits {
            edits[object, default: [:]][edit.property] = edit
        }
        for (object, edit) in content.members { members[object, default: []].append(edit) }
        for (object, message) in content.misfits { findings.add(index, object, message) }
    }

    private mutating func checkValues(
        _ index: Int, _ entity: EntityNumber, _ number: PropertyNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        // Values that are computed anew are checked where that is done.
        if !isFolded, renewed.contains(number) { return }
        let isStored = { (entity: SchemaEntity?) in
            entity?.property(number).flatMap { property in property.slot.map { (property, $0) } }
        }
        try forEachRow(of: entity, having: isStored, in: transaction) {
            check, part, object, row, bytes in
            let (property, slot) = part
            var value = try check.projection.value(slot, of: object, row, bytes)
            switch check.pending[object]?.kind {
            case .delete: return
            case .update(let edits, _):
                value = edits.first { $0.property == number }?.new ?? value
            case .insert, nil: break
            }
            if value.isNull, let source = try check.projection.source(of: slot, object, row, bytes)
            {
                check.findings.add(
                    index, object,
                    "'\(property.name)' of \(check.schema.name(of: object)) cannot be converted: it "
                        + "holds \(source.noun).")
                return
            }
            guard let misfit = property.misfit(of: value) else { return }
            let fallback = property.attribute?.defaultValue ?? .null
            if value.isNull, !fallback.isNull, !check.isFolded {
                check.edits[object, default: [:]][number] = Edit(
                    property: number, old: value, new: fallback)
                return
            }
            let failure = ValidationFailure(misfit, of: property, in: object, check.schema)
            check.findings.add(index, object, failure.message)
        }
    }

    private mutating func checkUnique(
        _ index: Int, _ entity: EntityNumber, _ number: PropertyNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let constraints = schema.entity(entity)?.constraints ?? []
        guard let constraint = constraints.first(where: { $0.number == number }) else { return }
        let root = schema.declarer(ofConstraint: constraint) ?? entity
        let own = { (entity: SchemaEntity?) in
            entity?.constraints.first { $0.number == number }.map { ($0, $0.slotCount) }
        }
        var records = PutBatch()
        var keys = IndexKeyWriter()
        try forEachRow(of: root, having: own, in: transaction) { check, own, object, row, bytes in
            let isThere = try check.projection.decoding(object) {
                () throws(DecodingFailure) in
                guard let layout = check.projection.foldedEntity(object.entity)?.layout else {
                    return false
                }
                let (constraint, slotCount) = own
                return try layout.withFields(slotCount, row, bytes) {
                    (row, bytes) throws(DecodingFailure) in
                    try keys.set(constraint, row, bytes, object)
                }
            }
            if isThere { records.add(keys.bytes) }
        }
        // Sorted, equal values stand side by side.
        var shared = try records.sharedValues()
        if let touched {
            shared += try records.valuesShared(with: values[index] ?? PutBatch(), except: touched)
        } else {
            values[index] = records
        }
        let names = constraint.properties.map { "'\($0.name)'" }.joined(separator: ", ")
        for (object, other) in shared {
            findings.add(
                index, object,
                "\(schema.name(of: object)) has the same \(names) as \(schema.name(of: other)).")
        }
    }

    private mutating func checkCounts(
        _ index: Int, _ entity: EntityNumber, _ number: PropertyNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let isRelationship = { (entity: SchemaEntity?) in
            entity?.property(number).flatMap { property in
                property.relationship.flatMap { relationship in
                    property.end.map { (property, relationship, $0) }
                }
            }
        }
        try forEachRow(of: entity, having: isRelationship, in: transaction) {
            check, part, object, _, _ in
            let (property, relationship, end) = part
            let members = try check.projection.members(
                of: property, in: object, at: .latest, in: transaction)
            let destination = check.schema.entity(end.destination)
            for member in members
            where destination?.family.contains(member.object.entity) != true {
                check.findings.add(
                    index, object,
                    "'\(property.name)' of \(check.schema.name(of: object)) leads to "
                        + "\(check.schema.name(of: member.object)), which is not "
                        + "a '\(relationship.destinationName)'.")
                return
            }
            let count = members.count
            let isTooFew =
                count == 0 ? !relationship.isOptional : count < relationship.minimumCount
            let isTooMany =
                relationship.isToMany && relationship.maximumCount > 0
                && count > relationship.maximumCount
            guard isTooFew || isTooMany else { return }
            check.findings.add(
                index, object,
                "'\(property.name)' of \(check.schema.name(of: object)) has \(count) objects.")
        }
    }

    private mutating func checkNone(
        _ index: Int, of entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        try forEachRow(ofJust: entity, in: transaction) { check, object, _, _ in
            check.findings.add(
                index, object,
                "\(check.before.name(of: object)) is an object of the entity itself.")
        }
    }

    /// Looks for references to objects of an entity through relationships that no longer lead
    /// there.
    private mutating func checkReferences(
        _ index: Int, to entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        func leads(_ property: SchemaProperty, in schema: Schema) -> Bool {
            guard let end = property.end else { return false }
            return schema.entity(end.destination)?.family.contains(entity) == true
        }
        let lost = schema.entities.flatMap(\.properties).filter { $0.end?.isStored == true }
            .filter { property in
                guard let was = before.property(property.number) else { return false }
                return leads(was, in: before) && !leads(property, in: schema)
            }
        let numbers = Set(lost.map(\.number)).sorted()
        guard !numbers.isEmpty else { return }
        try forEachRow(of: entity, having: { _ in () }, in: transaction) { check, _, object, _, _ in
            for number in numbers {
                let owners = try check.projection.referrers(
                    to: object, number, at: .latest, in: transaction)
                guard let owner = owners.first else { continue }
                let name = check.schema.property(number)?.name ?? "?"
                check.findings.add(
                    index, object,
                    "'\(name)' of \(check.schema.name(of: owner)) leads to "
                        + "\(check.before.name(of: object)).")
            }
        }
    }

    private mutating func checkExclusive(
        _ index: Int, _ entity: EntityNumber, _ number: PropertyNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        let own = { (entity: SchemaEntity?) in entity?.property(number) }
        try forEachRow(of: entity, having: own, in: transaction) { check, property, object, _, _ in
            let members: [Member] = try check.projection.members(
                of: property, in: object, at: .latest, in: transaction)
            for member in members {
                let owners = try check.projection.owners(
                    of: member.object, over: property, in: transaction)
                guard let other = owners.first(where: { $0 != object }),
                    // Of two that were there, the later one is named.
                    other < object || check.touched != nil
                else { continue }
                check.findings.add(
                    index, object,
                    "'\(property.name)' of \(check.schema.name(of: object)) leads to "
                        + "\(check.schema.name(of: member.object)), as that of "
                        + "\(check.schema.name(of: other)) does.")
            }
        }
    }

    // MARK: - Walking

    /// Walks the rows of an entity and of those that inherit from it, where they have a wanted
    /// part.
    private mutating func forEachRow<Part>(
        of entity: EntityNumber, having part: (SchemaEntity?) -> Part?,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (inout MigrationCheck, Part, ObjectID, RowLayout, RawSpan) throws -> Void
    ) throws {
        for member in schema.entity(entity)?.family ?? [entity] {
            guard let part = part(schema.entity(member)) else { continue }
            try forEachRow(ofJust: member, in: transaction) { check, object, row, bytes in
                try body(&check, part, object, row, bytes)
            }
        }
    }

    private mutating func forEachRow(
        ofJust entity: EntityNumber, in transaction: borrowing some Reading & ~Copyable,
        _ body: (inout MigrationCheck, ObjectID, RowLayout, RawSpan) throws -> Void
    ) throws {
        let (projection, work) = (projection, work)
        if let touched {
            for object in touched.filter({ $0.entity == entity }).sorted() {
                _ = try projection.withRow(of: object, at: .latest, in: transaction) {
                    bytes, row in
                    try body(&self, object, row, bytes)
                }
            }
            return
        }
        try work.begin(entity, projection.tables.rows, in: transaction)
        _ = try projection.walkRows(of: entity, in: transaction) { object, row, bytes in
            try work.reach(object)
            try body(&self, object, row, bytes)
            return .proceed
        }
    }
}
