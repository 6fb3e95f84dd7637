import DaybookObjectModel

/// The steps from one model to another, as commands show them.
struct ModelSteps {
    private let steps: [ModelStep]

    init(_ steps: [ModelStep]) {
        self.steps = steps
    }

    /// Prints a line for each, or a document of all.
    func print(on console: Console) throws {
        guard console.format == .text else {
            return try console.print(["steps": document] as JSONText)
        }
        for step in steps {
            let mark = step.isCompatible ? "" : "   (older programs can no longer save)"
            try console.print(DisplayText.escaped(step.description) + mark)
        }
    }

    /// The steps as a list.
    var document: JSONText {
        .array(
            steps.map { step in
                var members: [JSONText.Member] = [
                    .init("kind", .string(step.kind.rawValue)),
                    .init("entity", .string(step.entity)),
                ]
                if let property = step.property {
                    members.append(.init("property", .string(property)))
                }
                members.append(.init("step", .string(step.description)))
                members.append(.init("compatible", .bool(step.isCompatible)))
                return .object(members)
            })
    }
}
