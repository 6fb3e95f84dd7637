/// What a store finds entries by without reading all others, if a model asks for it.
///
/// The store keeps a record for each entry and each of these that the entry says, and looks there for the entries of
/// an author, or with a text by a key. A store whose model asks for none has no such records.
///
/// ```swift
/// let model = ManagedObjectModel(entities: entities, indexesEntries: [.author, .info("request")])
/// ```
public enum IndexedAttribution: Sendable, Hashable {
    /// Who saved.
    case author
    /// Information by that key.
    case info(String)
}

extension Set<IndexedAttribution> {
    /// The author, then the keys in the order of their bytes.
    package var ordered: [IndexedAttribution] {
        sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The mistakes in what a model indexes entries by.
    var problems: [String] {
        var problems: [String] = []
        if count > EntryInfo.countMaximum {
            problems.append(
                "The model indexes entries by \(count) things; there can be at most "
                    + "\(EntryInfo.countMaximum).")
        }
        for case .info(let key) in ordered {
            guard let objection = EntryInfo.objection(toKey: key) else { continue }
            problems.append(
                "The model cannot index entries by the key \(ReadableText.quoted(key)), because that "
                    + "\(objection).")
        }
        return problems
    }
}

extension IndexedAttribution {
    /// The key of the information; empty for the author, because no information has such a key.
    package var key: String {
        switch self {
        case .author: ""
        case .info(let key): key
        }
    }

    /// What it is in words: `author`, `the information "request"`.
    package var noun: String {
        switch self {
        case .author: "author"
        case .info(let key): "the information \(ReadableText.quoted(key))"
        }
    }

    /// What an entry says of it; nil where it says nothing.
    package func text(_ author: String?, _ info: [String: String]) -> String? {
        switch self {
        case .author: author
        case .info(let key): info[key]
        }
    }
}
