extension ReadableText {
    /// The sides of a change to show.
    package enum Sides: Sendable {
        /// The values of an inserted object.
        case new
        /// The old and the new values.
        case both
        /// The values of a deleted object.
        case old
    }

    /// A change of a value: `"Turkey" → "Türkiye"`, or one side of it.
    package static func change(from old: String, to new: String, _ sides: Sides) -> String {
        switch sides {
        case .new: new
        case .both: "\(old) → \(new)"
        case .old: old
        }
    }

    /// A change of members: `without Person/4; with Person/9; in another order: Person/7`, or the
    /// members on one side.
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
