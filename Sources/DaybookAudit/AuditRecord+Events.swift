internal import DaybookObjectModel
internal import DaybookSnapshotStore

// Support for formats that write an event for each change.

extension AuditRecord {
    /// The shown changes as events, each with its position among those of the entry, in which that of a
    /// model comes first.
    var numberedEvents: [(position: Int, change: Change)] {
        let first = entry.model == nil ? 0 : 1
        return numberedChanges.map { (first + $0.position, $0.change) }
    }

    /// The shown changes, each with its position in its entry, so that an event has the same name
    /// under every filter.
    var numberedChanges: [(position: Int, change: Change)] {
        guard shown.count < entry.changes.count else {
            return shown.enumerated().map { ($0.offset, $0.element) }
        }
        // An entry has one change for each object, and a filter keeps their order.
        var positions: [(position: Int, change: Change)] = []
        positions.reserveCapacity(shown.count)
        for (position, change) in entry.changes.enumerated() where positions.count < shown.count {
            let wanted = shown[positions.count]
            if wanted.object == change.object { positions.append((position, wanted)) }
        }
        return positions
    }
}

extension Int64 {
    /// Microseconds as milliseconds, rounded down.
    var milliseconds: Int64 {
        let quotient = self / 1000
        return self % 1000 < 0 ? quotient - 1 : quotient
    }
}
