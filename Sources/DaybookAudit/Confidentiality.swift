internal import DaybookJournalLog
package import DaybookObjectModel
internal import DaybookSnapshotStore

/// What an export does with the values of properties that are confidential.
///
/// A property is confidential if the model says so, or this does. Names, times, authors and notes are
/// always told, and so is that a confidential property has changed. From the first entry on in which
/// something is kept back no digest is told, as values that can have few forms could be found by it;
/// whoever has a signed checkpoint or a digest from elsewhere can still try.
public struct Confidentiality: Sendable, Hashable {
    /// What stands in place of a value.
    public enum Treatment: Sendable, Hashable {
        /// Nothing: the value is left out, and its property is named among those left out.
        case omit
        /// A hash under a secret: `hmac-sha256:` and 64 hexadecimal digits. The same value of the same
        /// property has the same hash, so that it can be followed; who does not have the secret can
        /// neither read it nor find it by trying. Null stays null.
        case hash(secret: [UInt8])
        /// The value itself.
        case show
    }

    /// What stands in place of a value.
    public var treatment: Treatment
    /// Properties that are confidential although the model does not say so: `Employee.salary`.
    public var properties: Set<String>

    /// Values that the model calls confidential are left out.
    public static let standard = Confidentiality(.omit)
    /// Every value is told.
    public static let none = Confidentiality(.show)

    /// Describes what to do.
    public init(_ treatment: Treatment, properties: Set<String> = []) {
        self.treatment = treatment
        self.properties = properties
    }

    /// The treatment with the numbers of a model in place of names.
    ///
    /// - Throws: `StoreError` with code `noSuchEntity` when a text names no property of the model.
    package func resolved(in schema: Schema) throws -> Redaction {
        guard treatment != .show else { return .none }
        var hidden: Set<PropertyNumber> = []
        for entity in schema.entities {
            for property in entity.properties where property.attribute?.isConfidential == true {
                hidden.insert(property.number)
            }
        }
        for name in properties.sorted() {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2 else {
                throw StoreError(
                    .noSuchEntity, "'\(name)' does not name a property, as 'Employee.salary' does.")
            }
            let entity = try ResolvedFilter.entity(parts[0], in: schema)
            guard let property = entity.property(named: parts[1]) else {
                let suggestion = parts[1].suggestion(among: entity.properties.map(\.name))
                throw StoreError(
                    .noSuchEntity,
                    "The entity '\(parts[0])' has no property '\(parts[1])'"
                        + (suggestion.isEmpty ? "." : suggestion))
            }
            hidden.insert(property.number)
            // Of a relationship and its inverse only one is in the journal, under its own name.
            if let inverse = property.end?.inverse { hidden.insert(inverse) }
        }
        let entities = schema.entities.filter { entity in
            entity.properties.contains { hidden.contains($0.number) }
        }
        return Redaction(
            hidden: hidden, entities: Set(entities.map(\.number)), treatment: treatment)
    }
}

/// Which properties of one model are kept back, and what stands in their place.
package struct Redaction: Sendable {
    /// Nothing is kept back.
    package static let none = Redaction(hidden: [], entities: [], treatment: .show)

    private let hidden: Set<PropertyNumber>
    /// The entities that have one of these properties.
    private let entities: Set<EntityNumber>
    private let treatment: Confidentiality.Treatment

    fileprivate init(
        hidden: Set<PropertyNumber>, entities: Set<EntityNumber>,
        treatment: Confidentiality.Treatment
    ) {
        self.hidden = hidden
        self.entities = entities
        self.treatment = treatment
    }

    /// Whether anything is kept back at all.
    package var isEmpty: Bool { hidden.isEmpty }

    /// Whether the values of a property are kept back.
    func hides(_ property: PropertyNumber) -> Bool {
        hidden.contains(property)
    }

    /// Whether any of the changes may have a value that is kept back.
    func concerns(_ changes: [Change]) -> Bool {
        !hidden.isEmpty
            && changes.contains { change in
                if change.members.contains(where: { hidden.contains($0.property) }) { return true }
                return switch change.kind {
                case .insert, .delete: entities.contains(change.object.entity)
                case .update(let edits, _): edits.contains { hidden.contains($0.property) }
                }
            }
    }

    /// Whether nothing stands in place of the values of a property.
    func omits(_ property: PropertyNumber) -> Bool {
        hides(property) && treatment == .omit
    }

    /// What stands in place of a value that is kept back, nil for nothing; `name` gives the name of an
    /// object that the value refers to.
    func replacement(
        for value: Value, of property: PropertyNumber, name: (ObjectID) -> String
    ) -> Value? {
        guard case .hash(let secret) = treatment else { return nil }
        guard !value.isNull else { return .null }
        var writer = ByteWriter(capacity: 64)
        writer.append(variable: UInt64(property.rawValue))
        if let object = value.reference {
            writer.append(name(object))
        } else {
            writer.append(value.normalized)
        }
        let digest = Digest.keyed(by: secret, of: writer.bytes)
        return .string("hmac-sha256:\(digest.hexadecimal)")
    }
}
