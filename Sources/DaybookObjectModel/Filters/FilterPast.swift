package import Foundation

/// A question about the past of an object.
///
/// The past is what was saved: the states that the entries have left, from the one that inserted the object up
/// to the newest that the reader sees. Pending changes are no part of it. An object that was deleted and came
/// back has no states in between.
package enum FilterPast: Sendable, Hashable {
    /// The condition held in some state.
    case ever(Filter)
    /// The condition held in every state; so it does for an object without any.
    case always(Filter)
    /// The object was there at a moment, and the condition held then.
    case was(Filter, at: FilterMoment)
    /// An entry changed a property.
    case change(FilterChange)
}

/// A question about the changes of one property.
///
/// A change is an entry before and after which the object was there, with different values. What inserts or
/// deletes the object changes nothing.
package struct FilterChange: Sendable {
    /// In which direction a value changes.
    package enum Direction: String, Sendable, Hashable, CaseIterable {
        /// To another value, also from null or to it.
        case changed = "CHANGED"
        /// From a value to a greater one.
        case increased = "INCREASED"
        /// From a value to a lesser one.
        case decreased = "DECREASED"
    }

    /// Who saved the entry.
    package enum Author: Sendable, Hashable {
        /// Anybody or nobody.
        case anyone
        /// The author of this name; nil for an entry without one.
        case named(String?)
    }

    /// The property: an attribute, or a relationship of any kind.
    package let property: SchemaProperty
    /// The direction.
    package let direction: Direction
    /// The author.
    package let author: Author
    /// The first moment of the entries; nil for all up to the last.
    package let since: FilterMoment?
    /// The last moment of the entries; nil for all from the first.
    package let until: FilterMoment?

    /// A question about changes.
    ///
    /// - Throws: ``QueryError`` when the property is in no entry, or has no values of which one is greater.
    package init(
        _ property: SchemaProperty, _ direction: Direction, by author: Author = .anyone,
        since: FilterMoment? = nil, until: FilterMoment? = nil
    ) throws(QueryError) {
        guard property.isPersistent else {
            throw QueryError(
                "'\(property.name)' is transient, so no entry has changed it. Ask about an attribute that "
                    + "is saved.")
        }
        guard direction == .changed || property.hasGreaterValues else {
            throw QueryError(
                "\(direction.rawValue) compares numbers and dates, and '\(property.name)' is neither. "
                    + "CHANGED asks whether it became another.")
        }
        self.init(known: property, direction, by: author, since: since, until: until)
    }

    fileprivate init(
        known property: SchemaProperty, _ direction: Direction, by author: Author,
        since: FilterMoment?, until: FilterMoment?
    ) {
        self.property = property
        self.direction = direction
        self.author = author
        self.since = since
        self.until = until
    }

    /// Whether a property that has had one value and then another has changed in the direction.
    package func isMet(from old: Value, to new: Value) -> Bool {
        switch direction {
        case .changed: old != new
        case .increased: FilterOperator.greater.holds(new, old)
        case .decreased: FilterOperator.less.holds(new, old)
        }
    }
}

extension FilterChange: Hashable {
    /// Whether both ask the same.
    package static func == (left: FilterChange, right: FilterChange) -> Bool {
        left.property.number == right.property.number && left.direction == right.direction
            && left.author == right.author && left.since == right.since
            && left.until == right.until
    }

    /// Hashes what equality compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(property.number)
        hasher.combine(direction)
        hasher.combine(author)
        hasher.combine(since)
        hasher.combine(until)
    }
}

extension SchemaProperty {
    /// Whether its values are numbers or dates, one of which is greater than another.
    package var hasGreaterValues: Bool {
        switch attribute?.type {
        case .int16, .int32, .int64, .float, .double, .decimal, .date: true
        default: false
        }
    }
}

/// A moment in the past of a store, which knows the entry that it means.
package enum FilterMoment: Sendable, Hashable {
    /// The entry of that number.
    case entry(UInt64)
    /// The entry that has that name.
    case tag(String)
    /// A point in time.
    case date(Date)
    /// The newest entry that the reader sees.
    case head

    /// The moment that a text means: a date, `head`, or else a tag.
    package init(_ text: String) {
        if text.lowercased() == "head" {
            self = .head
        } else if let date = DateText.date(text) {
            self = .init(date)
        } else {
            self = .tag(text)
        }
    }

    /// A point in time, in whole microseconds, as entries have it.
    package init(_ date: Date) {
        guard case .date(let normalized) = Value.date(date).normalized else {
            self = .date(date)
            return
        }
        self = .date(normalized)
    }
}

// MARK: - Within filters

extension Filter {
    /// Whether a part of the condition asks about the past.
    package var asksForPast: Bool { uses.contains { $0.past != nil } }

    /// The condition, if it can stand within a question about the past.
    ///
    /// - Throws: ``QueryError`` when it asks about the past itself, or about an object around it.
    package func withinPast() throws(QueryError) -> Filter {
        let uses = uses
        if uses.contains(where: { $0.past != nil }) {
            throw QueryError(
                "One question about the past cannot stand within another. Join them with AND or OR."
            )
        }
        if uses.contains(where: \.looksOutward) {
            throw QueryError(
                "Within EVER, ALWAYS and WAS a condition is about one object and what that leads to. "
                    + "Ask about the object around it outside of them.")
        }
        return self
    }

    /// The questions about changes of the object at hand, at least one of which is met by an object that
    /// is found for a change.
    package var changesAsked: [FilterChange] {
        switch self {
        case .past(let path, .change(let change)): path == FilterPath() ? [change] : []
        case .and(let filters), .or(let filters): filters.flatMap(\.changesAsked)
        default: []
        }
    }

    /// Whether a moment in the condition is that of an entry, which each store numbers for itself.
    package var namesEntries: Bool {
        uses.contains { use in
            use.past?.moments.contains { if case .date = $0 { false } else { true } } == true
        }
    }
}

extension FilterPast {
    /// The moments that it names.
    fileprivate var moments: [FilterMoment] {
        switch self {
        case .ever, .always: []
        case .was(_, let moment): [moment]
        case .change(let change): [change.since, change.until].compactMap(\.self)
        }
    }

    /// The condition in it, which is about the same object.
    var condition: Filter? {
        switch self {
        case .ever(let filter), .always(let filter), .was(let filter, _): filter
        case .change: nil
        }
    }
}
