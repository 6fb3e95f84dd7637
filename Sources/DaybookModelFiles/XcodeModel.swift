import DaybookObjectModel

/// A model as Xcode keeps it, before translation: the readers of both kinds of file make it, and
/// ``ModelTranslation`` reads it.
struct XcodeModel {
    var entities: [XcodeEntity] = []
    var configurations: [XcodeConfiguration] = []
    /// The elements of composite attributes, by the name that the attributes give.
    var composites: [String: [XcodeAttribute]] = [:]
    /// What the file has and a model of Daybook cannot have: a sentence for each.
    var remarks: [String] = []
}

extension XcodeModel {
    static func remark(ofFetchRequest name: String) -> String {
        "The fetch request '\(name)' is left out: a model has none. Make a 'FetchRequest' in code."
    }

    static func remark(ofFetchedProperty name: String, in entityName: String) -> String {
        "'\(entityName).\(name)' is a fetched property and is left out: a model has none. Fetch in a "
            + "method of the class."
    }

    /// Why an entity or property cannot keep its name; nil if it can.
    static func problem(ofName name: String, of subject: String) -> String? {
        if name.isPropertyName { return nil }
        return
            "\(subject) cannot have that name here: a name is a letter, then letters, digits and "
            + "underscores. Rename it in a new version of the model, with the old name as its "
            + "renaming identifier."
    }
}

/// A named selection of entities.
struct XcodeConfiguration {
    var name: String
    var entityNames: [String] = []
}

/// One entity.
struct XcodeEntity {
    var name: String
    /// The class of its objects, without the name of a module; nil for `NSManagedObject`.
    var className: String?
    var superentityName: String?
    var isAbstract = false
    var history = XcodeHistory()
    var attributes: [XcodeAttribute] = []
    var relationships: [XcodeRelationship] = []
    var indexes: [XcodeIndex] = []
    var uniquenessConstraints: [[String]] = []
}

/// What entities and properties carry for migrations and for people.
struct XcodeHistory {
    /// The name in an earlier version.
    var renamingIdentifier: String?
    /// A text that tells two versions apart which look the same.
    var versionHashModifier: String?
    var userInfo: [String: String] = [:]

    /// The earlier name; nil when it is the current one.
    func renamingIdentifier(of name: String) -> String? {
        renamingIdentifier == name ? nil : renamingIdentifier
    }
}

/// One attribute.
struct XcodeAttribute {
    var name: String
    var type: XcodeType
    var isOptional = false
    var isTransient = false
    var isIndexed = false
    var keepsDataOutside = false
    /// The expression of a derived attribute; empty when its source is unknown.
    var derivation: String?
    var transformerName: String?
    var className: String?
    var defaultValue: XcodeValue?
    var minimum: XcodeValue?
    var maximum: XcodeValue?
    var pattern: String?
    var history = XcodeHistory()
}

/// The type of an attribute.
enum XcodeType {
    case plain(AttributeType)
    /// A value that a transformer turns into data.
    case transformable
    /// Several values under one name: the name of their kind, if the model gives it.
    case composite(String?)
    /// Nothing that is stored: a value without a type, or an object's identifier.
    case unstored
    /// A type that is not known here.
    case unknown(String)
}

/// A value that stands in a model.
enum XcodeValue {
    /// As it is written in the XML.
    case text(String)
    /// Seconds since the beginning of 2001.
    case interval(String)
    /// As a compiled model holds it.
    case value(Value)
}

/// One relationship.
struct XcodeRelationship {
    var name: String
    var destinationName: String
    var inverseName: String?
    var isToMany = false
    var isOrdered = false
    var isOptional = false
    var isTransient = false
    var deleteRule = DeleteRule.nullify
    var minimumCount = 0
    var maximumCount = 0
    var history = XcodeHistory()
}

/// One fetch index.
struct XcodeIndex {
    var name: String
    /// The properties; nil in place of an expression.
    var propertyNames: [String?] = []
    /// The places of the properties whose greatest values come first. A compiled model is taken to have none.
    var descending: Set<Int> = []
    var isSpatial = false
    /// Whether the index has only the objects that meet a condition.
    var isPartial = false
}
