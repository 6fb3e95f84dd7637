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

    /// About how many values of a property within ranges its index and that of its former values have; nil where they do
    /// not serve.
    func estimatedCount(ofEver index: SchemaProperty, in ranges: [IndexRange]) throws -> Int?

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
    /// What is known of the author whom a condition names, where the table has entries by author, too.
    package struct Author: Sendable, Hashable {
        /// About how many entries they have made.
        package let entries: Int
        /// About how many changes these have.
        package let changes: Int

        /// An estimate.
        package init(entries: Int, changes: Int) {
            self.entries = entries
            self.changes = changes
        }
    }

    /// About how many changes there are, whoever has made them.
    package let changes: Int
    /// About how many of them are the author's; nil where only their entries tell.
    package let author: Author?

    /// An estimate.
    package init(_ changes: Int, of author: Author? = nil) {
        self.changes = changes
        self.author = author
    }
}
