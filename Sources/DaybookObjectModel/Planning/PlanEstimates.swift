/// How many objects there are and how many an index has, about: what a plan is chosen by.
package protocol PlanEstimates: ~Copyable {
    /// The model.
    var schema: Schema { get }

    /// About how many objects the entities have.
    func estimatedCount(of entities: [EntityNumber]) throws -> Int

    /// About how many earlier versions the objects of the entities have.
    func estimatedVersionCount(of entities: [EntityNumber]) throws -> Int

    /// About how many records the index of a property has within ranges; nil where it does not serve.
    func estimatedCount(of index: SchemaProperty, in ranges: [IndexRange]) throws -> Int?

    /// About how many records an index over several properties has within ranges; nil where it does not serve.
    func estimatedCount(of index: SchemaIndex, in ranges: [CompoundRange]) throws -> Int?

    /// About how many objects lead to another through a stored relationship.
    func estimatedCount(
        ofReferrersTo object: ObjectID, through property: SchemaProperty
    ) throws -> Int

    /// About how many objects the entries have touched that a condition on the past is about.
    func estimatedCount(of change: FilterChange) throws -> Int

    /// How the index of changes serves a condition on the past; nil where it does not.
    func estimate(ofIndexed change: FilterChange) throws -> IndexedChangesEstimate?
}

/// How an index of changes serves a condition on the past.
package struct IndexedChangesEstimate: Sendable, Hashable {
    /// Whose changes are looked at.
    package enum Reach: Sendable, Hashable {
        /// Those of all entries of the time in question.
        case ofAll
        /// Those of the author whom the condition names, in so many entries: the table has entries by author, too.
        case ofAuthor(entries: Int)
    }

    /// About how many changes are looked at.
    package let count: Int
    /// Whose they are.
    package let reach: Reach

    /// An estimate.
    package init(_ count: Int, _ reach: Reach = .ofAll) {
        self.count = count
        self.reach = reach
    }
}
