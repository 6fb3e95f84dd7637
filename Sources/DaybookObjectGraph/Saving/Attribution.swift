import DaybookObjectModel

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

    /// This attribution, with missing parts taken from those of children. What they say never makes an entry
    /// say more than one can keep.
    func completed(from attributions: [Attribution]) -> Attribution {
        Attribution(
            author: author ?? Self.joined(attributions.map(\.author)),
            note: note ?? Self.joined(attributions.map(\.note)),
            info: Self.completed(info, from: attributions.map(\.info)),
            context: context ?? Self.joined(attributions.map(\.context)))
    }

    /// Every text once, in the order in which they came; nil for none.
    private static func joined(_ texts: [String?]) -> String? {
        let distinct = distinct(texts)
        return distinct.isEmpty ? nil : distinct.joined(separator: ", ")
    }

    private static func distinct(_ texts: [String?]) -> [String] {
        var known: Set<String> = []
        return texts.compactMap(\.self).filter { known.insert($0).inserted }
    }

    /// Information, with what children say by other keys, joined likewise. Keys that an entry has no room for
    /// are left out, those of the latest children first.
    private static func completed(
        _ info: [String: String], from others: [[String: String]]
    ) -> [String: String] {
        var completed = info
        for other in others {
            for key in other.keys.sorted() where completed[key] == nil {
                guard completed.count < EntryInfo.countMaximum else { return completed }
                completed[key] = joinedValue(others.map { $0[key] })
            }
        }
        return completed
    }

    /// The texts as one value of an entry's information: those that fit, each one whole, and `…` for the others.
    private static func joinedValue(_ texts: [String?]) -> String {
        let distinct = distinct(texts)
        let whole = distinct.joined(separator: ", ")
        guard distinct.count > 1, whole.utf8.count > EntryInfo.valueBytesMaximum else {
            return whole
        }
        let (separator, more) = (", ", "…")
        var kept: [String] = []
        var room = EntryInfo.valueBytesMaximum - more.utf8.count
        for text in distinct {
            let size = text.utf8.count + separator.utf8.count
            guard size <= room else { continue }
            room -= size
            kept.append(text)
        }
        return (kept + [more]).joined(separator: separator)
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
