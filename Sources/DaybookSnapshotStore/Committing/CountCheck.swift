internal import DaybookLMDB
internal import DaybookObjectModel

/// Checks that every relationship an entry touches leads to as many objects as the model demands.
///
/// Only relationships that the object does not keep as a value are counted here: to-many ones, and
/// to-one ones derived from their inverse. An entry touches both ends of a relationship but names
/// only one.
struct CountCheck {
    private let projection: Projection
    /// By how much the entry changes each count.
    private var differences: [RelationshipOfObject: Int] = [:]
    private var deleted: Set<ObjectID> = []

    private struct RelationshipOfObject: Hashable {
        let object: ObjectID
        let property: PropertyNumber
    }

    /// - Throws: ``StoreError`` with ``StoreError/Code/validation`` and every count that is wrong.
    static func check(
        _ changes: [Change], _ projection: Projection,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard projection.schema.entities.contains(where: { !$0.counted.isEmpty }) else { return }
        var check = CountCheck(projection: projection)
        for change in changes { check.tally(change) }
        let failures = try check.failures(in: transaction)
        if !failures.isEmpty { throw StoreError.validation(failures) }
    }

    private init(projection: Projection) {
        self.projection = projection
    }

    // MARK: - Tallying

    private mutating func tally(_ change: Change) {
        guard let entity = projection.schema.entity(change.object.entity) else { return }
        if change.isDelete { deleted.insert(change.object) }
        change.forEachCount(of: entity) { object, property, difference in
            let key = RelationshipOfObject(object: object, property: property)
            differences[key, default: 0] += difference
        }
    }

    // MARK: - Counting

    private func failures(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ValidationFailure] {
        let schema = projection.schema
        var failures: [ValidationFailure] = []
        for (key, difference) in differences where !deleted.contains(key.object) {
            guard let property = schema.entity(key.object.entity)?.property(key.property),
                property.isCounted
            else { continue }
            let count = try count(of: property, in: key.object, transaction) + difference
            guard let misfit = property.misfit(ofCount: count) else { continue }
            failures.append(ValidationFailure(misfit, of: property, in: key.object, schema))
        }
        return failures.sorted { $0.precedes($1) }
    }

    /// How many objects a relationship led to before the entry.
    private func count(
        of property: SchemaProperty, in object: ObjectID,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> Int {
        let isStored = property.end?.isStored == true
        guard let number = isStored ? property.number : property.end?.inverse else { return 0 }
        let prefix = StoreKey.links(of: object, number)
        let end = StoreKey.end(of: prefix) ?? []
        var count = 0
        try transaction.scan(
            isStored ? projection.tables.members : projection.tables.referrers,
            from: prefix.span.bytes, to: end.span.bytes, order: .ascending
        ) { _, _ in
            count += 1
            return .proceed
        }
        return count
    }
}
