internal import DaybookObjectModel

/// What becomes of the objects of a Core Data store, entry by entry.
///
/// The rule: an object is inserted in the entry of the transaction that inserted it, or in entry 0,
/// which comes before all transactions. A value that no later transaction has set is inserted with
/// it. A value that was set later is set in the entry of the last transaction that set it; until
/// then there is none, because the source does not keep earlier values. A mandatory value is
/// inserted with its object. A reference waits until its destination exists, and an object until
/// every object that it must refer to exists.
struct CoreDataPlan {
    /// A planned entry.
    struct Step {
        var inserts: [Int] = []
        /// The slots that are set, by object.
        var edits: [Int: [Int]] = [:]
        /// The members that join, by owner.
        var members: [Int: [PropertyNumber: [Member]]] = [:]
    }

    private(set) var steps: [Step]
    private let graph: CoreDataGraph
    private let schema: Schema
    /// The step of each object's insert.
    private var places: [Int]
    /// The number of each object.
    private var numbers: [UInt64]
    /// The slots that are set only after their object's insert.
    private var late: [Int: Set<Int>] = [:]

    init(_ graph: CoreDataGraph, _ history: CoreDataHistory, _ schema: Schema) {
        self.graph = graph
        self.schema = schema
        steps = Array(repeating: Step(), count: history.transactions.count + 1)
        places = history.traces.map(\.insert)
        numbers = Array(repeating: 0, count: graph.objects.count)
        awaitRequiredObjects()
        for index in graph.objects.indices { steps[places[index]].inserts.append(index) }
        giveNumbers()
        placeValues(history)
        placeMembers(history)
    }

    /// Moves every object to the latest step of those that it must refer to, directly or through others.
    private mutating func awaitRequiredObjects() {
        var waiting: [Int: [Int]] = [:]
        for (index, object) in graph.objects.enumerated() {
            for property in object.entity.referenceSlots where !property.isOptionalReference {
                guard let slot = property.slot, let target = object.values[slot].reference else {
                    continue
                }
                waiting[Int(target.number), default: []].append(index)
            }
        }
        // The latest ones first, so that none has to be moved twice.
        for index in waiting.keys.sorted(by: { (places[$1], $0) < (places[$0], $1) }) {
            var reached = [index]
            while let target = reached.popLast() {
                for index in waiting[target] ?? [] where places[index] < places[target] {
                    places[index] = places[target]
                    reached.append(index)
                }
            }
        }
    }

    /// Numbers the objects in the order of their inserts.
    private mutating func giveNumbers() {
        var next: UInt64 = 1
        for step in steps {
            for index in step.inserts {
                numbers[index] = next
                next += 1
            }
        }
    }

    private mutating func placeValues(_ history: CoreDataHistory) {
        for (index, object) in graph.objects.enumerated() {
            for slot in object.values.indices {
                let value = object.values[slot]
                let property = object.entity.slots[slot]
                guard !value.isNull, property.misfit(of: .null) == nil else { continue }
                var place = history.traces[index].last[property.number] ?? 0
                if let target = value.reference.map({ Int($0.number) }) {
                    place = max(place, places[target])
                    // Both ends of a connection between two objects are set together.
                    if property.isExclusive, let inverse = property.end?.inverse {
                        place = max(place, history.traces[target].last[inverse] ?? 0)
                    }
                }
                guard place > places[index] else { continue }
                steps[place].edits[index, default: []].append(slot)
                late[index, default: []].insert(slot)
            }
        }
    }

    private mutating func placeMembers(_ history: CoreDataHistory) {
        for member in graph.members {
            let traces = (history.traces[member.owner], history.traces[member.member])
            let opposite = member.property.end?.inverse
            let place = max(
                places[member.owner], places[member.member],
                traces.0.last[member.property.number] ?? 0,
                opposite.flatMap { traces.1.last[$0] } ?? 0)
            steps[place].members[member.owner, default: [:]][
                member.property.number, default: []
            ].append(Member(object: id(of: member.member), order: Double(member.place)))
        }
    }

    // MARK: - Changes

    /// The object of an index.
    func id(of index: Int) -> ObjectID {
        ObjectID(entity: graph.objects[index].entity.number, number: numbers[index])
    }

    /// The changes of a step.
    func changes(_ position: Int) -> [Change] {
        let step = steps[position]
        let inserts = step.inserts.map { insert($0, step) }
        let inserted = Set(step.inserts)
        let updated = Set(step.edits.keys).union(step.members.keys).subtracting(inserted)
        return inserts + updated.map { update($0, step) }
    }

    private func insert(_ index: Int, _ step: Step) -> Change {
        let late = late[index] ?? []
        let values = graph.objects[index].values.enumerated().map { slot, value in
            late.contains(slot) ? .null : final(value)
        }
        return Change(
            object: id(of: index), kind: .insert(values: values, members: members(index, step)))
    }

    private func update(_ index: Int, _ step: Step) -> Change {
        let object = graph.objects[index]
        let edits = (step.edits[index] ?? []).map { slot in
            Edit(
                property: object.entity.slots[slot].number, old: .null,
                new: final(object.values[slot]))
        }
        return Change(
            object: id(of: index),
            kind: .update(
                edits: edits.sorted { $0.property < $1.property }, members: members(index, step)))
    }

    private func members(_ index: Int, _ step: Step) -> [MembershipEdit] {
        (step.members[index] ?? [:]).sorted { $0.key < $1.key }.map {
            MembershipEdit(property: $0.key, added: $0.value)
        }
    }

    /// A value with the number of its object.
    private func final(_ value: Value) -> Value {
        value.reference.map { .object(id(of: Int($0.number))) } ?? value
    }

    /// `ZBOOK, row 7`: the row that became an object.
    func row(of object: ObjectID) -> (table: String, key: Int64)? {
        guard let index = numbers.firstIndex(of: object.number) else { return nil }
        return (graph.objects[index].table, graph.objects[index].key)
    }
}

extension SchemaProperty {
    fileprivate var isOptionalReference: Bool { misfit(of: .null) == nil }
}
