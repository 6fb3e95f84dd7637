import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Synchronization

/// `daybook migrate STORE --model FILE`: an entry that brings a store to another model.
struct MigrateCommand: Command {
    private let store = Positional("STORE", .path, "The store to migrate.")
    private let model = RequiredOption(
        "--model", short: "-m", "FILE", .path, "The new model, as JSON; '-' reads standard input.")
    private let renames = RepeatedOption(
        "--rename", "OLD=NEW", .text,
        "An entity or property that has another name: Person=Employee, or Employee.name=title.")
    private let defersIndexes = Flag(
        "--defer-indexes", "Build new indexes later, when 'migrate' runs without this.")
    private let isDry = Flag(
        "--dry-run", short: "-n", "Show the steps without taking them.")
    private let author = Option("--author", short: "-a", "A", .name, "The author of the entry.")
    private let note = Option("--note", "N", .text, "The note of the entry.")
    private let info = InfoArguments()

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "migrate", in: .write, summary: "Migrate a store to a newer model.",
            discussion: """
                The steps from the store's model to the new one are worked out, shown, and become
                one entry of the journal. No stored object is rewritten, so most steps take the
                same time whatever the store holds; only building an index and looking for
                objects that a stricter model does not allow read the objects concerned. An
                interruption leaves the store as it was. --defer-indexes puts indexes off:
                queries read all objects until 'daybook migrate' without it, or a program that
                opens the store, has built them; other programs save meanwhile.

                Name what was renamed with --rename, or with "renamingIdentifier" in the model.
                Anything else that has another name is removed and added: removed values stay in
                the journal, and 'daybook undo' of the entry brings them back.

                Programs with the older model can still read, and can still write unless a step is
                marked as one after which they can no longer save.
                """,
            arguments: [store, model, renames, defersIndexes, isDry, author, note, info.argument],
            examples: [
                .init("daybook migrate iso.daybook --model new.json --dry-run", "See the steps"),
                .init(
                    "daybook migrate iso.daybook --model new.json --rename Country.name=title",
                    "Rename a property"),
            ],
            endings: [
                .init(.success, "The store has the model."),
                .init(.finding, "With --dry-run: there are steps to take."),
                .init(.usage, "Wrong usage, a faulty model, or objects that it does not allow."),
                .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let description = try ModelText(arguments[model]).read(console)
        var options = StoreOptions()
        options.migration = .automatic
        options.matching = try matching(arguments[renames])
        options.isReadOnly = arguments[isDry]
        options.indexes = arguments[defersIndexes] ? .deferred : .immediate
        let progress = Mutex(console.progress("Looking at objects, percent", of: 100))
        defer { progress.withLock { $0.finish() } }
        options.work = { done, total in
            progress.withLock { $0.reach(Int(100 * done / max(1, total))) }
        }
        let outcome = try Store.migrate(
            at: arguments[store], to: description, options: options,
            author: arguments.author(author),
            note: arguments[note], info: info.info(arguments), isDry: arguments[isDry])
        progress.withLock { $0.finish() }
        try show(outcome, arguments[store], isDry: arguments[isDry], console)
        return arguments[isDry] && !outcome.steps.isEmpty ? .finding : .success
    }

    // MARK: - Names

