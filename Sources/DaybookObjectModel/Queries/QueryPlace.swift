import Foundation

/// A place in the order of a query, at an object that was there: where one page ends and the next begins.
///
/// What counts are the keys that the object had. So a place stays where it is when the object is changed
/// or deleted, and when others are put before it.
package struct QueryPlace: Sendable, Hashable {
    /// The keys by which the object was sorted, one for each sorting of the query.
    package var keys: [Value]
    /// The object, whose number decides among equals.
    package var object: ObjectID

    /// Names a place.
    package init(keys: [Value], object: ObjectID) {
        self.keys = keys
        self.object = object
    }
}

extension Query {
    /// Whether the query begins at a place, or breaks ties the other way round.
    package var isPart: Bool { start != nil || descendsAmongEquals }

    /// The same objects in the opposite order.
    package var reversed: Query {
        var other = self
        for index in sortings.indices { other.sortings[index].isAscending.toggle() }
        other.descendsAmongEquals.toggle()
        return other
    }

    /// Whether one of two objects with equal keys comes before the other.
    package func breaksTie(_ left: ObjectID, before right: ObjectID) -> Bool {
        let (left, right) = descendsAmongEquals ? (right, left) : (left, right)
        return (left.number, left.entity) < (right.number, right.entity)
    }

    /// Whether an object is behind the place where the query begins.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - keys: The keys by which it is sorted.
    /// - Returns: Whether it is; always for a query that begins with its first object.
    package func isBehindStart(_ object: ObjectID, _ keys: [Value]) -> Bool {
        guard let start else { return true }
        for (index, sorting) in sortings.enumerated() {
            switch sorting.order(ofKeys: start.keys[index], keys[index]) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return breaksTie(start.object, before: object)
    }
}
