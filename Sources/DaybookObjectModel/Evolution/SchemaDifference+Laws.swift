extension SchemaDifference {
    /// A law binds programs that do not know of it: their saves are judged by it. What loosens or changes one must be
    /// asked for, so that a program with an older model does not end it.
    mutating func compareLaws(_ before: SchemaEntity, _ after: SchemaEntity) {
        let (was, now) = (laws.old(of: before.number), laws.new(of: after.number))
        guard !was.isEmpty || !now.isEmpty else { return }
        for law in was where !now.contains(where: { $0.name == law.name }) {
            addLawStep(after, "drop the law \(ReadableText.quoted(law.name)) of '\(after.name)'")
        }
        for law in now {
            let name = ReadableText.quoted(law.name)
            guard let old = was.first(where: { $0.name == law.name }) else {
                addLawStep(
                    after, "hold '\(after.name)' to the law \(name): \(law.text)",
                    isCompatible: true)
                continue
            }
            if !old.means(law) {
                addLawStep(after, "change the law \(name) of '\(after.name)' to: \(law.text)")
            } else if old.text != law.text {
                addLawStep(
                    after, "put the law \(name) of '\(after.name)' as: \(law.text)",
                    isCompatible: true)
            }
        }
    }

    private mutating func addLawStep(
        _ entity: SchemaEntity, _ text: String, isCompatible: Bool = false
    ) {
        add(.changeLaws, entity.name, nil, text, isCompatible: isCompatible)
    }
}

/// The laws of two versions of a model, each declared by one entity.
struct LawDifference {
    private let before: [EntityNumber: [SchemaLaw]]
    private let after: [EntityNumber: [SchemaLaw]]

    init(_ old: Schema, _ new: Schema) {
        before = Dictionary(grouping: SchemaLaws(old).all, by: \.entity)
        after = Dictionary(grouping: SchemaLaws(new).all, by: \.entity)
    }

    func old(of entity: EntityNumber) -> [SchemaLaw] { before[entity] ?? [] }

    func new(of entity: EntityNumber) -> [SchemaLaw] { after[entity] ?? [] }
}
