import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Lists over a tree, tags and shelves, whose objects come and go by every delete rule, through contexts that stand on
/// each other and past all contexts, against fresh fetches.
@Suite struct DistantListLawTests {
    /// `DAYBOOK_WATCHING_SEEDS=100` tries more of them.
    private static let seeds: ClosedRange<UInt64> =
        1...(ProcessInfo.processInfo.environment["DAYBOOK_WATCHING_SEEDS"].flatMap { UInt64($0) }
        ?? 4)

    @Test(arguments: seeds)
    func `a list of objects that depend on distant ones is what a fetch finds`(seed: UInt64) throws
    {
        let history = try DistantHistory(seed: seed)
        for step in 0..<40 {
            let done = try history.step()
            try history.check("seed \(seed), step \(step): \(done)")
        }
    }

    @Test(arguments: [
        ("ANY shelf.items.rank > 2", 0), ("shelf.items.@count > 0", 0), ("shelf.title == nil", 1),
    ])
    func `a condition does not look beyond an object that is gone`(
        condition: String, count: Int
    ) throws {
        let store = try ClassStore([
            DistantNode.self, DistantTag.self, DistantShelf.self, DistantGuard.self,
        ])
        let context = store.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let node = DistantNode(context: context)
            node.rank = 3
            let shelf = DistantShelf(context: context)
            node.shelf = shelf
            try context.save()
            context.delete(shelf)
            try context.save()
            let request = FetchRequest<DistantNode>(where: Condition(condition))

            let stored = try context.fetch(request)
            node.label = "changed, and so looked at in the context"
            let pending = try context.fetch(request)

            #expect(stored.count == count)
            #expect(pending.count == count)
        }
    }
}

class DistantNode: ManagedObject {
    @Attribute var label: String?
    @Attribute(.indexed) var rank: Int = 0
    @Attribute([.derived("children.@count"), .indexed]) private(set) var size: Int = 0
    @Relationship(.cascade, inverse: \DistantNode.parent) var children: [DistantNode]
    @Relationship var parent: DistantNode?
    @Relationship(inverse: \DistantTag.nodes) var tags: Set<DistantTag>
    @Relationship var shelf: DistantShelf?
    @Relationship(inverse: \DistantGuard.node) var keeper: DistantGuard?
}

final class DistantTag: ManagedObject {
    @Attribute var name: String = ""
    @Attribute(.derived("nodes.rank.@sum")) private(set) var weight: Int = 0
    @Relationship var nodes: Set<DistantNode>
}

final class DistantShelf: ManagedObject {
    @Attribute var title: String?
    @Relationship(.noAction, inverse: \DistantNode.shelf) var items: Set<DistantNode>
}

final class DistantGuard: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(.deny) var node: DistantNode?
}

