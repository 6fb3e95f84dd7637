/// Who saved, why, and in which context.
///
/// What children save into a context is credited to them in the entry that the context saves, unless
/// that save says better.
struct SaveCredit {
    var author: String?
    var note: String?
    var context: String?

    /// Whether there is anything to say.
    var isTelling: Bool { author != nil || note != nil || context != nil }

    /// This credit, with what it does not say taken from those of children.
    func completed(from credits: [SaveCredit]) -> SaveCredit {
        SaveCredit(
            author: author ?? Self.joined(credits.map(\.author)),
            note: note ?? Self.joined(credits.map(\.note)),
            context: context ?? Self.joined(credits.map(\.context)))
    }

    /// Every text once, in the order in which they came; nil for none.
    private static func joined(_ texts: [String?]) -> String? {
        var distinct: [String] = []
        for case let text? in texts where !distinct.contains(text) { distinct.append(text) }
        return distinct.isEmpty ? nil : distinct.joined(separator: ", ")
    }
}

/// The credits of what children have saved into a context, until it is saved itself.
///
/// A credit counts as long as something is pending for one of the objects that it is for: what was
/// rolled back, undone or refreshed away nobody has saved, and what is redone somebody has.
struct ChildCredits {
    private var credits: [(credit: SaveCredit, objects: [GraphID])] = []

    /// Notes who has saved changes of some objects.
    mutating func note(_ credit: SaveCredit, for objects: [GraphID]) {
        guard credit.isTelling, !objects.isEmpty else { return }
        credits.append((credit, objects))
    }

    /// Forgets all.
    mutating func removeAll() {
        credits.removeAll()
    }

    /// Forgets the credits that do not count, when nothing can be redone any more.
    mutating func forgetIdle(in pending: PendingChanges) {
        guard !credits.isEmpty else { return }
        credits.removeAll { credit in !credit.objects.contains { pending[$0]?.change != nil } }
    }

    /// The credits that count, in the order in which they came.
    func counting(in pending: PendingChanges) -> [SaveCredit] {
        credits.filter { $0.objects.contains { pending[$0]?.change != nil } }.map(\.credit)
    }
}
