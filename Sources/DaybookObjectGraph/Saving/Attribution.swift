/// Who saved, why, and in which context.
///
/// What children save into a context is credited to them in the entry that the context saves, unless
/// that save names its own author.
struct Attribution {
    var author: String?
    var note: String?
    var info: [String: String] = [:]
    var context: String?

    /// Whether there is anything to say.
    var isTelling: Bool {
        author != nil || note != nil || context != nil || !info.isEmpty
    }

    /// This attribution, with missing parts taken from those of children.
    func completed(from attributions: [Attribution]) -> Attribution {
        Attribution(
            author: author ?? Self.joined(attributions.map(\.author)),
            note: note ?? Self.joined(attributions.map(\.note)),
            info: info.merging(Self.joined(attributions.map(\.info))) { own, _ in own },
            context: context ?? Self.joined(attributions.map(\.context)))
    }

    /// Every text once, in the order in which they came; nil for none.
    private static func joined(_ texts: [String?]) -> String? {
        var distinct: [String] = []
        for case let text? in texts where !distinct.contains(text) { distinct.append(text) }
        return distinct.isEmpty ? nil : distinct.joined(separator: ", ")
    }

    /// The texts for each key, joined likewise.
    private static func joined(_ infos: [[String: String]]) -> [String: String] {
        guard infos.contains(where: { !$0.isEmpty }) else { return [:] }
        let keys = Set(infos.flatMap(\.keys))
        return Dictionary(
            uniqueKeysWithValues: keys.map { key in
                (key, joined(infos.map { $0[key] }) ?? "")
            })
    }
}

extension ManagedObjectContext {
    /// The attribution of a save, with what the context says where the save says nothing.
    func attribution(
        _ author: String?, _ note: String?, _ info: [String: String]
    ) -> Attribution {
        Attribution(
            author: author ?? self.author, note: note,
            info: self.info.merging(info) { _, given in given }, context: name)
    }
}

/// The attributions of what children have saved into a context, until it is saved itself.
///
/// An attribution counts as long as something is pending for one of its objects: what was rolled back,
/// undone or refreshed away has not been saved by anybody, and what is redone has.
struct ChildAttributions {
    private var attributions: [(attribution: Attribution, objects: [GraphID])] = []

    /// Records who has saved changes of some objects.
    mutating func record(_ attribution: Attribution, for objects: [GraphID]) {
        guard attribution.isTelling, !objects.isEmpty else { return }
        attributions.append((attribution, objects))
    }

    /// Forgets all.
    mutating func removeAll() {
        attributions.removeAll()
    }

    /// Forgets what some stores have saved.
    mutating func remove(inStores stores: Set<UInt32>) {
        attributions = attributions.compactMap { attribution, objects in
            let left = objects.filter { !stores.contains($0.store) }
            return left.isEmpty ? nil : (attribution, left)
        }
    }

    /// Forgets the attributions that do not count, when nothing can be redone any more.
    mutating func forgetIdle(in journal: WorkingJournal) {
        guard !attributions.isEmpty else { return }
        attributions.removeAll { attribution in
            !attribution.objects.contains { journal.change(of: $0) != nil }
        }
    }

    /// The attributions that count, in the order in which they came.
    func counting(in journal: WorkingJournal) -> [Attribution] {
        attributions.filter { $0.objects.contains { journal.change(of: $0) != nil } }.map(
            \.attribution)
    }
}
