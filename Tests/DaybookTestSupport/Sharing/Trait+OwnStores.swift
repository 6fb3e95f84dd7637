package import Testing

extension Trait where Self == ConditionTrait {
    /// For tests of what holds of stores of their own only; they are not run with shared ones.
    ///
    /// - Parameter reason: What shared stores do otherwise.
    /// - Returns: The trait.
    package static func ownStores(_ reason: Comment) -> Self {
        .disabled(if: BackEnd.isShared, reason)
    }
}
