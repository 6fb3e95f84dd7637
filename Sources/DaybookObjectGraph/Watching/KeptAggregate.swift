import DaybookObjectModel
import Foundation

/// An aggregate of a value of each object that a list shows.
///
/// Counts, sums and means follow each change. An extreme stands at the end of a list that is sorted by the value, where
/// there is no limit; within a limit it is worked out again in memory: O(*n*).
struct KeptAggregate {
    private let function: AggregateFunction
    private let type: AttributeType
    private let isSorted: Bool
    private var running: Aggregation?
    private var values: [GraphID: Value] = [:]

    /// Makes an aggregate of what a list shows.
    ///
    /// - Parameters:
    ///   - function: The aggregate.
    ///   - type: The type of the values.
    ///   - list: The list; the last key of each entry is its value.
    ///   - isSorted: Whether the list is sorted by the value and shows all objects.
    init(
        _ function: AggregateFunction, of type: AttributeType, in list: WatchedList, isSorted: Bool
    ) {
        self.function = function
        self.type = type
        self.isSorted = isSorted
        start(list)
    }

    private mutating func start(_ list: WatchedList) {
        guard !isSorted else { return }
        var all = Aggregation(function, of: type)
        values = [:]
        list.forEach(in: 0..<list.count) {
            let value = $0.keys.last ?? .null
            all.add(value)
            values[$0.id] = value
        }
        running = all
    }

    /// Follows a change of the list.
    mutating func follow(_ step: ListStep, in list: WatchedList) {
        guard !isSorted else { return }
        var all = running ?? Aggregation(function, of: type)
        var isKept = running?.value != nil
        for place in step.objects.removals where isKept {
            isKept = all.remove(values.removeValue(forKey: place.element) ?? .null)
        }
        for id in step.objects.insertions.map(\.element) + step.updates.map(\.id) where isKept {
            let value = list[id]?.keys.last ?? .null
            let before = values.updateValue(value, forKey: id) ?? .null
            guard before != value else { continue }
            isKept = all.remove(before)
            all.add(value)
        }
        if isKept { running = all } else { start(list) }
        // What went wrong on the way may be right in the end.
        if running?.value == nil { start(list) }
    }

    /// The aggregate; nil when the type cannot hold it.
    func value(in list: WatchedList) -> Value? {
        guard isSorted else { return running?.value }
        let first = list.firstOffset { $0.keys.last?.isNull == false }
        guard first < list.count else { return .null }
        guard function == .maximum else { return list[first].keys.last }
        let last = list[list.count - 1].keys.last ?? .null
        return list[list.firstOffset { $0.keys.last?.order(to: last) == .orderedSame }].keys.last
    }
}
