import DaybookJournalLog
import DaybookNewFiles

/// `daybook keygen NAME --into FILE`: a new key for signing checkpoints.
struct KeygenCommand: Command {
    private let name = Positional(
        "NAME", .name, "The name of the key's journal, such as example.org/ledger.")
    private let file = RequiredOption(
        "--into", "FILE", .newPath, "The file for the private key; it must not exist.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "keygen", in: .prove, summary: "Make a key for signing checkpoints.",
            discussion: """
                The private key goes into FILE, which only its owner may read. The public key is
                printed: give it to those who check. Keep the private key away from the store:
                anyone with both could rewrite the store and sign it.
                """,
            arguments: [name, file],
            examples: [
                .init(
                    "daybook keygen example.org/ledger --into ledger.key > ledger.pub",
                    "Make a pair of keys")
            ],
            endings: [.init(.success, "Both keys are there."), .init(.usage)])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let key = try SigningKey.random(name: arguments[name])
        // A private key is useless unless its public key is known.
        try TextFile.make(
            arguments[file], Array((key.secretText + "\n").utf8)
        ) {
            try print(key.verifierKey, console)
        }
        return .success
    }

    private func print(_ key: VerifierKey, _ console: Console) throws {
        do {
            if console.format == .text {
                try console.print(key.description)
            } else {
                try console.print(["verifierKey": .string(key.description)] as JSONText)
            }
            try console.flush()
        } catch is OutputClosed {
            throw ToolError.usage(
                "The public key could not be printed, so no key was made. Send it to a file.")
        }
    }
}
