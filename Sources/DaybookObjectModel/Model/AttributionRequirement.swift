/// What every entry that changes objects must say, if a model requires it.
///
/// A save that does not say it is refused, whoever makes it: a context, a batch, an undo, an import or
/// the command. Exempt are the entries that set a model: the first one, those of migrations, also with
/// changes of objects, and of their undo, because opening a store may append one.
///
/// ```swift
/// let model = ManagedObjectModel(entities: entities, requires: [.author, .info("request")])
/// ```
public enum AttributionRequirement: Sendable, Hashable {
    /// Who saves.
    case author
    /// Why, in words.
    case note
    /// Information by that key.
    case info(String)
}

extension Set<AttributionRequirement> {
    /// Author, note, then the keys in the order of their bytes.
    package var ordered: [AttributionRequirement] {
        sorted { $0.sortKey.lexicographicallyPrecedes($1.sortKey) }
    }

    /// The mistakes in what a model requires.
    var problems: [String] {
        var problems: [String] = []
        if count > EntryInfo.countMaximum {
            problems.append(
                "The model requires \(count) things of every entry; there can be at most "
                    + "\(EntryInfo.countMaximum).")
        }
        for case .info(let key) in ordered {
            guard let objection = EntryInfo.objection(toKey: key) else { continue }
            problems.append(
                "The model cannot require information by the key \(ReadableText.quoted(key)), "
                    + "because that \(objection).")
        }
        return problems
    }
}

extension AttributionRequirement {
    /// The requirement in words: `an author`, `a note`, `the information 'request'`.
    package var noun: String {
        switch self {
        case .author: "an author"
        case .note: "a note"
        case .info(let key): "the information \(ReadableText.quoted(key))"
        }
    }

    /// Whether an entry says it. A blank text says nothing.
    package func isMet(_ author: String?, _ note: String?, _ info: [String: String]) -> Bool {
        let text =
            switch self {
            case .author: author
            case .note: note
            case .info(let key): info[key]
            }
        return text?.contains { !$0.isWhitespace } ?? false
    }

    fileprivate var sortKey: [UInt8] {
        switch self {
        case .author: [0]
        case .note: [1]
        case .info(let key): [2] + Array(key.utf8)
        }
    }
}
