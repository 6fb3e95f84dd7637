/// An index over several properties of an entity, by which objects are found and sorted.
///
/// It serves conditions for equality on its first properties together with a range, a prefix or an order of the
/// next one. For a single attribute there is ``AttributeDescription/isIndexed``.
///
/// ```swift
/// ["customer", .descending("placedOn")]
/// ```
public struct IndexDescription: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// One property of an index, and the direction of its values.
    public struct Element: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The name of an attribute, or of a to-one relationship that many objects may have to one.
        public var propertyName: String
        /// Whether the least value comes first.
        public var isAscending: Bool

        /// Names a property.
        ///
        /// - Parameters:
        ///   - propertyName: The name of an attribute, or of a to-one relationship.
        ///   - isAscending: Whether the least value comes first.
        public init(_ propertyName: String, isAscending: Bool = true) {
            self.propertyName = propertyName
            self.isAscending = isAscending
        }

        /// Names a property whose least value comes first.
        ///
        /// - Parameter value: The name.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// A property whose greatest value comes first.
        ///
        /// - Parameter propertyName: The name of an attribute, or of a to-one relationship.
        /// - Returns: The element.
        public static func descending(_ propertyName: String) -> Element {
            Element(propertyName, isAscending: false)
        }
    }

    /// The properties, those that conditions for equality name first.
    public var elements: [Element]

    /// Describes an index.
    ///
    /// - Parameter elements: The properties, at least two.
    public init(_ elements: [Element]) {
        self.elements = elements
    }

    /// Describes an index.
    ///
    /// - Parameter elements: The properties, at least two.
    public init(arrayLiteral elements: Element...) {
        self.elements = elements
    }

    /// The properties in words: `'customer', 'placedOn' (descending)`.
    package var text: String {
        elements.map { "'\($0.propertyName)'" + ($0.isAscending ? "" : " (descending)") }
            .joined(separator: ", ")
    }

    /// Whether this comes before another in a model's canonical form.
    func precedes(_ other: IndexDescription) -> Bool {
        elements.lexicographicallyPrecedes(other.elements) { left, right in
            left.propertyName == right.propertyName
                ? left.isAscending && !right.isAscending : left.propertyName < right.propertyName
        }
    }
}

// MARK: - Validation

extension EntityDescription {
    /// What is wrong with the entity's indexes of several properties, a sentence each.
    package func indexProblems(_ entitiesByName: [String: EntityDescription]) -> [String] {
        let lineage = lineage(entitiesByName)
        var problems: [String] = []
        for index in indexes {
            let subject = "The index of '\(name)' over \(index.text)"
            let names = index.elements.map(\.propertyName)
            if names.count < 2 {
                problems.append(
                    "\(subject) has no second property: mark a single attribute as indexed.")
            }
            if Set(names).count != names.count {
                problems.append("\(subject) names a property twice.")
            }
            for name in names {
                if let attribute = lineage.lazy.flatMap(\.attributes).first(where: {
                    $0.name == name
                }) {
                    guard attribute.isTransient || attribute.type == .codable else { continue }
                    problems.append(
                        "\(subject) names '\(name)', whose values cannot be indexed: it "
                            + (attribute.isTransient ? "is transient." : "holds coded values."))
                    continue
                }
                let relationship = lineage.lazy.flatMap(\.relationships).first { $0.name == name }
                guard let relationship, relationship.isKeptAtOwner(entitiesByName) else {
                    problems.append(
                        "\(subject) names '\(name)', which is neither an attribute nor a to-one "
                            + "relationship that many objects may have to one.")
                    continue
                }
            }
        }
        return problems
    }
}

extension RelationshipDescription {
    /// Whether each object has at most one object at the other end, which is kept in its own row whatever
    /// numbers the two ends have.
    fileprivate func isKeptAtOwner(_ entitiesByName: [String: EntityDescription]) -> Bool {
        guard !isToMany else { return false }
        guard let inverseName, let destination = entitiesByName[destinationName] else {
            return true
        }
        let inverse = destination.lineage(entitiesByName).flatMap(\.relationships)
            .first { $0.name == inverseName }
        return inverse?.isToMany == true && inverse?.isOrdered == false
    }
}
