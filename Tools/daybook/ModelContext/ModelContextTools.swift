import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// The tools that a program may use, each of which is a command with '--output json'.
///
/// A command runs as a process of its own: nothing that it meets ends the server. What a program says is only ever the
/// value of an option or stands behind '--', so it is never taken for an option.
///
/// They are made for one message, with the model that the store has then: models are set while the server runs.
struct ModelContextTools {
    /// Arguments that do not fit.
    struct Problem: Error {
        let sentence: String
    }

    private struct Declaration {
        let name: String
        let description: String
        let properties: [(name: String, schema: JSONValue)]
        var required: [String] = []
        /// The words of the command.
        let words: (Input) throws -> [String]
    }

    /// Answers that are longer are refused: the program asks for less.
    private static let bytesMaximum = 1 << 20

    private let store: String
    private let model: ManagedObjectModel
    private let proposals: String?
    /// Options of the server that are passed to every command, a word each.
    private let options: [String]
    private let secrecy: WholeEntries?

    /// Reads the model of a store.
    ///
    /// - Parameters:
    ///   - store: The store's file.
    ///   - proposals: The folder for proposals; nil when there must be none.
    ///   - options: Options of the server that are passed to every command, a word each.
    ///   - secrecy: Whether confidential values may be told.
    /// - Throws: ``ToolError`` when the model calls something confidential that must not be told; `StoreError` when
    ///   the store cannot be read.
    init(
        store: String, proposals: String?, options: [String], secrecy: WholeEntries?
    ) throws {
        // A store whose name begins with a dash must not be mistaken for an option.
        self.store = store.hasPrefix("-") ? "./" + store : store
        self.proposals = proposals
        self.options = options
        self.secrecy = secrecy
        model = try Self.model(of: self.store, telling: secrecy)
    }

    /// The model as it is now; a shared store is not brought up for it.
    private static func model(
        of path: String, telling secrecy: WholeEntries?
    ) throws -> ManagedObjectModel {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        defer { store.closeQuietly() }
        try WholeEntries.check(secrecy, in: store)
        return store.schema.model
    }

    /// What is said when the server is introduced.
    var instructions: String {
        let names = model.entities.map(\.name).joined(separator: ", ")
        return
            "An object-graph store with its whole history, of the entities \(names). Objects are named like "
            + "Country/17. A moment is a number of an entry, 'head', a tag, or a time such as 2011-12-15, "
            + "'yesterday' or '2 hours ago'. Predicates are written as NSPredicate reads them. "
            + (proposals == nil
                ? "Nothing can be changed."
                : "Changes are proposed with the tool propose; a person lands them.")
    }

    /// The tools, as `tools/list` gives them.
    var declarations: [JSONValue] {
        all.map { tool in
            .members(
                ("name", .string(tool.name)), ("description", .string(tool.description)),
                (
                    "inputSchema",
                    .members(
                        ("type", "object"),
                        (
                            "properties",
                            .object(tool.properties.map { JSONMember($0.name, $0.schema) })
                        ),
                        ("required", .array(tool.required.map { .string($0) })),
                        ("additionalProperties", .bool(false)))
                ),
                ("annotations", .members(("readOnlyHint", .bool(tool.name != "propose")))))
        }
    }

    /// Uses a tool.
    ///
    /// - Returns: What it says, and whether that is the reason why it did not work.
    /// - Throws: ``Problem`` when there is no such tool or its arguments do not fit.
    func call(_ name: String, _ arguments: JSONValue) throws -> (text: String, isError: Bool) {
        guard let tool = all.first(where: { $0.name == name }) else {
            throw Problem(sentence: "There is no tool '\(name)'.")
        }
        let input = try Input(arguments, knowing: tool.properties.map(\.name))
        for missing in tool.required where !input.has(missing) {
            throw Problem(sentence: "'\(missing)' is missing.")
        }
        let words = try tool.words(input)
        guard name == "propose" else { return try run(words) }
        return try propose(input, words)
    }

    // MARK: - Tools

