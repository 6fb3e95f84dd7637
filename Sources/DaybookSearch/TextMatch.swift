public import DaybookJournalLog
public import DaybookObjectGraph

/// A value of an attribute in which a text was found.
public struct TextMatch: Sendable, Hashable {
    /// The object.
    public let objectID: ManagedObjectID
    /// The name of the attribute, as it is now.
    public let propertyName: String
    /// The whole value.
    public let text: String
    /// How well it matches: the greater the better, by BM25 over all values that ever were. Numbers of two searches
    /// cannot be compared.
    public let rank: Double
    /// The entry that set the value.
    public let since: SequenceNumber
    /// The entry that replaced it or deleted the object; nil while it stands.
    public let until: SequenceNumber?
}

/// The state of the store in which a text is looked for.
public enum SearchMoment: Sendable, Hashable {
    /// The newest.
    case now
    /// After an entry.
    case sequence(SequenceNumber)
    /// Every value that ever was.
    case ever
}

/// What a search is limited to.
public struct SearchScope: Sendable, Hashable {
    /// The state that is searched.
    public var moment: SearchMoment
    /// The entity of the objects, with its subentities; nil for all.
    public var entityName: String?
    /// The attribute; nil for all. It needs an entity.
    public var propertyName: String?
    /// The greatest number of matches.
    public var limit: Int
    /// How many matches to pass over.
    public var offset: Int

    /// Limits a search.
    ///
    /// - Parameters:
    ///   - moment: The state that is searched.
    ///   - entityName: The entity of the objects, with its subentities; nil for all.
    ///   - propertyName: The attribute; nil for all. It needs an entity.
    ///   - limit: The greatest number of matches.
    ///   - offset: How many matches to pass over.
    public init(
        at moment: SearchMoment = .now, entityName: String? = nil, propertyName: String? = nil,
        limit: Int = 100, offset: Int = 0
    ) {
        self.moment = moment
        self.entityName = entityName
        self.propertyName = propertyName
        self.limit = limit
        self.offset = offset
    }
}
