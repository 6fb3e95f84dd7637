// The room of the Model Context Protocol: a server on standard input and output, for programs that ask about a store in
// the name of a person.

import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// `daybook mcp STORE`: answers the questions of programs that speak the Model Context Protocol.
struct ModelContextCommand: Command {
    private let store = Positional("STORE", .path, "The store that is asked about.")
    private let proposals = Option(
        "--propose", "DIR", .path,
        "Let changes be proposed: each becomes a file in this folder.")
    private let secrecy = Option<WholeEntries>(
        "--confidential", "WHAT", .oneOf,
        "show: answer although the model calls some of it confidential.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "mcp", in: .tool,
            summary: "Answer the questions of a program, by the Model Context Protocol.",
            discussion: """
                Reads messages of the Model Context Protocol from standard input, one JSON object a
                line, and answers on standard output. Tools read: the model, objects now and then,
                the log, an entry, the history of an object, who wrote what, differences, and the
                entry at which an answer turned. Nothing is ever written to the store.

                With --propose DIR a change can be proposed. It is checked as 'record' would,
                and becomes a file of lines in the folder, DIR/NAME.jsonl, which a person reads and
                lands: daybook record STORE --author me < DIR/NAME.jsonl.

                Who asks reads all values, also earlier ones, so a store whose model has or had
                confidential properties is refused unless '--confidential show' is given; when such
                a model is set while the server runs, every answer from then on is refused. The
                server ends with its input.
                """,
            arguments: [store, proposals, secrecy], formats: [],
            examples: [
                .init("daybook mcp iso.daybook", "Let a program ask about a store"),
                .init(
                    "daybook mcp iso.daybook --propose proposals",
                    "Let it propose changes, too"),
            ],
            endings: [.init(.success), .init(.usage), .init(.unreadable)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        // A shared store is brought up once here, and then by each command.
        try StoreReading.open(path).close()
        if let folder = arguments[proposals] {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
                isFolder.boolValue
            else { throw ToolError.usage("There is no folder '\(folder)' for proposals.") }
        }
        let (folder, secrecy) = (arguments[proposals], arguments[secrecy])
        let options = SharedOptions.handedOn(arguments)
        func tools() throws -> ModelContextTools {
            try ModelContextTools(
                store: path, proposals: folder, options: options, secrecy: secrecy)
        }
        // What would refuse every answer ends the server at once.
        _ = try tools()
        let server = ModelContextServer(tools)
        while let line = try console.input.next(keeping: ModelContextServer.bytesKept) {
            guard line.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { continue }
            guard let answer = server.answer(to: line) else { continue }
            try console.write((answer.text(escaping: .least) + "\n").utf8)
            try console.flush()
        }
        return .success
    }
}
