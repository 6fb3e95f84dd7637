import DaybookObjectModel

/// What a declaration says of a relationship besides what it leads to: a word, or a list of them.
///
/// ```swift
/// @Relationship(.cascade, inverse: \Line.invoice) var lines: [Line]
/// @Relationship([.deny, .renamed("owner")]) var customer: Customer?
/// ```
public struct RelationshipOptions: Sendable, ExpressibleByArrayLiteral {
    let apply: @Sendable (inout RelationshipDescription) -> Void

    private init(_ apply: @escaping @Sendable (inout RelationshipDescription) -> Void) {
        self.apply = apply
    }

    /// Says all that the elements say. Where two contradict each other, the later one counts.
    public init(arrayLiteral elements: RelationshipOptions...) {
        apply = { description in
            for element in elements { element.apply(&description) }
        }
    }

    /// A delete removes the reference to the deleted object at the other end. This is the default.
    public static let nullify = RelationshipOptions { $0.deleteRule = .nullify }
    /// A delete deletes the objects at the other end, too.
    public static let cascade = RelationshipOptions { $0.deleteRule = .cascade }
    /// A delete is refused at save while there are objects at the other end.
    public static let deny = RelationshipOptions { $0.deleteRule = .deny }
    /// A delete does nothing at the other end, so references that lead nowhere may be left.
    public static let noAction = RelationshipOptions { $0.deleteRule = .noAction }

    /// The relationship had another name before: what a store has under that name is kept under this
    /// one.
    ///
    /// The word may stay as long as there are stores with the earlier name. It has no effect in a store that
    /// has the relationship under its present name.
    public static func renamed(_ earlierName: String) -> RelationshipOptions {
        RelationshipOptions { $0.renamingIdentifier = earlierName }
    }

    /// What the program keeps with the relationship and finds in
    /// ``RelationshipDescription/userInfo``.
    public static func userInfo(_ values: [String: String]) -> RelationshipOptions {
        RelationshipOptions { $0.userInfo.merge(values) { _, later in later } }
    }

    /// Tells apart two versions of the relationship that are otherwise declared alike.
    public static func versionHashModifier(_ modifier: String) -> RelationshipOptions {
        RelationshipOptions { $0.versionHashModifier = modifier }
    }
}

/// The inverse of a relationship that is its own, as among friends.
public enum OwnInverse: Sendable {
    /// The relationship itself.
    case itself
}
