// The room of the commands that prove: signed checkpoints, proofs and tiles for readers without the
// store.

import DaybookJournalLog
import DaybookNewFiles
import DaybookSnapshotStore

/// `daybook checkpoint STORE --key FILE`: the present state of the journal, signed.
struct CheckpointCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let key = RequiredOption(
        "--key", short: "-k", "FILE", .path, "The private key, as 'keygen' made it.")
    private let previous = Option(
        "--previous", "FILE", .path,
        "The checkpoint signed before this one; the journal must continue from it.")
    private let growth = Option(
        "--growth", "FILE", .path,
        "Write the proof that the journal continues from the earlier one; the file must not exist.")
    private let moment = Option(
        "--at", "SEQ|TIME", .moment, "Its last entry; by default the last of all.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "checkpoint", in: .prove,
            summary: "Sign the number of entries and the root over them.",
            discussion: """
                Keep checkpoints out of reach of those who can write to the store: with an
                auditor, in another system, on paper. 'verify --checkpoint' then shows that
                nothing before the checkpoint was changed or cut off, and 'prove' that an entry
                was there.

                The text is a C2SP checkpoint with an Ed25519 signature, as other tools for
                transparency logs read and write it. '--growth' writes the request for the
                signature of a C2SP witness.
                """,
            arguments: [store, key, previous, growth, moment], formats: [],
            examples: [
                .init(
                    "daybook checkpoint iso.daybook --key ledger.key > today.checkpoint",
                    "Sign the state of today")
            ],
            endings: [
                .init(.success, "The checkpoint was printed."),
                .init(.finding, "The journal does not continue from the earlier checkpoint."),
                .init(.usage), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let key = try SigningKey(TextFile.read(arguments[key], "private key"))
        let store = try StoreReading.open(arguments[store])
        let sequence = try StoreReading.sequence(of: arguments[moment] ?? .head, in: store)
        let checkpoint = try store.checkpoint(origin: key.verifierKey.name, at: sequence)
        let older = try arguments[previous].map { try earlier($0, key.verifierKey, in: store) }
        if let older, older.size > checkpoint.size {
            throw ToolError.usage("The earlier checkpoint covers more entries than this one.")
        }
        var note = checkpoint.note
        try note.sign(with: key)
        guard let path = arguments[growth] else {
            try console.write(note.description.utf8)
            return .success
        }
        guard let older else {
            throw ToolError.usage(
                "'--growth' needs the earlier checkpoint: add '--previous FILE'.")
        }
        let proof = try store.consistencyProof(from: older.size, to: checkpoint.size)
        try TextFile.make(path, Array(proof.witnessRequest(for: note).utf8), for: .everybody) {
            try console.write(note.description.utf8)
            try console.flush()
        }
        return .success
    }

    /// The checkpoint signed before. Of two signed states, the later must continue the earlier, or
    /// one signature is a lie.
    private func earlier(
        _ path: String, _ key: VerifierKey, in store: Store
    ) throws -> Checkpoint {
        let checkpoint = try CheckpointFile.read(path).checkpoint(signedBy: key)
        if let flaw = try store.flaw(of: checkpoint) {
            throw ToolError(.finding, flaw)
        }
        return checkpoint
    }
}

/// Checkpoint files given to commands.
enum CheckpointFile {
    static func read(_ path: String) throws -> SignedNote {
        try SignedNote(TextFile.read(path, "checkpoint"))
    }

    /// The checkpoint in a note, verified with the key in a file.
    static func verified(_ note: SignedNote, byKeyIn path: String) throws -> Checkpoint {
        try note.checkpoint(signedBy: VerifierKey(TextFile.read(path, "public key")))
    }
}
