extension ReadableText {
    /// Which sides of a change there are to be told.
    package enum Sides: Sendable {
        /// What an object has that was inserted.
        case new
        /// What was there and what came.
        case both
        /// What an object had that was deleted.
        case old
    }

    /// What has become of a value: `"Turkey" → "Türkiye"`, or one side of it.
    package static func change(from old: String, to new: String, _ sides: Sides) -> String {
        switch sides {
        case .new: new
        case .both: "\(old) → \(new)"
        case .old: old
        }
    }

    /// What has become of members: `without Person/4; with Person/9; in another order: Person/7`, or who
    /// they are or were.
    package static func members(
        removed: [String], added: [String], _ sides: Sides
    ) -> String {
        switch sides {
        case .new: return added.joined(separator: ", ")
        case .old: return removed.joined(separator: ", ")
        case .both:
            let stayed = Set(added).intersection(removed)
            let groups = [
                ("without ", removed.filter { !stayed.contains($0) }),
                ("with ", added.filter { !stayed.contains($0) }),
                ("in another order: ", added.filter { stayed.contains($0) }),
            ]
            return groups.filter { !$0.1.isEmpty }
                .map { $0 + $1.joined(separator: ", ") }.joined(separator: "; ")
        }
    }
}
