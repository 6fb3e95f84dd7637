import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
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
    private let model = Option(
        "--model", "FILE", .path,
        "Show what the entry says; the bytes of the entry that set its model.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "check", in: .prove, summary: "Check a proof without the store.",
            discussion: """
                Without '--model' it is said that the entry is in the journal, and not what it
                says: who saved it, when, and what it changes. An entry has numbers in place of
                the names of entities and properties; those are in the entry that set the
                model, which is number 1 until the model changes. Have that one proved, too,
                and check its proof: with the wrong names the changes would be others.
                """,
            arguments: [proof, entry, key, model],
            examples: [
                .init(
                    "daybook check 7.tlog-proof --entry 7.entry --key ledger.pub",
                    "Check a proof"),
                .init(
                    "daybook check 7.tlog-proof --entry 7.entry --key ledger.pub --model 1.entry",
                    "Check a proof, and read what was proved"),
            ],
            endings: [
                .init(.success, "The entry is in the journal, and the signer says so."),
                .init(.finding, "It is not, or it was signed by someone else."), .init(.usage),
                .init(.unreadable, "The bytes for '--model' are not those of an entry."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let proof = try EntryProof(TextFile.read(arguments[proof], "proof"))
        let key = try VerifierKey(TextFile.read(arguments[key], "public key"))
        let bytes = Array(try TextFile.data(arguments[entry], "entry"))
        let digest = Digest.ofEntry(bytes)
        try proof.verify(entry: digest, with: key)
        let number = proof.inclusion.index + 1
        let shown = try arguments[model].map { path in
            try Self.read(bytes, number, namedBy: path)
        }
        guard console.format == .text else {
            let members: [JSONText.Member] = [
                .init("sequence", .unsigned(number)),
                .init("size", .unsigned(proof.inclusion.size)),
                .init("digest", .string(digest.hexadecimal)),
                .init("origin", .string(key.name)),
            ]
            let more = try shown.map { try Self.members(of: $0) } ?? []
            try console.print(JSONText.object(members + more))
            return .success
        }
        try console.print(
            "Fine: it is entry \(number) of \(proof.inclusion.size) in the journal of "
                + "'\(DisplayText.escaped(key.name))', with the digest \(digest).")
        if let shown {
            try console.print()
            try ShowCommand().print(shown.record, on: console)
            try console.print()
            try console.print(
                "Its names are those that entry \(shown.model.sequence) set, with the digest "
                    + "\(shown.model.digest). Check the proof of that one, too.")
        }
        return .success
    }

    /// What a proved entry says, and the entry that set the model with its names.
    private static func read(
        _ bytes: [UInt8], _ number: UInt64, namedBy path: String
    ) throws -> (record: AuditRecord, model: Entry) {
        let entry = try Entry(bytes: bytes)
        guard entry.sequence.rawValue == number else {
            throw ToolError(
                .finding,
                "The entry says that it is number \(entry.sequence), and the proof is about number "
                    + "\(number).")
        }
        let model = try Entry(bytes: Array(try TextFile.data(path, "model")))
        guard let version = model.version, model.sequence <= entry.sequence else {
            throw ToolError.usage(
                "'\(path)' is entry \(model.sequence), which does not set the model of entry "
                    + "\(entry.sequence). Have the entry proved that did: entry 1, or a later one.")
        }
        return (AuditRecord(entry, in: Schema(entry.version ?? version)), model)
    }

    private static func members(
        of shown: (record: AuditRecord, model: Entry)
    ) throws -> [JSONText.Member] {
        let json = try JSONValue(parsing: try JSONLinesEncoder().bytes(of: shown.record))
        return [
            .init("entry", JSONText(json)),
            .init(
                "model",
                [
                    "sequence": .unsigned(shown.model.sequence.rawValue),
                    "digest": .string(shown.model.digest.hexadecimal),
                ]),
        ]
    }
}
