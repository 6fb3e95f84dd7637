internal import DaybookObjectModel

/// A selection of entries by who saved them, why and when.
///
/// All given conditions must hold; of several authors, contexts or notes one must match, and of information every
/// key. A new selection includes everything.
package struct HeaderSelection: Sendable {
    /// Entries of these authors; empty for all.
    package var authors: Set<String> = []
    /// Entries of anybody but these authors; those without an author are included.
    package var excludedAuthors: Set<String> = []
    /// Entries saved by contexts with these names; empty for all.
    package var contextNames: Set<String> = []
    /// Entries whose note contains one of these texts, case-sensitively; empty for all.
    package var notes: Set<String> = []
    /// Entries with information by each of these keys: one of the texts, or any text if none is given.
    package var info: [String: Set<String>] = [:]
    /// The first and the last time, in microseconds since 1970.
    package var earliest = Int64.min
    package var latest = Int64.max

    /// Includes everything.
    package init() {}

    /// Whether an entry is included.
    package func includes(_ entry: Entry) -> Bool {
        earliest <= entry.time && entry.time <= latest && includes(entry.header)
    }

    private func includes(_ header: EntryHeader) -> Bool {
        if !authors.isEmpty {
            guard let author = header.author, authors.contains(author) else { return false }
        }
        if let author = header.author, excludedAuthors.contains(author) { return false }
        if !contextNames.isEmpty {
            guard let name = header.context, contextNames.contains(name) else { return false }
        }
        if !notes.isEmpty {
            guard let note = header.note, notes.contains(where: note.holds(anySpellingOf:)) else {
                return false
            }
        }
        return info.allSatisfy { key, texts in
            guard let text = header.info[key] else { return false }
            return texts.isEmpty || texts.contains(text)
        }
    }
}
