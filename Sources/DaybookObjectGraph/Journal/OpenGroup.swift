import DaybookObjectModel
import DaybookStopping

/// The group of a list that is still open: what was changed since the outermost group began, or,
/// without one and where events do not end steps, since the last step.
struct OpenGroup {
    private var group = ChangeGroup()
    /// The groups that have been begun and not ended, outermost first.
    private var levels: [Level] = []
    /// Where the nested groups that have been ended lie in the open group.
    private var nested: [Range<Int>] = []

    /// A group that has been begun and not ended.
    private struct Level {
        /// Where in the open group it starts.
        var start: Int
        var actionName = ""
    }

    // MARK: - Looking

    /// What has been changed.
    var changes: [RecordedChange] { group.changes }

    /// What has been changed, as a step.
    var step: ChangeGroup { group }

    /// How many groups have been begun and not ended.
    var level: Int { levels.count }

    /// Whether no group has been begun and nothing has been changed.
    var isUnused: Bool { levels.isEmpty && group.changes.isEmpty && group.origins.isEmpty }

    /// The name of what has been changed; empty when it has none.
    var actionName: String { levels.first?.actionName ?? group.actionName }

    // MARK: - Taking in

    /// Takes in changes. From then on the group takes back no saved entries of their stores, unless nothing
    /// else was changed there.
    mutating func append(_ other: ChangeGroup) {
        guard !group.origins.isEmpty || !other.origins.isEmpty else {
            group.changes += other.changes
            return
        }
        group.addParts(of: other)
        let stores = Set(group.changes.map(\.object.graphID.store))
        group.changes += other.changes
        for store in Set(other.changes.map(\.object.graphID.store)) {
            group.origins[store] = stores.contains(store) ? nil : other.origins[store]
        }
    }

    /// Takes in a step that was made again, as a nested group that was ended.
    mutating func appendNested(_ step: ChangeGroup) {
        group.addParts(of: step)
        nested.append(group.changes.count..<group.changes.count + step.changes.count)
        append(ChangeGroup(changes: step.changes))
    }

    /// Takes in a change that belongs to what was changed last.
    mutating func extend(with recorded: RecordedChange) {
        if let last = nested.last, last.upperBound == group.changes.count {
            nested[nested.count - 1] = last.lowerBound..<last.upperBound + 1
        }
        group.changes.append(recorded)
    }

    // MARK: - Groups

    /// Begins a group in the open one.
    mutating func begin() { levels.append(Level(start: group.changes.count)) }

    /// Ends the group begun last.
    ///
    /// - Returns: Whether it was the outermost.
    mutating func end() -> Bool {
        let level = levels.removeLast()
        guard let outer = levels.indices.last else {
            group.actionName = level.actionName
            return true
        }
        if levels[outer].actionName.isEmpty { levels[outer].actionName = level.actionName }
        nested.removeAll { $0.lowerBound >= level.start }
        if level.start < group.changes.count { nested.append(level.start..<group.changes.count) }
        return false
    }

    /// Hands out what was changed, and becomes empty.
    mutating func take() -> ChangeGroup {
        let taken = group
        group = ChangeGroup()
        nested.removeAll()
        return taken
    }

    /// Names the group begun last or, when none is, what was changed.
    ///
    /// - Returns: Whether there was anything to name.
    mutating func name(_ name: String) -> Bool {
        if let last = levels.indices.last {
            levels[last].actionName = name
        } else if !group.changes.isEmpty {
            group.actionName = name
        } else {
            return false
        }
        return true
    }

    /// Begins the groups that are open in another list, without their changes, and ends them there.
    mutating func takeGroups(from other: inout OpenGroup) {
        levels += other.levels.map {
            Level(start: group.changes.count, actionName: $0.actionName)
        }
        other.levels.removeAll()
    }

    /// Forgets what was changed. The groups go on, empty.
    mutating func removeAll() {
        group = ChangeGroup()
        nested.removeAll()
        for index in levels.indices { levels[index].start = 0 }
    }

    // MARK: - Nested groups

    /// The changes of the nested group that was ended last; nil when there is none.
    ///
    /// - Precondition: Nothing was changed since it was ended.
    var lastNested: [RecordedChange]? {
        guard let level = levels.last, let range = nested.last, range.lowerBound >= level.start
        else { return nil }
        require(
            range.upperBound == group.changes.count,
            "A nested group is undone before anything else is changed.")
        return Array(group.changes[range])
    }

    /// Removes the nested group that was ended last.
    mutating func removeLastNested() {
        group.changes.removeSubrange(nested.removeLast())
        group.origins.removeAll()
    }

    // MARK: - Following

    /// Marks what was changed in some stores, or in all, as saved by the entries of a save.
    mutating func markSaved(as saves: [UInt32: UndoneEntries], inStores stores: Set<UInt32>?) {
        for (store, save) in saves
        where MovedStep(group: group, isMade: true).concerns(store: store) {
            group.parts[store, default: []].append(save.entries)
        }
        group.changes.mark(isSaved: true, inStores: stores)
        group.origins = group.origins.filter { stores?.contains($0.key) == false }
    }

    /// Replaces or removes changes.
    mutating func rewrite(_ transform: (RecordedChange) -> RecordedChange?) {
        var kept: [RecordedChange] = []
        // Where each change, and the end, has moved to.
        var positions: [Int] = []
        for recorded in group.changes {
            positions.append(kept.count)
            if let recorded = transform(recorded) { kept.append(recorded) }
        }
        positions.append(kept.count)
        group.changes = kept
        for index in levels.indices { levels[index].start = positions[levels[index].start] }
        nested = nested.map { positions[$0.lowerBound]..<positions[$0.upperBound] }
            .filter { !$0.isEmpty }
    }
}
