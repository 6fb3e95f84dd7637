import DaybookObjectModel

/// What a declaration says of an attribute besides its type: a word, or a list of them.
///
/// ```swift
/// @Attribute(.indexed) var name: String = ""
/// @Attribute([.unique, .renamed("badge")]) var number: String
/// ```
public struct AttributeOptions: Sendable, ExpressibleByArrayLiteral {
    let apply: @Sendable (inout Declared<AttributeDescription>) -> Void

    private init(_ apply: @escaping @Sendable (inout Declared<AttributeDescription>) -> Void) {
        self.apply = apply
    }

    /// Says all that the elements say. Where two contradict each other, the later one counts.
    public init(arrayLiteral elements: AttributeOptions...) {
        apply = { declared in
            for element in elements { element.apply(&declared) }
        }
    }

    /// The store keeps an index for finding and sorting by the attribute.
    public static let indexed = AttributeOptions { $0.description.isIndexed = true }
    /// No two objects may have the same value; any number may have none.
    public static let unique = AttributeOptions { $0.description.isUnique = true }
    /// Exports leave the values out, or write hashes instead, unless told otherwise.
    ///
    /// The mark is part of the model that the store keeps, and exports go by it. A class that gets it later
    /// marks an older store when it opens it, and exports then leave out the earlier values as well.
    public static let confidential = AttributeOptions { $0.description.isConfidential = true }
    /// The attribute is mandatory and has no default value: every object must be given one before it is
    /// saved. A unique attribute without a default is required anyway.
    public static let required = AttributeOptions { $0.isRequired = true }

    /// The attribute had another name before: what a store has under that name is kept under this one.
    ///
    /// The word may stay as long as there are stores with the earlier name. It has no effect in a store that
    /// has the attribute under its present name.
    public static func renamed(_ earlierName: String) -> AttributeOptions {
        AttributeOptions { $0.description.renamingIdentifier = earlierName }
    }

    /// The store works out the values, from other values of the object or from its relationships, and no
    /// program sets them.
    ///
    /// ```swift
    /// @Attribute(.derived("employees.@count")) private(set) var headcount: Int = 0
    /// @Attribute(.derived("employees.salary.@sum")) private(set) var payroll: Decimal = 0
    /// @Attribute([.derived("canonical:(name)"), .indexed]) private(set) var sortName: String = ""
    /// ```
    ///
    /// The value is the one of the last save: a context shows what has changed once it has been saved. A
    /// new object has the default until then. ``Derivation`` lists the expressions; one that is not
    /// among them is a mistake of the model.
    public static func derived(_ expression: String) -> AttributeOptions {
        AttributeOptions { declared in
            declared.description.derivation = Derivation(expression)
            if declared.description.derivation == nil { declared.unknownDerivation = expression }
        }
    }

    /// What the program keeps with the attribute and finds in ``AttributeDescription/userInfo``.
    public static func userInfo(_ values: [String: String]) -> AttributeOptions {
        AttributeOptions { $0.description.userInfo.merge(values) { _, later in later } }
    }

    /// Tells apart two versions of the attribute that are otherwise declared alike.
    public static func versionHashModifier(_ modifier: String) -> AttributeOptions {
        AttributeOptions { $0.description.versionHashModifier = modifier }
    }
}

/// A description in the making, with what a declaration says besides.
struct Declared<Description> {
    var description: Description
    /// Whether the declaration says that every object is given a value.
    var isRequired = false
    /// An expression that no attribute can be derived from.
    var unknownDerivation: String?
}
