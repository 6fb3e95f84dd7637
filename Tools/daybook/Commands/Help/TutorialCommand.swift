import CDaybookTerminal
import DaybookNewFiles
import DaybookObjectModel
import Foundation

/// `daybook tutorial`: ten commands on a store of their own, shown, run and explained.
struct TutorialCommand: Command {
    var declaration: CommandDeclaration {
        CommandDeclaration(
            "tutorial", in: .tool, summary: "Try the tool in ten steps, in a store that goes away.",
            discussion: """
                Each step shows a command, runs it and explains it, in a temporary folder that is
                removed at the end. On a terminal it waits after each step, and asks for a name
                that you give and take back again; Control-D leaves. From a file or a pipe nothing
                is asked.
                """,
            arguments: [], formats: [],
            examples: [.init("daybook tutorial", "Try the tool")],
            endings: [.init(.success), .init(.usage, "A step failed.")])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        guard let tool = Bundle.main.executableURL else {
            throw ToolError.usage("The program itself cannot be found.")
        }
        let folder = try ScratchFolder(for: "tutorial")
        // Its files are used by others.
        defer { withExtendedLifetime(folder) {} }
        let model = try NewFile(folder.path("model.json"))
        try model.write(Self.model.utf8)
        try model.finish()
        // The steps name files without a folder.
        let home = FileManager.default.currentDirectoryPath
        guard FileManager.default.changeCurrentDirectoryPath(folder.path) else {
            throw ToolError.usage("The folder '\(folder.path)' cannot be entered.")
        }
        defer { _ = FileManager.default.changeCurrentDirectoryPath(home) }
        let isInteractive = SystemCall.isTerminal(.input) && SystemCall.isTerminal(.output)
        var name = "Türkiye"
        for (index, step) in Self.steps.enumerated() {
            if step.asks && isInteractive {
                guard let given = try ask("What should Country/1 be called? [\(name)] ", console)
                else { return .success }
                // The name that it has would be no change.
                if !given.isEmpty, given != "Turkey" { name = given }
            }
            let words = step.words.map { $0.replacing("{name}", with: name) }
            try console.print(
                console.palette("\(index + 1)/\(Self.steps.count)  \(step.title)", .heading))
            try console.print("$ daybook " + words.map(Self.quoted).joined(separator: " "))
            try carryOut([tool.path, "--no-pager"] + words, console)
            for line in step.explanation { try console.print("  " + line) }
            try console.print()
            let isLast = index == Self.steps.count - 1
            if isInteractive, !isLast, try ask("Enter goes on. ", console) == nil {
                return .success
            }
        }
        return .success
    }

    private func carryOut(_ words: [String], _ console: Console) throws {
        try console.flush()
        let failure = "No command can be started"
        try SystemCall.setProgram(words, failure)
        let ending = terminal_program_run(TERMINAL_NO_INPUT)
        guard ending.error == 0 else { throw ToolError.system(failure, ending.error) }
        guard ending.signal == 0, ending.code == 0 else {
            throw ToolError.usage("The step ended with \(ending.code). The rest was not run.")
        }
    }

    /// What the user enters; nil at the end of the input.
    private func ask(_ question: String, _ console: Console) throws -> String? {
        try console.ask(question)
        guard let bytes = try console.input.next() else { return nil }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }

    /// A word as a shell needs it.
    private static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { byte in
            (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || (byte >= 0x30 && byte <= 0x39)
                || "-_./=:,".utf8.contains(byte) || byte >= 0x80
        }
        return plain && !word.isEmpty ? word : "'" + word.substituting(["'": #"'\''"#]) + "'"
    }

    // MARK: - Steps

    private struct Step {
        let title: String
        let words: [String]
        let explanation: [String]
        /// Whether the user is asked for the name first.
        var asks = false
    }

    private static let model = """
        {"entities":[
         {"name":"Country","attributes":[{"name":"name","type":"string","optional":false}],
          "relationships":[{"name":"towns","destination":"Town","toMany":true,"inverse":"country"}]},
         {"name":"Town","attributes":[{"name":"name","type":"string","optional":false}],
          "relationships":[{"name":"country","destination":"Country","inverse":"towns"}]}]}

        """

    private static let steps = [
        Step(
            title: "A store begins with its model.",
            words: ["init", "atlas.daybook", "--model", "model.json"],
            explanation: [
                "The model says which objects there can be: countries, and towns in them.",
                "It stands in the store itself, so nothing else is needed to read it.",
            ]),
        Step(
            title: "Add an object.",
            words: ["add", "atlas.daybook", "Country", "name=Turkey", "--author", "registry"],
            explanation: [
                "Each change is an entry of the journal, with an author if you name one.",
                "The object has a name now: Country/1.",
            ]),
        Step(
            title: "Add another one that refers to it.",
            words: [
                "add", "atlas.daybook", "Town", "name=Ankara", "country=Country/1", "--author",
                "registry",
            ],
            explanation: ["The country's 'towns' follow by themselves."]),
        Step(
            title: "Change a value, and say why.",
            words: [
                "set", "atlas.daybook", "Country/1", "name={name}", "--author", "me", "--note",
                "My own change",
            ],
            explanation: ["The old value is not lost: it stands in the entry."], asks: true),
        Step(
            title: "Read the journal.", words: ["log", "atlas.daybook", "--oneline"],
            explanation: [
                "Newest first: who changed how much, when. 'daybook show 4' says all of it."
            ]),
        Step(
            title: "Look at one object through time.",
            words: ["history", "atlas.daybook", "Country/1"],
            explanation: ["Everything that happened to it, with old and new values."]),
        Step(
            title: "Look into the past.",
            words: ["fetch", "atlas.daybook", "Country", "--at", "3"],
            explanation: [
                "As it was after entry 3. A date, 'yesterday' or '2 hours ago' may stand there, too."
            ]),
        Step(
            title: "Ask who wrote what is there now.",
            words: ["blame", "atlas.daybook", "Country/1"],
            explanation: ["For each property: the entry, its time and its author."]),
        Step(
            title: "Take your change back.",
            words: ["undo", "atlas.daybook", "4", "--author", "me"],
            explanation: [
                "Nothing is removed: the undo is an entry of its own, and can be undone."
            ]),
        Step(
            title: "Check everything.", words: ["verify", "atlas.daybook"],
            explanation: [
                "Each entry's digest covers the one before, so nobody changes the past unseen.",
                "Next: 'daybook help', and your own model with 'daybook init'.",
            ]),
    ]
}
