internal import DaybookJournalLog
package import DaybookObjectModel
internal import DaybookSnapshotStore

/// The treatment of confidential properties by an export.
///
/// A property is confidential if the model or this value says so. Names, times, authors and notes
/// are always exported, and so is the fact that a confidential property has changed. From the first
/// entry with a hidden value on no digests are exported, because values with few possible forms
/// could be found by trying; a signed checkpoint or a digest from elsewhere still makes that
/// possible.
public struct Confidentiality: Sendable, Hashable {
    /// The replacement of a value.
    public enum Treatment: Sendable, Hashable {
        /// The value is left out, and its property is listed as left out.
        case omit
        /// A hash under a secret: `hmac-sha256:` and 64 hexadecimal digits. The same value of the same
        /// property has the same hash, so that it can be traced; without the secret it can neither
        /// be read nor found by trying. Null stays null.
        case hash(secret: [UInt8])
        /// The value itself.
        case show
    }

    /// The replacement of a value.
    public var treatment: Treatment
    /// Properties that are confidential even if the model does not say so: `Employee.salary`. A name may be one of an
    /// earlier model. What is derived from these, and what they were before their type changed, is confidential, too.
    public var properties: Set<String>

    /// Values that the model calls confidential are left out.
    public static let standard = Confidentiality(.omit)
    /// Every value is exported.
    public static let none = Confidentiality(.show)

    /// Describes the treatment.
    public init(_ treatment: Treatment, properties: Set<String> = []) {
        self.treatment = treatment
        self.properties = properties
    }

    /// The treatment with numbers instead of names.
    ///
    /// The newest version that has a property tells whether it is confidential. A name stands for every property
    /// that any version calls so, and for those that took over its values later. What tells the values of a hidden
    /// property is hidden, too, see ``PropertyLinks``.
    ///
    /// - Throws: `StoreError` with code `noSuchEntity` when a text names no property of any version.
    package func resolved(in history: ModelHistory, _ schema: Schema) throws -> Redaction {
        guard treatment != .show else { return .none }
        let links = PropertyLinks(history)
        var hidden = Self.confidential(in: history)
        for name in properties.sorted() {
            let named = try Self.numbers(of: name, in: history, schema)
            hidden.formUnion(links.followed(from: named))
        }
        hidden = links.spread(from: hidden)
        let entities = (history.versions.last?.schema ?? schema).version.entities.filter { entity in
            entity.slots.contains { hidden.contains($0.property) }
                || entity.members.contains { hidden.contains($0.property) }
        }
        return Redaction(
            hidden: hidden, entities: Set(entities.map(\.number)), treatment: treatment)
    }

    /// The properties that a model calls confidential, and no later one has without saying so.
    private static func confidential(in history: ModelHistory) -> Set<PropertyNumber> {
        var hidden: Set<PropertyNumber> = []
        var known: Set<PropertyNumber> = []
        for (_, schema) in history.versions.reversed() {
            for entity in schema.entities {
                for property in entity.properties where !known.contains(property.number) {
                    if property.attribute?.isConfidential == true { hidden.insert(property.number) }
                }
            }
            known.formUnion(schema.entities.flatMap(\.properties).map(\.number))
        }
        return hidden
    }

    /// The properties that have, or had, a name such as `Employee.salary`.
    private static func numbers(
        of name: String, in history: ModelHistory, _ schema: Schema
    ) throws -> Set<PropertyNumber> {
        let parts = name.split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false
        ).map(String.init)
        guard parts.count == 2 else {
            throw StoreError(
                .noSuchEntity, "'\(name)' does not name a property, as 'Employee.salary' does.")
        }
        let schemas = history.versions.reversed().map(\.schema)
        let owners = Set(schemas.compactMap { $0.entity(named: parts[0])?.number })
        let entities = schemas.flatMap { schema in owners.compactMap { schema.entity($0) } }
        let numbers = Set(entities.flatMap { $0.numbers(ofProperty: parts[1]) })
        guard numbers.isEmpty else { return numbers }
        let entity = try entities.first ?? ResolvedFilter.entity(parts[0], in: schema)
        let suggestion = parts[1].suggestion(among: entity.properties.map(\.name))
        throw StoreError(
            .noSuchEntity,
            "The entity '\(parts[0])' has no property '\(parts[1])'"
                + (suggestion.isEmpty ? "." : suggestion))
    }
}

extension SchemaEntity {
    /// The property of a name, or the elements of a composite attribute.
    fileprivate func numbers(ofProperty name: String) -> [PropertyNumber] {
        if isComposite(name) { return elements(of: name).map(\.number) }
        return property(named: name).map { [$0.number] } ?? []
    }
}

/// The hidden properties of one model, and their replacement.
package struct Redaction: Sendable {
    /// Nothing is hidden.
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

    /// Whether nothing is hidden.
    package var isEmpty: Bool { hidden.isEmpty }

    /// `Employee.salary`: a hidden property, by the name that it has or had last; nil if there is none.
    package func example(in history: ModelHistory) -> String? {
        for (_, schema) in history.versions.reversed() {
            for entity in schema.version.entities where !entity.isRemoved {
                let names = entity.properties.filter { hides($0.value) }.keys
                if let name = names.min() { return "\(entity.name).\(name)" }
            }
        }
        return nil
    }

    /// Whether the values of a property are hidden.
    func hides(_ property: PropertyNumber) -> Bool {
        hidden.contains(property)
    }

    /// Whether any of the changes may have a hidden value.
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

    /// Whether the values of a property are left out without a replacement.
    func omits(_ property: PropertyNumber) -> Bool {
        hides(property) && treatment == .omit
    }

    /// The replacement of a hidden value, nil for none. That of an object goes by its number, so that it
    /// stays the same when the entity gets another name.
    func replacement(for value: Value, of property: PropertyNumber) -> Value? {
        guard case .hash(let secret) = treatment else { return nil }
        guard !value.isNull else { return .null }
        var writer = ByteWriter(capacity: 64)
        writer.append(variable: UInt64(property.rawValue))
        if let object = value.reference {
            writer.append(variable: object.number)
        } else {
            writer.append(value.normalized)
        }
        let digest = Digest.keyed(by: secret, of: writer.bytes)
        return .string("hmac-sha256:\(digest.hexadecimal)")
    }
}
