import Foundation

/// Merges lists that are kept as JSON, element by element.
///
/// An element is compared by the bytes of its JSON: lists merge whatever their elements mean to a
/// program, and two elements are the same when they are written the same.
enum ListMerge {
    /// Their list without the elements that we removed, followed by those that we added.
    ///
    /// The bytes of a set look like those of a sorted list, so the caller sorts the result when it
    /// knows that these are sets.
    ///
    /// - Returns: The merged list; nil when one of the three is not a list.
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

    /// The list with its elements in the order in which sets are kept; a value that is not a list
    /// is returned unchanged.
    static func inOrder(_ value: Value) -> Value {
        guard !value.isNull, let elements = elements(value) else { return value }
        return list(elements.sorted { $0.lexicographicallyPrecedes($1) })
    }

    /// The JSON of each element; empty for no value, nil for a value that is not a list.
    private static func elements(_ value: Value) -> [[UInt8]]? {
        switch value {
        case .null: return []
        case .data(let data):
            do {
                guard case .array(let elements) = try JSONValue(parsing: Array(data)) else {
                    return nil
                }
                // As coders write them, so that equal lists have equal bytes.
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
    /// The value of a set in canonical form, since a coder writes the elements in any order.
    package var withElementsInOrder: Value { ListMerge.inOrder(self) }
}