/// A random history of a context, one beside it, and three that stand on each other.
private final class DistantHistory {
    private let store: ClassStore
    private var random: SeededGenerator
    private let contexts: [ManagedObjectContext]
    private var nodes: [ManagedObjectID] = []
    private var tags: [ManagedObjectID] = []
    private var shelves: [ManagedObjectID] = []
    private var guards: [ManagedObjectID] = []
    private var lists:
        [(FetchRequest<DistantNode>, ResultsObserver<DistantNode>, ValueObserver<Int>)] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        store = try ClassStore([
            DistantNode.self, DistantTag.self, DistantShelf.self, DistantGuard.self,
        ])
        let (top, beside) = (
            store.container.newBackgroundContext(), store.container.newBackgroundContext()
        )
        let child = ManagedObjectContext(parent: top)
        contexts = [top, beside, child, ManagedObjectContext(parent: child)]
        try top.performAndWait { () throws in
            for number in 0..<3 {
                let tag = DistantTag(context: top)
                tag.name = "T\(number)"
                tags.append(tag.objectID)
                let shelf = DistantShelf(context: top)
                shelf.title = number == 0 ? nil : "S\(number)"
                shelves.append(shelf.objectID)
                let keeper = DistantGuard(context: top)
                keeper.name = "G\(number)"
                guards.append(keeper.objectID)
            }
            for _ in 0..<12 { add(top) }
            try top.save()
        }
        for (index, context) in contexts.enumerated() {
            context.performAndWait {
                context.name = "context \(index)"
                context.mergePolicy = .mergeByPropertyObjectTrump
                context.mergeConflictHandler = { _ in }
                context.undoFailureHandler = { _ in }
                context.automaticallyMergesChangesFromParent = true
            }
            for _ in 0..<6 {
                let request = question()
                try context.performAndWait { () throws in
                    lists.append(
                        (
                            request, try ResultsObserver(request, in: context),
                            try ValueObserver(.sum(\DistantNode.rank), of: request, in: context)
                        ))
                }
            }
        }
    }

    private func number() -> Int { Int.random(in: 0..<4, using: &random) }

    private func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private func pick<Object: ManagedObject>(
        _ ids: [ManagedObjectID], _ type: Object.Type, _ context: ManagedObjectContext
    ) -> Object? {
        guard let id = ids.randomElement(using: &random),
            let object = try? context.existingObject(with: id) as? Object, !object.isDeleted
        else { return nil }
        return object
    }

    private func question() -> FetchRequest<DistantNode> {
        let conditions = [
            "TRUEPREDICATE", "rank > 1", "parent == nil", "parent.rank > 1",
            "parent.parent.label == 'N1'", "ANY children.rank > 1", "children.@count > 1",
            "children.@sum.rank > 2", "ANY children.children.label == 'N2'",
            "ANY tags.name == 'T1'", "NONE tags.name == 'T2'", "tags.@count == 0",
            "ANY parent.tags.name == 'T0'", "shelf.title == 'S1'", "shelf == nil",
            "shelf.title == nil", "keeper != nil",
            "keeper.name == 'G1'", "SUBQUERY(children, $c, $c.rank < rank).@count > 0",
            "ANY tags.nodes.shelf.title == 'S2'", "label == NULL",
            "size > 1", "parent.size == 1", "ANY tags.weight > 3", "ALL children.rank > 0",
            "children.@max.rank == 3",
        ]
        var request = FetchRequest<DistantNode>(
            where: Condition(conditions.randomElement(using: &random) ?? ""))
        let orders: [FetchOrder<DistantNode>] = [
            .ascending("rank"), .descending("rank"), .ascending("label"),
            .descending("parent.rank"), .ascending("parent.parent.label"),
            .ascending("shelf.title"), .descending("size"), .ascending("parent.size"),
            .descending("keeper.name"),
        ]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            request.order.append(orders.randomElement(using: &random) ?? orders[0])
        }
        if chance(3) { request.limit = Int.random(in: 1...5, using: &random) }
        if chance(3) { request.offset = Int.random(in: 0...4, using: &random) }
        if chance(6) { request.includesPendingChanges = false }
        return request
    }

    private func add(_ context: ManagedObjectContext) {
        let node = DistantNode(context: context)
        node.label = chance(4) ? nil : "N\(number())"
        node.rank = number()
        node.parent = chance(3) ? nil : pick(nodes, DistantNode.self, context)
        node.shelf = chance(2) ? nil : pick(shelves, DistantShelf.self, context)
        if let tag = pick(tags, DistantTag.self, context), chance(2) { node.tags.insert(tag) }
        nodes.append(node.objectID)
    }

    /// Whether an object is above another in the tree.
    private func isAbove(_ node: DistantNode, _ other: DistantNode) -> Bool {
        var next: DistantNode? = other
        for _ in 0..<50 {
            guard let current = next else { return false }
            if current === node { return true }
            next = current.parent
        }
        return true
    }

    private func edit(_ context: ManagedObjectContext) {
        guard let node = pick(nodes, DistantNode.self, context) else { return add(context) }
        switch Int.random(in: 0..<15, using: &random) {
        case 0: node.rank = number()
        case 1: node.label = chance(3) ? nil : "N\(number())"
        case 2, 3:
            let parent = pick(nodes, DistantNode.self, context)
            if parent.map({ !isAbove(node, $0) }) ?? true { node.parent = parent }
        case 4: node.children.reverse()
        case 5:
            guard let tag = pick(tags, DistantTag.self, context) else { return }
            if node.tags.remove(tag) == nil { node.tags.insert(tag) }
        case 6: node.shelf = chance(3) ? nil : pick(shelves, DistantShelf.self, context)
        case 7: node.keeper = chance(3) ? nil : pick(guards, DistantGuard.self, context)
        case 8: pick(shelves, DistantShelf.self, context)?.title = chance(4) ? nil : "S\(number())"
        case 9: pick(tags, DistantTag.self, context)?.name = "T\(number())"
        case 10: context.delete(node)
        case 11 where chance(3):
            if let shelf = pick(shelves, DistantShelf.self, context) { context.delete(shelf) }
        case 11:
            let shelf = DistantShelf(context: context)
            shelf.title = "S\(number())"
            shelves.append(shelf.objectID)
        case 12 where chance(2):
            if let tag = pick(tags, DistantTag.self, context) { context.delete(tag) }
        case 12:
            let tag = DistantTag(context: context)
            tag.name = "T\(number())"
            tags.append(tag.objectID)
        default: add(context)
        }
    }

    /// Does something, in one of the contexts or past all of them.
    ///
    /// - Returns: What.
    func step() throws -> String {
        let index = Int.random(in: contexts.indices, using: &random)
        let context = contexts[index]
        let kind = Int.random(in: 0..<20, using: &random)
        return try context.performAndWait { () throws in
            do {
                switch kind {
                case 0...7:
                    for _ in 0..<Int.random(in: 1...3, using: &random) { edit(context) }
                    context.processPendingChanges()
                    return "edits in \(index)"
                case 8...10:
                    try context.save(author: "author \(index)")
                    return "save of \(index)"
                case 11, 12:
                    context.undo()
                    return "undo in \(index)"
                case 13:
                    context.redo()
                    return "redo in \(index)"
                case 14:
                    context.rollback()
                    return "rollback in \(index)"
                case 15: return try pass()
                case 16: return try takeBack()
                case 17:
                    context.refreshAllObjects()
                    return "refresh of all in \(index)"
                default:
                    if chance(4) {
                        context.reset()
                        return "reset of \(index)"
                    }
                    if let node = pick(nodes, DistantNode.self, context) {
                        context.refresh(node, mergeChanges: chance(2))
                    }
                    return "refresh in \(index)"
                }
            } catch let error as StoreError {
                return "refused \(kind) in \(index): \(error.code)"
            }
        }
    }

    /// Changes many objects past all contexts.
    private func pass() throws -> String {
        let context = store.container.newBackgroundContext()
        return try context.performAndWait { () throws in
            let condition = Condition<DistantNode>("rank == %@", number())
            if chance(2) {
                try context.execute(BatchDeleteRequest<DistantNode>(where: condition))
                return "batch delete"
            }
            try context.execute(
                BatchUpdateRequest<DistantNode>(
                    where: condition,
                    assigning: [.set(\.rank, to: number()), .set(\.label, to: "N1")]))
            return "batch update"
        }
    }

    /// Takes back an entry in the store.
    private func takeBack() throws -> String {
        let head = try store.store.head().rawValue
        let back = UInt64(number())
        guard head > back + 2 else { return "nothing" }
        try store.store.undo(SequenceNumber(head - back), policy: .keepLater)
        return "undo of entry \(head - back)"
    }

    /// Compares every list with a fetch, once all contexts have taken in what others have done.
    func check(_ place: String) throws {
        for _ in contexts { for context in contexts { context.performAndWait {} } }
        for (request, list, sum) in lists {
            let context = list.managedObjectContext
            try context.performAndWait { () throws in
                let what = "\(place), in \(context.name ?? ""): \(request)"
                let fetched = try context.fetch(request).map(\.objectID)
                #expect(list.objects.map(\.objectID) == fetched, "\(what)")
                #expect(list.findings().isEmpty, "\(what)")
                #expect(try sum.value == context.fetch(.sum(\.rank), of: request), "\(what)")
            }
        }
    }
}
