/// The outcome for a property that both sides have changed.
///
/// The one rule for saves to a store and to a parent, for merges into a context, and for a refresh.
package enum PropertyMeeting: Sendable, Hashable {
    /// This value combines both changes.
    case merged(Value)
    /// Nothing is left to do or to report: both have set the same value.
    case alike
    /// Only a policy can decide whose value wins.
    case collision
}

extension SchemaProperty {
    /// The outcome for an edit of this property when the current value is no longer the one it
    /// started from.
    ///
    /// Equal values need not mean that the edits agree: when two sides have read 0 and added 10,
    /// the total should be 20. So equal values count as settled only under a policy that settles
    /// conflicts. A reference that a delete rule has cleared on both sides always does.
    ///
    /// - Parameters:
    ///   - edit: Our edit.
    ///   - theirs: The current value.
    ///   - isByRule: Whether the edit was made by a delete rule.
    ///   - policy: The merge policy of our side.
    /// - Returns: Whether both changes merge, agree or collide.
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

    /// Merges our change into their value by the attribute's strategy.
    ///
    /// - Returns: The merged value; nil when there is no strategy, or it gives no value that the
    ///   model allows.
    package func merged(base: Value, theirs: Value, ours: Value) -> Value? {
        guard let merge else { return nil }
        if theirs == base { return ours }
        if ours == base { return theirs }
        guard var value = merge.merged(base: base, theirs: theirs, ours: ours) else { return nil }
        if isSet { value = value.withElementsInOrder }
        // Binary numbers are rounded with each addition, to the precision of their type.
        if attribute?.type == .float, case .double(let sum) = value, Float(sum).isFinite {
            value = .double(Double(Float(sum)))
        }
        return value == theirs || misfit(of: value) == nil ? value : nil
    }
}

/// A property in which the changes of two sides were combined by the attribute's ``MergeStrategy``.
public struct MergedValue: Sendable, Hashable {
    /// The object.
    public let object: ObjectID
    /// The property.
    public let property: PropertyNumber
    /// The property's name.
    public let propertyName: String
    /// The value that our side had read.
    public let base: Value
    /// The value that the others had set.
    public let theirs: Value
    /// The value that our side had set.
    public let ours: Value
    /// The value that was written.
    public let written: Value

    /// Creates a merged value.
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
