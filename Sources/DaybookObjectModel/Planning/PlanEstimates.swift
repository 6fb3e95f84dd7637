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

    /// About how many changes the index of changes has that a condition on the past may be about; nil where it does not
    /// serve.
    func estimatedCount(ofIndexed change: FilterChange) throws -> Int?
}
