import Foundation

extension SchemaDifference {
    mutating func compare(
        _ before: AttributeDescription, _ after: AttributeDescription, _ property: SchemaProperty,
        _ entity: SchemaEntity
    ) {
        let (name, title) = (property.name, "'\(entity.name).\(property.name)'")
        let check = ModelStep.Check.values(entity.number, property.number)
        if before.type != after.type || before.isSet != after.isSet {
            add(
                .changeType, entity.name, name,
                "change \(title) from \(before.typeText) to \(after.typeText)",
                check: after.type.holdsAll(of: before.type) ? nil : check)
        }
        compareOptional(before.isOptional, after.isOptional, title, entity, name, check)
        if before.defaultValue != after.defaultValue {
            add(
                .changeDefault, entity.name, name,
                after.defaultValue.isNull
                    ? "let \(title) start without a value"
                    : "let \(title) start with \(after.defaultValue)", isCompatible: true)
        }
        if before.rules != after.rules {
            let isWider = after.rules.allow(all: before.rules)
            add(
                .changeRules, entity.name, name,
                "\(isWider ? "widen" : "tighten") the rules of \(title)", isCompatible: isWider,
                check: isWider ? nil : check)
        }
        if before.isUnique != after.isUnique {
            add(
                after.isUnique ? .addUnique : .dropUnique, entity.name, name,
                after.isUnique ? "make \(title) unique" : "let \(title) not be unique",
                isCompatible: !after.isUnique,
                check: after.isUnique ? .unique(entity.number, property.number) : nil)
        }
        let wasIndexed = before.isIndexed || before.isUnique
        if wasIndexed != property.isIndexed, before.isUnique == after.isUnique {
            add(
                property.isIndexed ? .addIndex : .dropIndex, entity.name, name,
                property.isIndexed ? "index \(title)" : "drop the index of \(title)",
                isCompatible: true)
        }
        if before.isConfidential != after.isConfidential {
            // The mark covers past values as well. To take it off must be asked for, so that a program in
            // which it has been forgotten does not open them to every export.
            add(
                .changeConfidential, entity.name, name,
                after.isConfidential
                    ? "make \(title) confidential" : "let \(title) not be confidential",
                isCompatible: after.isConfidential)
        }
        if before.derivation != after.derivation, let derivation = after.derivation {
            add(
                .changeDerivation, entity.name, name, "derive \(title) from '\(derivation)'",
                isCompatible: true)
        }
        if before.merge != after.merge {
            add(
                .changeMerge, entity.name, name,
                after.merge.map { "merge \(title) by \($0.rawValue)" }
                    ?? "let changes of \(title) collide")
        }
        if before.versionHashModifier != after.versionHashModifier
            || before.userInfo != after.userInfo
        {
            add(.annotate, entity.name, name, "annotate \(title)", isCompatible: true)
        }
    }
}

extension AttributeDescription {
    fileprivate var typeText: String { isSet ? "a set of type \(type.rawValue)" : type.rawValue }
}

extension AttributeType {
    /// Whether every value of another type with the same storage is a value of this one.
    fileprivate func holdsAll(of other: AttributeType) -> Bool {
        switch (other, self) {
        case (.int16, .int32), (.int16, .int64), (.int32, .int64), (.float, .double),
            (.url, .string):
            true
        default: self == other
        }
    }
}

extension AttributeRules {
    /// Whether every value that meets the other rules meets these.
    func allow(all other: AttributeRules) -> Bool {
        let isLower =
            minimum.isNull
            || !other.minimum.isNull && other.minimum.order(to: minimum) != .orderedAscending
        let isHigher =
            maximum.isNull
            || !other.maximum.isNull && maximum.order(to: other.maximum) != .orderedAscending
        return isLower && isHigher && minimumLength <= other.minimumLength
            && (maximumLength == 0
                || other.maximumLength != 0 && maximumLength >= other.maximumLength)
            && (pattern == nil || pattern == other.pattern)
    }
}
