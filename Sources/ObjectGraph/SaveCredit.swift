/// Who saved, why, and in which context.
///
/// What children save into a context is credited to them in the entry that the context saves, unless
/// that save says better.
struct SaveCredit {
    var author: String?
    var note: String?
    var context: String?

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
