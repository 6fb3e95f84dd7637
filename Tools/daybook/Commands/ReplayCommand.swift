import Foundation
import JournalLog
import ObjectModel
import SnapshotStore

/// `daybook replay STORE`: the journal folded again from its first entry.
struct ReplayCommand: Command {
    private let store = Positional("STORE", .path, "The store whose journal to replay.")
    private let last = Option(
        "--to", "SEQ|TIME", .moment, "Stop after this entry or time; at the head when left out.")
    private let target = Option(
        "--into", "NEW", .path, "Replay into a new store; the file must not exist.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "replay", in: .past,
            summary: "Replay the journal, to check the store or into a new one.",
            arguments: [store, last, target],
            examples: [
                .init(
                    "daybook replay iso.daybook --to 6 --into then.daybook",
                    "A store as it was at entry 6")
            ],
            endings: [
                .init(.success), .init(.finding, "The replay differs from what the store holds."),
                .init(.usage, "Wrong usage, or the new file exists already."), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let end = try StoreReading.place(of: arguments[last] ?? .head, in: store)
        guard end >= SequenceNumber(1) else {
            throw ToolError.usage("There is nothing to replay before entry 1.")
        }
        let replay = Replay(of: store, through: end)
        if let path = arguments[target] {
            guard !FileManager.default.fileExists(atPath: path) else {
                throw ToolError.usage(
                    "'\(path)' exists already and is left as it is. Choose another path.")
            }
            return try replay.run(into: path, console)
        }
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("daybook-replay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { removeScratch(folder, console) }
        return try replay.run(into: folder.appendingPathComponent("replay").path, console)
    }

    private func removeScratch(_ folder: URL, _ console: Console) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            console.fail("The folder '\(folder.path)' could not be removed.")
        }
    }
}

/// Folds a journal from its first entry and compares what comes out with what the store holds.
private struct Replay {
    let store: Store
    let through: SequenceNumber

    init(of store: Store, through end: SequenceNumber) {
        self.store = store
        through = end
    }

    func run(into path: String, _ console: Console) throws -> ExitCode {
        let copy = try fold(into: path, console)
        let differences = try compare(with: copy)
        let digest = try copy.headDigest()
        try copy.close()
        switch console.format {
        case .text:
            for difference in differences { try console.print(difference) }
            let entries = through == SequenceNumber(1) ? "1 entry" : "\(through) entries"
            try console.print(
                differences.isEmpty
                    ? "Replayed \(entries): the store holds exactly this."
                    : "Replayed \(entries): \(differences.count) differences.")
        case .json, .jsonl:
            try console.print(
                [
                    "sequence": .unsigned(through.rawValue),
                    "digest": .string(digest.description),
                    "differences": .array(differences.map { .string($0) }),
                ] as JSONText)
        }
        return differences.isEmpty ? .success : .finding
    }

    /// Makes the new store; each entry must come out with its digest.
    private func fold(into path: String, _ console: Console) throws -> Store {
        let progress = console.progress("Replaying entry", of: Int(through.rawValue))
        defer { progress.finish() }
        var options = StoreOptions()
        options.durability = .relaxed
        let copy = try Store.create(
            at: path, loading: store.entry(SequenceNumber(1)), options: options)
        progress.advance()
        try store.entries(from: SequenceNumber(2), through: through) { entry in
            try copy.append(exported: entry)
            progress.advance()
            return .proceed
        }
        return copy
    }

    /// What differs between the store as of the last entry and the replay of it.
    private func compare(with copy: Store) throws -> [String] {
        try store.read(at: through) { original in
            try copy.read { replayed in
                var differences: [String] = []
                let entities = store.schema.entities.map(\.number)
                try original.objects(of: entities) { object in
                    let state = try replayed.state(of: object)
                    if state != (try original.state(of: object)) {
                        let name = store.schema.name(of: object)
                        differences.append(
                            state == nil
                                ? "\(name) is in the store and not in the replay."
                                : "\(name) has other values in the store than in the replay.")
                    }
                    return .proceed
                }
                try replayed.objects(of: entities) { object in
                    if try !original.exists(object) {
                        differences.append(
                            "\(store.schema.name(of: object)) is in the replay and not in the store."
                        )
                    }
                    return .proceed
                }
                return differences + (try tableDifferences(with: copy))
            }
        }
    }

    /// Tables are compared byte by byte when the whole journal was replayed.
    private func tableDifferences(with copy: Store) throws -> [String] {
        guard try store.head() == through else { return [] }
        let own = try store.projectionDigest()
        let other = try copy.projectionDigest()
        return own.keys.sorted().filter { own[$0] != other[$0] }
            .map { "The table '\($0)' differs from the replay." }
    }
}
