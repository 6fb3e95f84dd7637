internal import Foundation

/// A law that has been read: what it forbids, and what permits it all the same.
package struct SchemaLaw: Sendable {
    /// What a law forbids.
    enum Rule: Sendable, Hashable {
        /// A change of a property, by any amount or more than one, of an object that meets one condition before it and
        /// another one after it.
        case change(FilterChange, byMoreThan: Value?, where: Filter?, becoming: Filter?)
        /// The deletion of an object that meets a condition.
        case deletion(where: Filter?)
        /// That a condition ceases to hold.
        case end(of: Filter)
    }

    /// The name.
    package let name: String
    /// The rule as it was written.
    package let text: String
    /// The entity that has the law.
    package let entity: EntityNumber
    let rule: Rule
    /// What permits it: all of any of these; none for nothing.
    let excuses: [[LawExcuse]]

    /// Whether both forbid and permit the same, in whatever words and order of what permits it.
    func means(_ other: SchemaLaw) -> Bool {
        rule == other.rule && permissions == other.permissions
    }

    private var permissions: Set<Set<LawExcuse>> {
        Set(
            excuses.map { together in
                Set(
                    together.map { excuse in
                        guard case .authorIn(let names) = excuse else { return excuse }
                        return .authorIn(Set(names).sorted())
                    })
            })
    }

    /// Whether an entry says what permits it.
    package func isExcused(author: String?, note: String?, info: [String: String]) -> Bool {
        excuses.contains { together in
            together.allSatisfy { $0.isGiven(author: author, note: note, info: info) }
        }
    }

    /// What a change does that the law forbids; nil when it does not.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - entity: The entity of its object, with the numbers that the law knows.
    ///   - before: The values of the object before the change, in the slots of the entity; nil when there are none. It
    ///     is asked only for a condition.
    /// - Returns: The property with its old and new value; without a property for a deletion.
    /// - Throws: What `before` throws; ``QueryError`` when a pattern takes too long.
    package func breach(
        of change: Change, in entity: SchemaEntity, before: () throws -> [Value]?
    ) throws -> (property: SchemaProperty?, old: Value, new: Value)? {
        switch (rule, change.kind) {
        case (.change(let question, let amount, let start, let end), .update(let edits, _)):
            guard let edit = edits.first(where: { $0.property == question.property.number }),
                question.isMet(from: edit.old, to: edit.new) || edit.isOfNoNumber,
                amount.map({ edit.differs(byMoreThan: $0, question.direction) }) ?? true,
                let property = entity.property(edit.property)
            else { return nil }
            if start != nil || end != nil {
                guard let values = try before() else { return nil }
                let old = ObjectValues(entity: entity, values: values)
                if let start, !(try start.matches(change.object, in: old)) { return nil }
                let new = old.with(edits)
                if let end, !(try end.matches(change.object, in: new)) { return nil }
            }
            return (property, edit.old, edit.new)
        case (.end(let condition), .update(let edits, _)):
            let own = condition.ownProperties ?? []
            guard let edit = edits.first(where: { $0.old != $0.new && own.contains($0.property) }),
                let property = entity.property(edit.property), let values = try before()
            else { return nil }
            let old = ObjectValues(entity: entity, values: values)
            guard try condition.matches(change.object, in: old),
                !(try condition.matches(change.object, in: old.with(edits)))
            else { return nil }
            return (property, edit.old, edit.new)
        case (.deletion(let condition), .delete):
            if let condition {
                guard let values = try before() else { return nil }
                let old = ObjectValues(entity: entity, values: values)
                guard try condition.matches(change.object, in: old) else { return nil }
            }
            return (nil, .null, .null)
        default: return nil
        }
    }
}

extension Edit {
    /// Whether it leads from a number to "not a number" or back, which is no direction: else a value could go down in
    /// two such steps.
    fileprivate var isOfNoNumber: Bool {
        guard !old.isNull, !new.isNull, old != new else { return false }
        return [old, new].contains {
            switch $0 {
            case .double(let number): number.isNaN
            case .decimal(let number): number.isNaN
            default: false
            }
        }
    }

