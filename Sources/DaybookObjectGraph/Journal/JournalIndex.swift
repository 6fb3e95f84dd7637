import DaybookObjectModel

/// What lies between base and cursor of a working journal, object by object and relationship by
/// relationship; and the movements of the cursor over changes, which it follows.
///
/// All of it follows from the list: code that changes the list tells the index.
final class JournalIndex {
    // A class, because the hooks of objects ask it while changes are applied to them.
    private var changes = NetChanges()
    private var links = RelationLinks()
    /// The changes that came and went here other than by an event, for lists.
    private var noted: [(id: GraphID, change: Change)] = []
    private let interest: ListInterest

    init(for interest: ListInterest) {
        self.interest = interest
    }

    // MARK: - Asking

    /// The net changes of all objects.
    var net: [NetChange] { changes.all }

    /// The net changes of objects of some entities.
    func net(of entities: [EntityNumber]) -> some Sequence<NetChange> { changes.all(of: entities) }

    /// The net change of an object; nil when it is clean.
    subscript(id: GraphID) -> NetChange? { changes[id] }

    /// Whether no object has been touched.
    var isEmpty: Bool { changes.isEmpty }

    /// Whether anybody has joined, left or moved in a relationship.
    func hasMoves(_ key: RelationKey) -> Bool { links.hasMoves(key) }

    /// Lays what is pending over the members that lie under the context.
    func overlay(_ key: RelationKey, on members: inout RelationMembers) {
        links.overlay(key, on: &members)
    }

    /// Takes back what is pending from the members that the context has.
    func takeBack(_ key: RelationKey, from members: inout [ObjectID: Double]) {
        links.takeBack(key, from: &members)
    }

    // MARK: - Taking in

    /// Takes in what one end of a relationship sees of the current event.
    func record(_ link: RelationLink) { links.record(link) }

    /// Takes in the changes of an event, whose links ``record(_:)`` has taken in already.
    ///
    /// - Returns: The objects that were inserted since the last save and no longer exist.
    func append(_ changes: [RecordedChange], _ move: NetChanges.Move) -> [ManagedObject] {
        self.changes.append(changes, move)
    }

    /// Marks an object as dirty though nothing of it has changed.
    func touch(_ object: ManagedObject) {
        guard changes[object.graphID] == nil else { return }
        let empty = Change.nothing(of: object.graphID.object)
        changes.append(empty, of: object, .unrecorded)
    }

    /// Follows a change of an object over which the cursor has moved.
    ///
    /// - Returns: What is now pending for the object; nil when it is clean.
    @discardableResult
    func follow(
        _ change: Change, of object: ManagedObject, _ move: NetChanges.Move
    ) -> NetChange.Kind? {
        recordLinks(of: change, to: object)
        note(change, of: object.graphID)
        return changes.append(change, of: object, move)
    }

    private func recordLinks(of change: Change, to object: ManagedObject) {
        change.forEachLink(of: object) { links.record($0) }
    }

    // MARK: - Moving the cursor

    /// Makes a change, starting from the current state of its object.
    ///
    /// - Returns: The change that was made; nil when it was passed over.
    func make(
        _ recorded: RecordedChange, as move: NetChanges.Move, in context: ManagedObjectContext
    ) -> RecordedChange? {
        guard let change = context.make(recorded) else { return nil }
        context.settle(recorded.object, follow(change, of: recorded.object, move))
        return RecordedChange(object: recorded.object, change: change, isSaved: recorded.isSaved)
    }

    /// Makes changes again that were taken back.
    ///
    /// - Returns: What was made.
    func makeAgain(
        _ changes: [RecordedChange], in context: ManagedObjectContext
    ) -> [RecordedChange] {
        var made: [RecordedChange] = []
        made.reserveCapacity(changes.count)
        for recorded in changes.withoutRivals(isBack: false) {
            if let change = make(recorded, as: .forward, in: context) {
                made.append(change)
            } else {
                keep(recorded.object, recorded.distance(isMade: false))
            }
        }
        return made
    }

    /// Applies the inverses of changes, last first.
    ///
    /// - Returns: What is to be made again: what was taken back, which may not be what was once
    ///   recorded.
    func takeBack(
        _ changes: [RecordedChange], in context: ManagedObjectContext
    ) -> [RecordedChange] {
        let changes = changes.withoutRivals(isBack: true)
        // Mostly changes are taken back as they were recorded, and the list stays what it is.
        var taken = changes
        var passedOver: Set<Int> = []
        self.changes.makeRoom(for: changes)
        let recorded = changes.span
        var index = recorded.count
        while index > 0 {
            index -= 1
            let object = recorded[index].object
            switch context.takeBack(recorded[index]) {
            case .edits(let back, let edits):
                if !object.binding.schema.referenceSlots.isEmpty {
                    recordLinks(of: back, to: object)
                }
                context.settle(object, self.changes.append(back, of: object, takingBack: edits))
                if recorded[index].change.cause != nil { taken[index].change.cause = nil }
            case .change(let back, let isAsRecorded):
                context.settle(object, follow(back, of: object, .back))
                if !isAsRecorded {
                    taken[index].change = back.inverse
                } else if recorded[index].change.cause != nil {
                    taken[index].change.cause = nil
                }
            case .passedOver:
                passedOver.insert(index)
                keep(object, recorded[index].distance(isMade: true))
            }
        }
        if !passedOver.isEmpty {
            taken = taken.indices.filter { !passedOver.contains($0) }.map { taken[$0] }
        }
        return taken
    }

    // MARK: - Following the list

    /// Follows a change that leaves the list while what it changed stays.
    func keep(_ object: ManagedObject, _ distance: Int) {
        if distance != 0 { changes.keep(object.graphID, distance) }
    }

    /// Follows a list that has been forgotten while what it changed stays.
    func keepAll() { changes.keepAll() }

    /// Follows a change that the list has dropped, as if it had never been made.
    func forget(_ object: ManagedObject, _ distance: Int) {
        guard distance != 0, changes.forget(object.graphID, distance) else { return }
        object.undergo(.editsDropped)
    }

    /// Follows an object to the identifier that it has now.
    func move(_ old: GraphID, to id: GraphID) {
        changes.move(old, to: id)
        for id in [old, id] {
            note(.nothing(of: id.object), of: id)
        }
    }

    // MARK: - Moving the base

    /// Takes out what is pending for an object.
    func clear(_ object: ManagedObject) {
        if let change = changes[object.graphID]?.change {
            recordLinks(of: change.inverse, to: object)
            note(change, of: object.graphID)
        }
        changes.remove(object.graphID)
    }

    /// Replaces what is pending for an object after its base has changed; nil for nothing.
    func rebase(_ object: ManagedObject, to change: Change?) {
        guard let before = changes[object.graphID] else { return }
        if let change = before.change { recordLinks(of: change.inverse, to: object) }
        let change = change.flatMap { $0.isEmpty ? nil : $0 }
        changes.replace(object.graphID, with: change)
        if let change { recordLinks(of: change, to: object) }
        for change in [before.change, change] {
            if let change { note(change, of: object.graphID) }
        }
    }

    // MARK: - For lists

    private func note(_ change: Change, of id: GraphID) {
        if interest.isThere { noted.append((id, change)) }
    }

    /// What has been noted since this was last called.
    func takeNotedChanges() -> [(id: GraphID, change: Change)] {
        guard !noted.isEmpty else { return [] }
        defer { noted = [] }
        return noted
    }

    /// Takes out everything.
    func removeAll() {
        changes.removeAll()
        links.removeAll()
    }
}
