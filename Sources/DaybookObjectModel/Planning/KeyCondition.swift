import Foundation

/// A condition on the value of one property of an object, as ranges of values in the form in which an index has them.
struct KeyCondition {
    /// The property; of a text in which differences are ignored, the one that has the text without them.
    let property: SchemaProperty
    /// The ranges, in their order.
    let ranges: [IndexRange]
    /// Whether the property is not the one that the condition names, and has the text of that one without differences.
    private let isFolded: Bool
    /// Whether exactly the objects with a value within the ranges meet the condition.
    let isExact: Bool
    /// The condition.
    let filter: Filter

    private init(
        _ property: SchemaProperty, _ ranges: [IndexRange], isFolded: Bool = false, isExact: Bool,
        _ filter: Filter
    ) {
        self.isFolded = isFolded
        self.property = property
        self.ranges = ranges
        self.isExact = isExact
        self.filter = filter
    }

    /// What a condition says of one property of the object itself; nil where that is no range.
    init?(_ filter: Filter) {
        switch filter {
        case .comparison(let comparison):
            let turned = comparison.withConstantOnTheRight
            guard let turned, let constant = turned.right.constant else { return nil }
            self.init(turned, constant, filter)
        case .membership(let expression, let values, let options):
            self.init(expression, values, options, filter)
        case .between(let expression, .constant(let lower), .constant(let upper)):
            guard let property = expression.property, let least = property.indexKey(lower),
                let greatest = property.indexKey(upper)
            else { return nil }
            let range = IndexRange.between(
                IndexBound(least, isIncluded: true), IndexBound(greatest, isIncluded: true))
            let isExact = property.isSame(lower, least) && property.isSame(upper, greatest)
            self.init(property, [range], isExact: isExact, filter)
        default: return nil
        }
    }

    /// Finds one of several values.
    private init?(
        _ expression: FilterExpression, _ values: FilterValues, _ options: TextOptions,
        _ filter: Filter
    ) {
        guard let property = expression.property else { return nil }
        var ranges: Set<IndexRange> = []
        guard options.isEmpty else {
            guard let index = property.foldedIndex else { return nil }
            for value in values.values {
                guard let text = value.foldedText(options) else { return nil }
                ranges.insert(.exactly(.string(text)))
            }
            self.init(index, ranges.sorted(), isFolded: true, isExact: false, filter)
            return
        }
        var isExact = true
        for value in values.values {
            guard let key = property.indexKey(equalTo: value) else { return nil }
            if !property.isSame(value, key) { isExact = false }
            ranges.insert(.exactly(key))
        }
        self.init(property, ranges.sorted(), isExact: isExact, filter)
    }

    private init?(_ comparison: FilterComparison, _ constant: Value, _ filter: Filter) {
        guard let property = comparison.left.property else { return nil }
        guard comparison.options.isEmpty else {
            self.init(folded: comparison, property, constant, filter)
            return
        }
        if comparison.operator == .equal {
            guard let key = property.indexKey(equalTo: constant) else { return nil }
            self.init(
                property, [.exactly(key)], isExact: property.isSame(constant, key), filter)
            return
        }
        guard let key = property.indexKey(constant), constant.reference == nil else { return nil }
        // Small data and large data lie apart.
        let isOfData = property.attribute?.type == .data
        let isExact = property.isSame(constant, key)
        switch comparison.operator {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: if isOfData { return nil }
        default: break
        }
        switch comparison.operator {
        case .less, .lessOrEqual:
            // Of a constant that is kept as another value, that one may be beyond the constant.
            let bound = IndexBound(
                key, isIncluded: comparison.operator == .lessOrEqual || !isExact)
            // What is not a number is less than all in the index, and no condition on numbers holds for it.
            self.init(
                property, [.between(nil, bound)], isExact: isExact && !property.mayLackNumber,
                filter)
        case .greater, .greaterOrEqual:
            let bound = IndexBound(
                key, isIncluded: comparison.operator == .greaterOrEqual || !isExact)
            self.init(property, [.between(bound, nil)], isExact: isExact, filter)
        case .beginsWith:
            guard case .string(let prefix) = key, !prefix.isEmpty else { return nil }
            self.init(property, [.prefix(prefix)], isExact: false, filter)
        default: return nil
        }
    }