    /// Whether a number has moved by more than an amount. What cannot be told in its kind of numbers is more.
    fileprivate func differs(
        byMoreThan amount: Value, _ direction: FilterChange.Direction
    ) -> Bool {
        guard !old.isNull, !new.isNull else { return false }
        let isLess = FilterOperator.less.holds(new, old)
        let (greater, lesser) = isLess ? (old, new) : (new, old)
        guard let difference = greater.combined(with: lesser, by: .subtract) else { return true }
        return FilterOperator.greater.holds(difference, amount)
    }
}

/// The values of one object, for conditions that look at nothing else.
private struct ObjectValues: FilterSource {
    let entity: SchemaEntity
    var values: [Value]

    func value(of property: SchemaProperty, in object: ObjectID) -> Value {
        guard let slot = entity.property(property.number)?.slot, slot < values.count else {
            return .null
        }
        return values[slot]
    }

    func members(of property: SchemaProperty, in object: ObjectID) -> [ObjectID] { [] }

    func with(_ edits: [Edit]) -> ObjectValues {
        var changed = self
        for edit in edits {
            guard let slot = entity.property(edit.property)?.slot, slot < values.count else {
                continue
            }
            changed.values[slot] = edit.new
        }
        return changed
    }
}

/// The laws of a model, read once.
package struct SchemaLaws: Sendable {
    /// All laws, by entity, then as the model has them.
    package let all: [SchemaLaw]
    /// A sentence for each that cannot be read.
    package let problems: [String]
    private let byEntity: [EntityNumber: [SchemaLaw]]

    /// Whether there are none, not even ones that cannot be read.
    package var isEmpty: Bool { all.isEmpty && problems.isEmpty }

    /// Reads the laws of a model.
    package init(_ schema: Schema) {
        guard schema.model.entities.contains(where: { !$0.laws.isEmpty }) else {
            self.init([], [], in: schema)
            return
        }
        var (laws, problems): ([SchemaLaw], [String]) = ([], [])
        for description in schema.model.entities {
            guard let entity = schema.entity(named: description.name) else { continue }
            for law in description.laws {
                do throws(QueryError) {
                    laws.append(try SchemaLaw(law, of: entity, in: schema))
                } catch {
                    problems.append(
                        "The law \(ReadableText.quoted(law.name)) of '\(description.name)' cannot be read: "
                            + "\(error)")
                }
            }
        }
        self.init(laws, problems, in: schema)
    }

    /// Laws that have been read.
    package init(_ laws: [SchemaLaw], _ problems: [String] = [], in schema: Schema) {
        all = laws
        self.problems = problems
        var byEntity: [EntityNumber: [SchemaLaw]] = [:]
        for law in laws {
            for number in schema.entity(law.entity)?.family ?? [] {
                byEntity[number, default: []].append(law)
            }
        }
        self.byEntity = byEntity
    }

    /// The laws that hold for the objects of an entity.
    package func laws(of entity: EntityNumber) -> [SchemaLaw] { byEntity[entity] ?? [] }
}

extension ManagedObjectModel {
    /// The mistakes in laws, of a model whose entities have none.
    var lawProblems: [String] {
        guard entities.contains(where: { !$0.laws.isEmpty }) else { return [] }
        var problems: [String] = []
        let superentities = Dictionary(
            entities.map { ($0.name, $0.superentityName) }, uniquingKeysWith: { first, _ in first })
        let namesByEntity = Dictionary(
            entities.map { ($0.name, Set($0.laws.map(\.name))) }, uniquingKeysWith: { $0.union($1) }
        )
        for entity in entities {
            // The objects of an entity are under the laws of those above it as well.
            var names: Set<String> = []
            var above = entity.superentityName
            while let name = above {
                names.formUnion(namesByEntity[name] ?? [])
                above = superentities[name] ?? nil
            }
            for law in entity.laws {
                if let objection = law.objectionToName {
                    problems.append("A law of '\(entity.name)' \(objection).")
                }
                if law.rule.utf8.count > LawDescription.bytesMaximum {
                    problems.append(
                        "The law \(ReadableText.quoted(law.name)) has a rule of more than "
                            + "\(LawDescription.bytesMaximum) bytes.")
                }
                if !names.insert(law.name).inserted {
                    problems.append(
                        "'\(entity.name)' has two laws \(ReadableText.quoted(law.name)), of its own or from above it."
                    )
                }
            }
        }
        guard problems.isEmpty else { return problems }
        return SchemaLaws(Schema(self, numberedBy: ModelVersion(firstValid: self))).problems
    }
}
