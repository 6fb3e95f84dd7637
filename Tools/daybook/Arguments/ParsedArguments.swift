/// The values of a command line, read with the arguments that declared them.
struct ParsedArguments: Sendable {
    private let declared: Set<String>
    private var values: [String: [any Sendable]] = [:]

    init(_ declarations: [ArgumentDeclaration]) {
        declared = Set(declarations.map(\.name))
    }

    /// The value of an argument.
    ///
    /// - Precondition: the command's declaration has the argument.
    subscript<A: Argument>(argument: A) -> A.Result {
        let name = argument.declaration.name
        precondition(declared.contains(name), "A command reads only arguments that it declares.")
        return argument.result(of: values[name] ?? [])
    }

    /// How often an argument was given.
    func count(of argument: ArgumentDeclaration) -> Int {
        values[argument.name]?.count ?? 0
    }

    /// The first value of an argument, if that is text.
    func firstText(of argument: ArgumentDeclaration) -> String? {
        values[argument.name]?.first as? String
    }

    mutating func append(_ value: any Sendable, to argument: ArgumentDeclaration) {
        values[argument.name, default: []].append(value)
    }
}
