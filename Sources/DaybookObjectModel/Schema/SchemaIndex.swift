/// An index: of one attribute, or over several properties, in the order of the first and then of the others.
package struct SchemaIndex: Sendable {
    /// One property of the index.
    package struct Element: Sendable {
        /// The property.
        package let property: SchemaProperty
        /// Whether the least value comes first; null is less than all.
        package let isAscending: Bool
    }

    /// The number in index records: that of the attribute, or one of those of constraints for several properties
    /// together.
    package let number: PropertyNumber
    /// The properties in their order.
    package let elements: [Element]

    init(number: PropertyNumber, _ elements: [Element]) {
        self.number = number
        self.elements = elements
    }

    /// The index of a single attribute.
    package init(of property: SchemaProperty) {
        self.init(number: property.number, [Element(property: property, isAscending: true)])
    }

    /// Whether it is over several properties.
    package var isCompound: Bool {
        number.rawValue >= SchemaConstraint.compoundNumberMinimum
    }

    /// Whether the index, if there is one, has records for objects without a value.
    package var holdsNulls: Bool { isCompound || !elements.contains { $0.property.isUnique } }

    /// The properties in words.
    package var text: String {
        IndexDescription(
            elements.map { IndexDescription.Element($0.property.name, isAscending: $0.isAscending) }
        ).text
    }
}
