internal import DaybookObjectModel
internal import DaybookSnapshotStore

// What formats need that write an event for each change.

extension AuditRecord {
    /// The changes that are shown, each with its place among all of its entry, so that an event has
    /// the same name under every filter.
    var places: [(place: Int, change: Change)] {
        guard shown.count < entry.changes.count else {
            return shown.enumerated().map { ($0.offset, $0.element) }
        }
        // An entry has one change for an object, and a filter keeps their order.
        var places: [(place: Int, change: Change)] = []
        places.reserveCapacity(shown.count)
        for (place, change) in entry.changes.enumerated() where places.count < shown.count {
            let wanted = shown[places.count]
            if wanted.object == change.object { places.append((place, wanted)) }
        }
        return places
    }
}

extension Int64 {
    /// Microseconds as milliseconds, rounded down.
    var milliseconds: Int64 {
        let quotient = self / 1000
        return self % 1000 < 0 ? quotient - 1 : quotient
    }
}
