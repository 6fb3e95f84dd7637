import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// `daybook model STORE`: the model, as JSON for `init`; `daybook model --from FILE`: that of Xcode;
/// `daybook model --diff OLD NEW`: the steps from one to another.
struct ModelCommand: Command {
    private let store = OptionalPositional("STORE", .path, "The store to read.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "The model as it was at this entry or time.")
    private let older = Option(
        "--diff", "OLD", .path,
        "Print the steps from this model, of a file or a store, to that of STORE.")
    let file = Option(
        "--from", "FILE", .path,
        "Read an Xcode model instead: .xcdatamodeld, .xcdatamodel, .momd or .mom.")
    let version = Option(
        "--version", "NAME", .text, "With '--from', this version; the current one by default.")
    let listsVersions = Flag("--list-versions", "With '--from', print the names of the versions.")
    let isSwift = Flag("--swift", "With '--from', print the Swift classes that declare the model.")
    let isStrict = Flag(
        "--strict", "With '--from', exit with 1 if the model cannot be reproduced exactly.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "model", in: .read,
            summary: "Print the model of a store, or of Xcode, as JSON for 'init'.",
            discussion: """
                With '--diff OLD' the steps that lead from one model to the other are printed, as
                'daybook migrate' would take them. Both may be model files or stores.

                With '--from' the model comes from Xcode. What a Daybook model cannot express is left
                out, and each such thing is named on standard error: fetched properties, some derived
                attributes, fetch requests, indexes of several properties. Names that a model cannot
                have are all reported at once, and nothing is printed.
                """,
            arguments: [store, moment, older, file, version, listsVersions, isSwift, isStrict],
            examples: [
                .init(
                    "daybook model iso.daybook --output json > iso.json",
                    "Take the model for another store"),
                .init("daybook model --diff old.json new.json", "What is new in a model"),
                .init(
                    "daybook model --from Library.xcdatamodeld > library.json",
                    "Take the model of a program that uses Core Data"),
                .init(
                    "daybook model --from Library.xcdatamodeld --swift > Library.swift",
                    "And its classes"),
            ],
            endings: [
                .init(.success),
                .init(
                    .finding,
                    "With '--diff': the models differ. With '--strict': something of the model was "
                        + "left out or changed."),
                .init(.usage), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        if let path = arguments[file] {
            guard arguments[store] == nil, arguments[moment] == nil, arguments[older] == nil else {
                throw ToolError.usage(
                    "'--from' reads an Xcode model, not a store: leave out the store, '--at' and "
                        + "'--diff'.")
            }
            return try convert(path, arguments, console)
        }
        let others = [
            version.declaration, listsVersions.declaration, isSwift.declaration,
            isStrict.declaration,
        ]
        for option in others where arguments.count(of: option) > 0 {
            throw ToolError.usage(
                "'\(option.name)' is only for an Xcode model: add '--from FILE', or leave it out.")
        }
        guard let path = arguments[store] else {
            throw ToolError.usage(
                "Name the STORE to read, or an Xcode model with '--from FILE'.")
        }
        if let old = arguments[older] {
            guard arguments[moment] == nil else {
                throw ToolError.usage("'--diff' compares whole models: leave out '--at'.")
            }
            let steps = try self.steps(from: old, to: path, console)
            try ModelSteps(steps).print(on: console)
            return steps.isEmpty ? .success : .finding
        }
        try console.print(storedModel(in: path, arguments).json(Self.layout(console)))
        return .success
    }

    private func storedModel(
        in path: String, _ arguments: ParsedArguments
    ) throws -> ManagedObjectModel {
        let store = try StoreReading.open(path)
        guard let moment = arguments[moment] else { return store.schema.model }
        let sequence = try StoreReading.sequence(of: moment, in: store)
        guard sequence > .zero else {
            throw ToolError.usage("There was no model yet: entry 1 sets it.")
        }
        return try store.modelHistory().schema(at: sequence).model
    }

    // MARK: - Steps

    private func steps(
        from old: String, to new: String, _ console: Console
    ) throws -> [ModelStep] {
        let before = try Schema(version(at: old, console))
        let model = try version(at: new, console).model
        do {
            let next = UInt64(before.version.entities.count) + 2
            return Schema(try before.version.evolved(to: model, in: next)).steps(from: before)
        } catch {
            throw ToolError(
                .usage, "The steps cannot be worked out: \(error.problems.joined(separator: " "))")
        }
    }

    /// The model of a file or a store.
    private func version(at path: String, _ console: Console) throws -> ModelVersion {
        if path == "-" || ModelText.isModel(path) {
            return try ModelVersion(first: ModelText(path).read(console))
        }
        return try StoreReading.open(path).schema.version
    }

    static func layout(_ console: Console) -> JSONLayout {
        console.format == .jsonl ? .oneLine : .pretty
    }
}
