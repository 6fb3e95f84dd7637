import Foundation

/// The reason why a value does not fit, without its location.
package struct ValueMisfit: Sendable, Hashable {
    /// The kind of rule that is broken.
    package let reason: ValidationFailure.Reason
    /// The rest of a sentence that starts with the name of the property.
    package let objection: String

    /// Describes a misfit.
    package init(_ reason: ValidationFailure.Reason, _ objection: String) {
        self.reason = reason
        self.objection = objection
    }

    /// The reason why no program sets a derived attribute.
    package static let derived = ValueMisfit(
        .invalid, "is derived: it follows from other values, and cannot be set")
}

/// The model's demands on the values of one property.
struct ValueDemand: Sendable {
    /// The type of an attribute; nil for a reference.
    private let type: AttributeType?
    private let isOptional: Bool
    /// Nil when there are none.
    private let rules: AttributeRules?
    let hasRules: Bool
    /// The pattern of the whole text.
    private let expression: TextExpression?

    init(_ kind: SchemaProperty.Kind) {
        switch kind {
        case .attribute(let attribute):
            type = attribute.type
            isOptional = attribute.isOptional
            rules = attribute.rules.isEmpty ? nil : attribute.rules
            hasRules = !attribute.rules.isEmpty
            expression = attribute.rules.pattern.flatMap { TextPattern.expression($0, []) }
        case .relationship(let relationship, _):
            type = nil
            isOptional = relationship.isOptional
            rules = nil
            hasRules = false
            expression = nil
        case .removed:
            type = nil
            isOptional = true
            rules = nil
            hasRules = false
            expression = nil
        }
    }

    func misfit(of value: Value) -> ValueMisfit? {
        if value.isNull {
            if isOptional { return nil }
            return ValueMisfit(
                .missing, type == nil ? "must refer to an object" : "must have a value")
        }
        if isPlain(value) { return nil }
        guard let type else {
            return value.reference == nil
                ? ValueMisfit(.invalid, "holds a reference, not \(value.noun)") : nil
        }
        if let misfit = type.misfit(of: value) { return misfit }
        return rules.flatMap { misfit(of: value, $0) }
    }

    /// Whether a value is of a common kind that always fits its type, and there are no rules.
    private func isPlain(_ value: Value) -> Bool {
        guard !hasRules else { return false }
        return switch (type, value) {
        case (.string, .string), (.int64, .int), (.double, .double), (.bool, .bool): true
        default: false
        }
    }

    private func misfit(of value: Value, _ rules: AttributeRules) -> ValueMisfit? {
        if !rules.minimum.isNull, value.order(to: rules.minimum) == .orderedAscending {
            return value.isDate
                ? ValueMisfit(.dateTooEarly, "is earlier than its minimum")
                : ValueMisfit(.numberTooSmall, "is below its minimum")
        }
        if !rules.maximum.isNull, value.order(to: rules.maximum) == .orderedDescending {
            return value.isDate
                ? ValueMisfit(.dateTooLate, "is later than its maximum")
                : ValueMisfit(.numberTooLarge, "is above its maximum")
        }
        if rules.minimumLength > 0 || rules.maximumLength > 0, let length = value.length {
            if length < rules.minimumLength {
                return ValueMisfit(
                    .tooShort, "is shorter than its minimum length of \(rules.minimumLength)")
            }
            if rules.maximumLength > 0, length > rules.maximumLength {
                return ValueMisfit(
                    .tooLong, "is longer than its maximum length of \(rules.maximumLength)")
            }
        }
        if let expression, case .string(let text) = value {
            switch expression.answer(to: text) {
            case .matches: break
            case .differs: return ValueMisfit(.patternMismatch, "does not match its pattern")
            case .unknown:
                return ValueMisfit(
                    .tooLong,
                    "takes too long to compare with its pattern; a pattern without possessive "
                        + "quantifiers, back references and look-around could be compared")
            }
        }
        return nil
    }
}

extension SchemaProperty {
    /// Checks a value against the model's demands on this property alone.
    ///
    /// - Returns: Nil when it fits. Callers that know the schema check whether a reference leads to
    ///   an object of the right entity.
    package func misfit(of value: Value) -> ValueMisfit? {
        demand.misfit(of: value)
    }

    // MARK: - Counts

    /// Whether the objects of this relationship must be counted: the object itself has no value for
    /// them, and their number is limited.
    package var isCounted: Bool {
        guard slot == nil, let relationship else { return false }
        return !relationship.isOptional || relationship.minimumCount > 0
            || relationship.maximumCount > 0
    }

    /// Checks the number of objects in this relationship.
    ///
    /// A minimum applies only if there are any objects, unless the relationship is mandatory.
    package func misfit(ofCount count: Int) -> ValueMisfit? {
        guard let relationship else { return nil }
        guard relationship.isToMany else {
            return count == 0 && !relationship.isOptional
                ? ValueMisfit(.missing, "must refer to an object") : nil
        }
        let isRequired = !relationship.isOptional
        let least = max(relationship.minimumCount, isRequired ? 1 : 0)
        if count < least, count > 0 || isRequired {
            return ValueMisfit(
                .tooFewObjects, "leads to \(count) objects but must lead to at least \(least)")
        }
        if relationship.maximumCount > 0, count > relationship.maximumCount {
            return ValueMisfit(
                .tooManyObjects,
                "leads to \(count) objects but may lead to at most \(relationship.maximumCount)")
        }
        return nil
    }
}

extension ValidationFailure {
    /// Adds the location to a misfit.
    package init(
        _ misfit: ValueMisfit, of property: SchemaProperty, in object: ObjectID, _ schema: Schema
    ) {
        self.init(
            misfit.reason, object: object, property: property.name,
            "'\(property.name)' of \(schema.name(of: object)) \(misfit.objection).")
    }
}

extension Schema {
    /// Checks that a reference leads to an object of the destination.
    ///
    /// - Returns: Nil when it does.
    package func failure(
        ofReference target: ObjectID, over property: SchemaProperty, in object: ObjectID
    ) -> ValidationFailure? {
        guard let end = property.end, let destination = entity(end.destination),
            !destination.family.contains(target.entity)
        else { return nil }
        return ValidationFailure(
            .invalid, object: object, property: property.name,
            "'\(property.name)' of \(name(of: object)) refers to objects of '\(destination.name)', "
                + "which \(name(of: target)) is not.")
    }
}

extension Value {
    fileprivate var isDate: Bool {
        if case .date = self { true } else { false }
    }

    /// The length in Unicode scalars or bytes; nil for values that have none.
    fileprivate var length: Int? {
        switch self {
        case .string(let text): text.unicodeScalars.count
        case .data, .large: dataCount
        default: nil
        }
    }
}