    /// Finds texts in an index that ignores the same differences as the comparison.
    private init?(
        folded comparison: FilterComparison, _ property: SchemaProperty, _ constant: Value,
        _ filter: Filter
    ) {
        guard let index = property.foldedIndex,
            let text = constant.foldedText(comparison.options)
        else { return nil }
        switch comparison.operator {
        case .equal:
            self.init(
                index, [.exactly(.string(text))], isFolded: true, isExact: false, filter)
        case .beginsWith where !text.isEmpty:
            self.init(index, [.prefix(text)], isFolded: true, isExact: false, filter)
        default: return nil
        }
    }

    /// The range between this one, which is open at one end, and another of the same property, which is open at the
    /// other end; nil for any other two. It is exactly what both allow.
    func narrowed(by other: KeyCondition) -> KeyCondition? {
        guard property.number == other.property.number, ranges.count == 1,
            other.ranges.count == 1, case .between(let lower, let upper) = ranges[0],
            case .between(let otherLower, let otherUpper) = other.ranges[0]
        else { return nil }
        let both = Filter.and([filter, other.filter])
        switch (lower, upper, otherLower, otherUpper) {
        case (let lower?, nil, nil, let upper?):
            return KeyCondition(
                property, [.between(lower, upper)], isExact: isExact && other.isExactBelow, both)
        case (nil, let upper?, let lower?, nil):
            return KeyCondition(
                property, [.between(lower, upper)], isExact: other.isExact && isExactBelow, both)
        default: return nil
        }
    }

    /// Whether it is exact where there is a lower end beside it, which leaves out what is not a number.
    private var isExactBelow: Bool { isExact || property.mayLackNumber }

    /// How the property's own index, or its connections, find the objects; nil where it has none.
    var access: FilterAccess? {
        if ranges.count == 1, case .exactly(.object(let object)) = ranges[0] {
            return .referrers(property, object)
        }
        guard property.isIndexed else { return nil }
        // A unique index does not hold null.
        if property.isUnique, ranges.contains(.exactly(.null)) { return nil }
        return .index(property, ranges)
    }
}

extension KeyCondition {
    /// How the property's own index and that of its former values find the objects that ever met the condition; nil where
    /// it does not have both.
    ///
    /// An attribute with the text of another one may have come to the model after it, and does not know what that was
    /// before.
    var everAccess: FilterAccess? {
        guard !isFolded, property.hasIndexedChanges, case .index(let property, let ranges) = access
        else { return nil }
        return .everIndex(property, ranges)
    }
}

extension TextOptions {
    /// The differences that a canonical text does not have.
    package static let canonical: TextOptions = [.caseInsensitive, .diacriticInsensitive]
}

extension Value {
    /// The text as an index of canonical texts has it; nil where other differences count.
    fileprivate func foldedText(_ options: TextOptions) -> String? {
        guard options == .canonical, case .string(let text) = self else { return nil }
        return text.folded(options)
    }
}

extension SchemaProperty {
    /// Whether values may be something that is not a number.
    fileprivate var mayLackNumber: Bool {
        switch attribute?.type {
        case .float, .double, .decimal: true
        default: false
        }
    }

    /// The key of the objects whose value equals another; null has one too.
    fileprivate func indexKey(equalTo value: Value) -> Value? {
        value.isNull && slot != nil ? .null : indexKey(value)
    }

    /// The value in its index form; nil for none.
    fileprivate func indexKey(_ value: Value) -> Value? {
        if case .object = value, isToOneStored { return value }
        guard let type = attribute?.type else { return nil }
        switch (type, value) {
        case (.decimal, .decimal(let number)): return number.isNaN ? nil : value.normalized
        case (.bool, .bool), (.int16, .int), (.int32, .int), (.int64, .int), (.string, .string),
            (.url, .string), (.date, .date), (.uuid, .uuid):
            return value.normalized
        case (.data, .data), (.data, .large): return value.normalized(for: type)
        case (.float, .double(let number)), (.double, .double(let number)):
            return number.isNaN ? nil : value.normalized
        default: return nil
        }
    }

    private var isToOneStored: Bool {
        relationship?.isToMany == false && end?.isStored == true
    }

    /// Whether a value of a condition is the same as its key, so that both compare alike with all others.
    fileprivate func isSame(_ value: Value, _ key: Value) -> Bool {
        switch (value, key) {
        case (.date(let value), .date(let key)): value == key
        case (.data, _), (.large, _): false
        default: true
        }
    }
}
