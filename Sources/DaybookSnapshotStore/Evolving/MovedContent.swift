internal import DaybookLMDB
internal import DaybookObjectModel

/// What objects get when the objects of a relationship are moved to the one that replaces it.
struct MovedContent {
    private let move: ModelStep.ContentMove
    private let before: Schema
    private let after: Schema
    private let tables: StoreTables
    private let work: LongWork
    private(set) var edits: [(ObjectID, Edit)] = []
    private(set) var members: [(ObjectID, MembershipEdit)] = []
    /// The objects that have too many, with the sentence that says so.
    private(set) var misfits: [(ObjectID, String)] = []

    /// - Parameters:
    ///   - move: What is moved, and where.
    ///   - before: The model before.
    ///   - after: The model after.
    ///   - tables: Where the objects are.
    ///   - work: Told of every object.
    init(
        _ move: ModelStep.ContentMove, from before: Schema, to after: Schema,
        _ tables: StoreTables, _ work: LongWork
    ) {
        self.move = move
        self.before = before
        self.after = after
        self.tables = tables
        self.work = work
    }

    /// Reads all objects of the old relationship.
    ///
    /// - Throws: What the work's handler throws.
    /// - Complexity: O(*n*) page reads, *n* the number of objects of the entities that had it.
    mutating func read(in transaction: borrowing some Reading & ~Copyable) throws {
        guard let target = after.property(move.target), let end = target.end else { return }
        let links = try links(in: transaction)
        for (object, others) in links.sorted(by: { $0.key < $1.key }) {
            if target.relationship?.isToMany != true {
                guard others.count == 1, let other = others.first else {
                    addCrowd(target.name, of: object, others.count)
                    continue
                }
                edits.append(
                    (object, Edit(property: target.number, old: .null, new: .object(other))))
                continue
            }
            let isOrdered = target.relationship?.isOrdered == true
            let added = others.enumerated().map { position, other in
                Member(object: other, order: isOrdered ? Double(position + 1) : 0)
            }
            members.append((object, MembershipEdit(property: target.number, added: added)))
        }
        guard !end.inverseIsToMany else { return }
        let name = end.inverse.flatMap { after.property($0)?.name } ?? target.name
        let owners = links.values.reduce(into: [ObjectID: Int]()) { counts, others in
            for other in others { counts[other, default: 0] += 1 }
        }
        for (object, count) in owners.sorted(by: { $0.key < $1.key }) where count > 1 {
            addCrowd(name, of: object, count)
        }
    }

    private mutating func addCrowd(_ name: String, of object: ObjectID, _ count: Int) {
        misfits.append(
            (
                object,
                "'\(name)' of \(after.name(of: object)) has \(count) objects, and can have only one."
            ))
    }

    /// The objects that each object is to have, in order.
    private func links(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ObjectID: [ObjectID]] {
        var links: [ObjectID: [ObjectID]] = [:]
        let earlier = Projection(tables: tables, schema: before)
        for entity in before.entity(move.entity)?.family ?? []
        where after.entity(entity) != nil {
            guard let property = before.entity(entity)?.property(move.origin) else { continue }
            try work.begin(entity, earlier.tables.rows, in: transaction)
            _ = try earlier.walkRows(of: entity, in: transaction) { object, _, _ in
                try work.reach(object)
                let others: [Member] = try earlier.members(
                    of: property, in: object, at: .latest, in: transaction)
                for other in others where after.entity(other.object.entity) != nil {
                    let (owner, member) =
                        move.isInverted ? (other.object, object) : (object, other.object)
                    // It may have left the entity along with the change.
                    guard after.entity(owner.entity)?.property(move.target) != nil else {
                        continue
                    }
                    links[owner, default: []].append(member)
                }
                return .proceed
            }
        }
        return links
    }
}