    private var all: [Declaration] {
        let reading = [modelTool, fetch, log, show, history, blame, diff, bisect]
        return proposals == nil ? reading : reading + [proposal]
    }

    private var entity: JSONValue {
        .members(
            ("type", "string"), ("enum", .array(model.entities.map { .string($0.name) })))
    }

    private func text(_ description: String) -> JSONValue {
        .members(("type", "string"), ("description", .string(description)))
    }

    private func count(_ description: String, maximum: Int) -> JSONValue {
        .members(
            ("type", "integer"), ("minimum", .number("1")), ("maximum", .number("\(maximum)")),
            ("description", .string(description)))
    }

    private var object: JSONValue {
        .members(
            ("type", "string"), ("pattern", "^[^/]+/[0-9]+$"),
            ("description", "Such as Country/17."))
    }

    private var modelTool: Declaration {
        Declaration(
            name: "model", description: "The entities, attributes and relationships of the store.",
            properties: []
        ) { [store] _ in ["model", "--", store] }
    }

    private var fetch: Declaration {
        Declaration(
            name: "fetch",
            description: "Objects of an entity, as they are or as they were at a moment.",
            properties: [
                ("entity", entity), ("where", text("A predicate: name BEGINSWITH 'T'.")),
                ("at", text("The moment; now by default.")),
                ("sort", text("A property to sort by; '-name' sorts downwards.")),
                ("limit", count("At most so many; 50 by default.", maximum: 1_000)),
            ], required: ["entity"]
        ) { [store] input in
            let limit = try input.count("limit", maximum: 1_000) ?? 50
            return try ["fetch", "--output=json", "--limit=\(limit)"]
                + input.options(["where", "at", "sort"]) + ["--", store, input.text("entity")]
        }
    }

    private var log: Declaration {
        Declaration(
            name: "log", description: "The entries of the journal, newest first.",
            properties: [
                ("limit", count("At most so many; 20 by default.", maximum: 500)),
                ("since", text("Only entries from this moment on.")),
                ("until", text("Only entries up to this moment.")),
                ("author", text("Only those of this author.")), ("entity", entity),
                ("object", object),
                ("text", text("Only entries that add or remove this text in a value.")),
                ("note", text("Only entries with this text in their note.")),
            ]
        ) { [store] input in
            let limit = try input.count("limit", maximum: 500) ?? 20
            return try ["log", "--output=json", "--limit=\(limit)"]
                + input.options(["since", "until", "author", "entity", "object", "text"])
                + (input.optionalText("note").map { ["--grep=\($0)"] } ?? []) + ["--", store]
        }
    }

    private var show: Declaration {
        Declaration(
            name: "show", description: "One entry with all its changes, old values and new.",
            properties: [("entry", text("Its number, 'head', a tag or a time."))],
            required: ["entry"]
        ) { [store] input in ["show", "--output=json", "--", store, try input.text("entry")] }
    }

    private var history: Declaration {
        Declaration(
            name: "history", description: "Everything that happened to an object, oldest first.",
            properties: [("object", object)], required: ["object"]
        ) { [store] input in ["history", "--output=json", "--", store, try input.text("object")] }
    }

    private var blame: Declaration {
        Declaration(
            name: "blame", description: "Which entry wrote each value of an object, and who.",
            properties: [("object", object), ("at", text("As of this moment; now by default."))],
            required: ["object"]
        ) { [store] input in
            try ["blame", "--output=json"] + input.options(["at"])
                + ["--", store, input.text("object")]
        }
    }

    private var diff: Declaration {
        Declaration(
            name: "diff", description: "What differs between two states, object by object.",
            properties: [
                ("from", text("The earlier moment.")), ("to", text("The later one.")),
                ("entity", entity),
            ], required: ["from", "to"]
        ) { [store] input in
            try ["diff", "--output=json"] + input.options(["entity"])
                + ["--", store, input.text("from"), input.text("to")]
        }
    }

