/// What becomes of a property that ours changed and that theirs has changed as well.
///
/// The rule stands here once: for saves to a store and to a parent, for merges into a context, and for
/// a refresh.
package enum PropertyMeeting: Sendable, Hashable {
    /// Both changes are in this value.
    case merged(Value)
    /// There is nothing left to do: both have come to the same, and nobody need be told.
    case alike
    /// Only a policy can tell whose value it is.
    case collision
}

extension SchemaProperty {
    /// What becomes of an edit of this property where there is by now another value than it started
    /// from.
    ///
    /// A value that was made from what was read is not the same edit, even if it is the same value:
    /// two sides that have read 0 and added 10 have not added 20 between them. So equal values count
    /// as settled only under a policy that settles. What a delete rule has emptied on both sides was
    /// made from nothing.
    ///
    /// - Parameters:
    ///   - edit: Our edit.
    ///   - theirs: What there is now.
    ///   - isByRule: Whether the edit was made by a delete rule.
    ///   - policy: What our side does about conflicts.
    /// - Returns: Whether both changes merge, are settled or collide.
    package func meeting(
        of edit: Edit, with theirs: Value, isByRule: Bool, under policy: MergePolicy
    ) -> PropertyMeeting {
        if let value = merged(base: edit.old, theirs: theirs, ours: edit.new) {
            return .merged(value)
        }
        guard theirs == edit.new else { return .collision }
        let isEmptied = isByRule && theirs.isNull && edit.old.reference != nil
        return policy == .error && !isEmptied ? .collision : .alike
    }

    /// What ours comes to on top of theirs, by the attribute's strategy.
    ///
    /// - Returns: Nil when there is no strategy, or it has no value for the two that the model allows.
    package func merged(base: Value, theirs: Value, ours: Value) -> Value? {
        guard let merge else { return nil }
        if theirs == base { return ours }
        if ours == base { return theirs }
        guard var value = merge.merged(base: base, theirs: theirs, ours: ours) else { return nil }
        if isSet { value = value.withElementsInOrder }
        return value == theirs || misfit(of: value) == nil ? value : nil
    }
}

/// One property in which two sides' changes have become one, by the attribute's ``MergeStrategy``.
public struct MergedValue: Sendable, Hashable {
    /// The object.
    public let object: ObjectID
    /// The property.
    public let property: PropertyNumber
    /// The property's name.
    public let propertyName: String
    /// The value that our side had read.
    public let base: Value
    /// The value that the others had made of it.
    public let theirs: Value
    /// The value that our side asked for.
    public let ours: Value
    /// The value that was written.
    public let written: Value

    /// Describes what has become of an edit.
    package init(
        _ edit: Edit, of property: SchemaProperty, in object: ObjectID, theirs: Value,
        written: Value
    ) {
        self.object = object
        self.property = property.number
        propertyName = property.name
        base = edit.old
        self.theirs = theirs
        ours = edit.new
        self.written = written
    }
}