    private func matching(_ renames: [String]) throws -> ModelMatching {
        var matching = ModelMatching()
        for rename in renames {
            let sides = rename.split(separator: "=", omittingEmptySubsequences: false)
            // The name of an element of a composite attribute has dots itself.
            let old = sides[0].split(
                separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[1].isEmpty,
                !old.contains(where: \.isEmpty)
            else {
                throw ToolError.usage(
                    "'\(rename)' is not a '--rename': 'Old=New' renames an entity, and "
                        + "'Entity.old=new' a property of what is called Entity in the new model.")
            }
            if old.count == 1 {
                matching.entities[String(sides[1])] = String(old[0])
            } else {
                matching.properties[String(old[0]), default: [:]][String(sides[1])] =
                    String(old[1])
            }
        }
        return matching
    }

    // MARK: - Output

    private func show(
        _ outcome: MigrationOutcome, _ path: String, isDry: Bool, _ console: Console
    ) throws {
        guard console.format == .text else {
            return try console.print(document(outcome))
        }
        try ModelSteps(outcome.steps).print(on: console)
        if outcome.steps.isEmpty {
            try console.talk("'\(path)' has this model already.")
        } else if let sequence = outcome.sequence {
            let count = outcome.steps.count == 1 ? "1 step" : "\(outcome.steps.count) steps"
            let changes = outcome.changesCount
            let objects =
                changes == 0
                ? "" : changes == 1 ? ", and 1 object changed" : ", and \(changes) objects changed"
            try console.talk("Entry \(sequence) sets the model: \(count)\(objects).")
        } else {
            try console.talk("Nothing was changed: this was a dry run.")
        }
        try hintAtRenames(in: outcome.steps, undoing: outcome.sequence, console)
        if !outcome.indexesCompleted.isEmpty {
            try console.talk(
                "Built what had been put off: \(Self.indexes(outcome.indexesCompleted)).")
        }
        if !outcome.indexesPending.isEmpty {
            try console.talk(
                "Still to be built: \(Self.indexes(outcome.indexesPending)). 'daybook migrate' "
                    + "without '--defer-indexes' builds what is missing.")
        }
    }

    /// Tells how a name is kept, where one goes and another comes.
    private func hintAtRenames(
        in steps: [ModelStep], undoing entry: SequenceNumber?, _ console: Console
    ) throws {
        func hint(_ gone: [String], _ new: [String], what: String, owner: String = "") throws {
            guard !gone.isEmpty, !new.isEmpty else { return }
            let isClear = gone.count == 1 && new.count == 1
            let names = isClear ? "\(gone[0])=\(new[0])" : "OLD=NEW"
            let sentence =
                "\(list(gone)) \(gone.count == 1 ? "goes with its" : "go with their") \(what), and "
                + "\(list(new)) \(new.count == 1 ? "comes" : "come") without. To rename "
                + "\(isClear ? "it" : "one") instead, "
                + (entry.map { "take entry \($0) back with 'undo' and " } ?? "")
                + "migrate with '--rename \(owner)\(names)'."
            try console.talk(DisplayText.escaped(sentence))
        }
        func list(_ names: [String]) -> String { names.map { "'\($0)'" }.joined(separator: ", ") }
        func entities(_ kind: ModelStep.Kind) -> [String] {
            steps.filter { $0.kind == kind }.map(\.entity)
        }
        func properties(_ kind: ModelStep.Kind, of entity: String) -> [String] {
            steps.filter { $0.kind == kind && $0.entity == entity }.compactMap(\.property)
        }
        try hint(entities(.removeEntity), entities(.addEntity), what: "objects")
        for owner in Set(entities(.removeProperty)).sorted() {
            try hint(
                properties(.removeProperty, of: owner), properties(.addProperty, of: owner),
                what: "values", owner: "\(owner).")
        }
    }

    private static func indexes(_ names: [String]) -> String {
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        return names.count == 1 ? "the index of \(list)" : "the indexes of \(list)"
    }

    private func document(_ outcome: MigrationOutcome) -> JSONText {
        var members: [JSONText.Member] = []
        if let sequence = outcome.sequence, let digest = outcome.digest {
            members.append(.init("sequence", .unsigned(sequence.rawValue)))
            members.append(.init("digest", .string(digest.description)))
            members.append(.init("changed", .unsigned(UInt64(outcome.changesCount))))
        }
        members.append(.init("steps", ModelSteps(outcome.steps).document))
        for (name, indexes) in [
            ("indexesCompleted", outcome.indexesCompleted),
            ("indexesPending", outcome.indexesPending),
        ] where !indexes.isEmpty {
            members.append(.init(name, .array(indexes.map { .string($0) })))
        }
        return .object(members)
    }
}