    private var bisect: Declaration {
        Declaration(
            name: "bisect",
            description: "The entry from which on an object of an entity satisfies a predicate.",
            properties: [
                ("entity", entity), ("where", text("The predicate.")),
                ("from", text("Begin at this moment.")), ("to", text("End at this moment.")),
            ], required: ["entity", "where"]
        ) { [store] input in
            try ["bisect", "--output=json"] + input.options(["where", "from", "to"])
                + ["--", store, input.text("entity")]
        }
    }

    private var proposal: Declaration {
        Declaration(
            name: "propose",
            description:
                "Propose one entry of changes under a name. Nothing is changed: the proposal is checked and written "
                + "to a file, which a person reads and lands.",
            properties: [
                (
                    "name",
                    .members(("type", "string"), ("pattern", "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"))
                ),
                (
                    "changes",
                    .members(
                        ("type", "array"), ("minItems", .number("1")),
                        ("items", .members(("oneOf", .array(ChangeSchemas(model).all)))))
                ),
                ("note", text("Why.")),
            ], required: ["name", "changes"]
        ) { [store] _ in ["record", "--dry-run", "--output=json", "--", store] }
    }

    // MARK: - Running

    private func run(
        _ words: [String], input: Data? = nil
    ) throws -> (text: String, isError: Bool) {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = Array(words.prefix(1)) + options + words.dropFirst()
        let (output, talk) = (Pipe(), Pipe())
        let lines = Pipe()
        process.standardInput = lines
        process.standardOutput = output
        process.standardError = talk
        try process.run()
        // What is said on both is read at the same time: a full pipe would stop the command.
        let said = Said()
        let reading = DispatchGroup()
        DispatchQueue.global().async(group: reading) {
            said.talk = talk.fileHandleForReading.readDataToEndOfFile()
        }
        let handle = lines.fileHandleForWriting
        DispatchQueue.global().async(group: reading) {
            do {
                try handle.write(contentsOf: input ?? Data())
                try handle.close()
            } catch {
                // A command that refuses its first line reads no more: its reason is read below.
                return
            }
        }
        // No more is read than can be answered, however much the command has to say.
        var answer = Data()
        while answer.count <= Self.bytesMaximum,
            let piece = try output.fileHandleForReading.read(upToCount: 1 << 16), !piece.isEmpty
        {
            answer += piece
        }
        if answer.count > Self.bytesMaximum { process.terminate() }
        reading.wait()
        process.waitUntilExit()
        guard answer.count <= Self.bytesMaximum else {
            return ("The answer is longer than \(Self.bytesMaximum) bytes. Ask for less.", true)
        }
        // 1 is an answer: a difference, or no turn.
        // What the command has read may have become confidential while it ran. A model that is set later than now says
        // nothing of this answer.
        do {
            _ = try Self.model(of: store, telling: secrecy)
        } catch {
            return (ToolError(error).message, true)
        }
        guard process.terminationReason == .exit, [0, 1].contains(process.terminationStatus) else {
            let reason = String(decoding: said.talk, as: UTF8.self)
            return (reason.isEmpty ? "The command ended early." : reason, true)
        }
        return (String(decoding: answer, as: UTF8.self), false)
    }

    /// Checks a proposal and writes it down.
    private func propose(
        _ input: Input, _ words: [String]
    ) throws -> (text: String, isError: Bool) {
        let name = try input.text("name")
        guard let folder = proposals, Proposal.isName(name) else {
            throw Problem(sentence: "'name' has to be letters, digits, '-' and '_', 64 at most.")
        }
        let proposal = Proposal(changes: try input.changes(), note: try input.optionalText("note"))
        let (preview, isError) = try run(words, input: Data(proposal.lines.utf8))
        guard !isError else { return (preview, true) }
        let path = "\(folder)/\(name).jsonl"
        do {
            try proposal.write(to: path)
        } catch {
            return (ToolError(error).message, true)
        }
        return (
            "Proposed in '\(path)'. A person lands it with: daybook record \(store) < \(path)\n\(preview)",
            false
        )
    }

    /// What a process said beside its answer.
    private final class Said: @unchecked Sendable {
        // @unchecked Sendable: written by one thread, and read when that has ended.
        var talk = Data()
    }
}
