import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook prove STORE SEQ --checkpoint FILE`: proves an entry to a reader without the store.
struct ProveCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let entry = Positional(
        "SEQ", .moment, "The entry: its sequence number, 'head', or a time.")
    private let checkpoint = RequiredOption(
        "--checkpoint", "FILE", .path, "A signed checkpoint that counts the entry.")
    private let bytes = Option(
        "--entry", "FILE", .newPath, "Write the bytes of the entry, too; the file must not exist.")
    private let secrecy = Option<WholeEntries>(
        "--confidential", "WHAT", .oneOf,
        "show: write the entry although the model calls some of it confidential.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "prove", in: .prove, summary: "Print a proof that an entry is in the journal.",
            discussion: """
                The proof, the bytes of the entry and the public key are all that is needed to
                check it, with 'check' or with any tool that reads C2SP tlog proofs. Nothing
                else of the journal is revealed.
                """,
            arguments: [store, entry, checkpoint, bytes, secrecy], formats: [],
            examples: [
                .init(
                    "daybook prove iso.daybook 7 --checkpoint now --entry 7.entry > 7.tlog-proof",
                    "Prove entry 7")
            ],
            endings: [
                .init(.success, "The proof was printed."),
                .init(.finding, "The journal does not fit the checkpoint."),
                .init(.usage), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let sequence = try StoreReading.sequence(of: arguments[entry], in: store)
        let note = try CheckpointFile.read(arguments[checkpoint])
        let checkpoint = try Checkpoint(note.text)
        if let flaw = try store.flaw(of: checkpoint) {
            throw ToolError(.finding, flaw)
        }
        guard sequence > .zero, sequence.rawValue <= checkpoint.size else {
            throw ToolError.usage(
                "Entry \(sequence) is not among the \(checkpoint.size) entries of the checkpoint. "
                    + "Sign a newer one.")
        }
        let proof = try EntryProof(
            store.inclusionProof(of: sequence, amongFirst: checkpoint.size), note)
        guard let path = arguments[bytes] else {
            try console.write(proof.description.utf8)
            return .success
        }
        try WholeEntries.check(arguments[secrecy], in: store)
        try TextFile.make(path, store.bytes(of: sequence)) {
            try console.write(proof.description.utf8)
            try console.flush()
        }
        return .success
    }
}

/// `daybook check PROOF --entry FILE --key FILE`: a proof checked without the store.
struct CheckCommand: Command {
    private let proof = Positional("PROOF", .path, "The proof, as 'prove' printed it.")
    private let entry = RequiredOption(
        "--entry", "FILE", .path, "The bytes of the entry, as 'prove --entry' wrote them.")
    private let key = RequiredOption(
        "--key", short: "-k", "FILE", .path, "The public key, as 'keygen' printed it.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "check", in: .prove, summary: "Check a proof without the store.",
            arguments: [proof, entry, key],
            examples: [
                .init(
                    "daybook check 7.tlog-proof --entry 7.entry --key ledger.pub",
                    "Check a proof")
            ],
            endings: [
                .init(.success, "The entry is in the journal, and the signer says so."),
                .init(.finding, "It is not, or it was signed by someone else."), .init(.usage),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let proof = try EntryProof(TextFile.read(arguments[proof], "proof"))
        let key = try VerifierKey(TextFile.read(arguments[key], "public key"))
        let digest = Digest.ofEntry(Array(try TextFile.data(arguments[entry], "entry")))
        try proof.verify(entry: digest, with: key)
        let number = proof.inclusion.index + 1
        if console.format == .text {
            try console.print(
                "Fine: it is entry \(number) of \(proof.inclusion.size) in the journal of "
                    + "'\(DisplayText.escaped(key.name))', with the digest \(digest).")
        } else {
            try console.print(
                [
                    "sequence": .unsigned(number), "size": .unsigned(proof.inclusion.size),
                    "digest": .string(digest.hexadecimal), "origin": .string(key.name),
                ] as JSONText)
        }
        return .success
    }
}
