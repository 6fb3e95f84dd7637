public import Foundation

/// What a law forbids and an entry does, or was to do.
public struct LawBreach: Sendable, Hashable {
    /// The name of the law.
    public let law: String
    /// Its rule.
    public let rule: String
    /// The object.
    public let object: ObjectID
    /// The identifier of the object's store; nil where there is only one.
    public private(set) var storeIdentifier: UUID?
    /// The name of the property; nil for a deletion.
    public let property: String?
    /// The value before; null for a deletion.
    public let old: Value
    /// The value after; null for a deletion.
    public let new: Value
    /// The name of the object, such as `Employee/17`.
    public let objectName: String
    /// What permits it: all of any of these. Empty when nothing does.
    public let excuses: [[LawExcuse]]
    private let oldText: String
    private let newText: String

    /// Finds out whether a change breaks a law.
    ///
    /// - Parameters:
    ///   - law: The law, which the entry is not excused from.
    ///   - change: The change.
    ///   - schema: The schema with the law.
    ///   - before: As of ``SchemaLaw/breach(of:in:before:)``.
    /// - Throws: As of ``SchemaLaw/breach(of:in:before:)``. There is no breach when the change keeps the law.
    package init?(
        of law: SchemaLaw, by change: Change, in schema: Schema, before: () throws -> [Value]?
    ) throws {
        guard let entity = schema.entity(change.object.entity),
            let found = try law.breach(of: change, in: entity, before: before)
        else { return nil }
        self.law = law.name
        rule = law.text
        excuses = law.excuses
        object = change.object
        property = found.property?.name
        (old, new) = (found.old, found.new)
        objectName = schema.name(of: change.object)
        let attribute = found.property?.attribute
        let texts = [found.old, found.new].map { value in
            // What exports do not show, errors do not either.
            attribute?.isConfidential == true
                ? "…"
                : value.text(isCoded: attribute?.type == .codable) { schema.name(of: $0) }
        }
        (oldText, newText) = (texts[0], texts[1])
    }

    /// The same breach with its store.
    package func inStore(_ identifier: UUID) -> LawBreach {
        var placed = self
        placed.storeIdentifier = storeIdentifier ?? identifier
        return placed
    }
}

extension LawBreach: CustomStringConvertible {
    /// What was done to which object, and which law forbids it:
    ///
    /// ```
    /// Employee/17: salary 5000 → 4000 breaks the law "Salaries fall with a note": salary NEVER DECREASED UNLESS NOTE
    /// ```
    ///
    /// The values of a confidential attribute are not shown.
    public var description: String {
        let deed = property.map { "\($0) \(oldText) → \(newText)" } ?? "its deletion"
        return "\(objectName): \(deed) breaks the law \(ReadableText.quoted(law)): \(rule)"
    }
}
