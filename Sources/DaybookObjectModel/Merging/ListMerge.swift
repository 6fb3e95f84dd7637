import Foundation

/// Merges lists that are kept as JSON, element by element.
///
/// An element is the bytes of its JSON, so a list merges whatever its elements mean to a program, and
/// two elements are the same when they are written the same.
enum ListMerge {
    /// Theirs, without what ours has taken out and with what ours has put in after it.
    ///
    /// The bytes do not tell a set from a list that happens to stand in order, so who knows that these
    /// are sets puts the result in order.
    ///
    /// - Returns: Nil when one of the three is not a list.
    static func merged(base: Value, theirs: Value, ours: Value) -> Value? {
        guard let base = elements(base), let there = elements(theirs), let here = elements(ours)
        else { return nil }
        let (before, wanted) = (Set(base), Set(here))
        let removed = before.subtracting(wanted)
        var known = Set(there).union(before)
        var merged = there.filter { !removed.contains($0) }
        for element in here where known.insert(element).inserted { merged.append(element) }
        if merged.isEmpty, theirs.isNull || ours.isNull { return .null }
        return list(merged)
    }

    /// A list of the same elements in the order in which sets are kept; what is no list stays as it
    /// is.
    static func inOrder(_ value: Value) -> Value {
        guard !value.isNull, let elements = elements(value) else { return value }
        return list(elements.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// The JSON of each element; none for no value, and nil for what is no list.
    private static func elements(_ value: Value) -> [[UInt8]]? {
        switch value {
        case .null: return []
        case .data(let data):
            do {
                guard case .array(let elements) = try JSONValue(parsing: Array(data)) else {
                    return nil
                }
                // As coders write them, so that lists that say the same are the same bytes.
                return elements.map { Array($0.text(escaping: .least).utf8) }
            } catch {
                return nil
            }
        default: return nil
        }
    }

    private static func list(_ elements: [[UInt8]]) -> Value {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        bytes += elements.joined(separator: [UInt8(ascii: ",")])
        bytes.append(UInt8(ascii: "]"))
        return .data(Data(bytes))
    }
}

extension Value {
    /// The value of a set, whose elements a coder writes in any order, in the one form in which sets
    /// are kept.
    package var withElementsInOrder: Value { ListMerge.inOrder(self) }
}
