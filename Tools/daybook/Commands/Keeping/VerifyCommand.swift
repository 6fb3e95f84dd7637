import DaybookJournalLog
import DaybookSnapshotStore

/// `daybook verify STORE`: checks everything and reports every finding.
struct VerifyCommand: Command {
    private let store = Positional("STORE", .path, "The store to verify.")
    private let checkpoint = Option(
        "--checkpoint", "FILE", .path,
        "A checkpoint kept elsewhere, from which the journal must continue.")
    private let key = Option(
        "--key", short: "-k", "FILE", .path,
        "The public key that must have signed the checkpoint.")
    private let requireSigned = Flag(
        "--require-signed", "Refuse a checkpoint without a key to check its signature with.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "verify", in: .prove, summary: "Check every entry, row, version, index and reference.",
            discussion: """
                The digests of the journal are computed again and compared along the chain; the
                journal is replayed and compared with all tables derived from it. Every finding
                is reported with its location, not only the first.

                Data outside of the journal cannot be proved: tags, cursors, the store's
                identifier, the time it was made, values that a program keeps about it. They are
                only checked for being readable, and a tag for the entry that it was set on.

                A store cannot prove by itself that its last entries were not cut off, or that
                everything from some entry on was not rewritten: give it a checkpoint that was
                kept elsewhere, and the key that signed it. It is compared whatever else is found,
                unless pages or the journal itself are damaged.
                """,
            arguments: [store, checkpoint, key, requireSigned],
            examples: [
                .init("daybook verify iso.daybook", "Verify a store"),
                .init(
                    "daybook verify iso.daybook --checkpoint today.checkpoint --key ledger.pub",
                    "And that nothing before the checkpoint was cut off"),
            ],
            endings: [
                .init(.success, "No fault was found."),
                .init(
                    .finding,
                    "The journal does not fit the checkpoint, or the checkpoint is not signed."),
                .init(.usage),
                .init(.unreadable, "The store is unreadable or damaged; the findings say where."),
                .init(.unverifiable, "Nothing was found, but not everything could be checked."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        let known = try knownCheckpoint(arguments, console)
        let verdict = try VerificationProcess.run(on: path, checkpoint: known, console)
        switch verdict {
        case .refused(let code): return code
        case .checked(let outcome):
            try print(outcome, known, console)
            return outcome.code
        }
    }

    /// The given checkpoint, if it is properly signed.
    private func knownCheckpoint(
        _ arguments: ParsedArguments, _ console: Console
    ) throws -> Checkpoint? {
        guard let path = arguments[checkpoint] else {
            if arguments[key] != nil || arguments[requireSigned] {
                throw ToolError.usage("A key is for a checkpoint: add '--checkpoint FILE'.")
            }
            return nil
        }
        let note = try CheckpointFile.read(path)
        if let path = arguments[key] {
            return try CheckpointFile.verified(note, byKeyIn: path)
        }
        if arguments[requireSigned] {
            throw ToolError.usage("Add '--key FILE' with the public key.")
        }
        try console.talk(
            "Anyone may have written the checkpoint: add '--key' to check who signed it.")
        return try Checkpoint(note.text)
    }

    private static let truncation =
        "Truncation is not excluded: only a checkpoint kept elsewhere ('--checkpoint') can show "
        + "that the last entries were not cut off."

    private func print(
        _ outcome: VerificationOutcome, _ checkpoint: Checkpoint?, _ console: Console
    ) throws {
        if console.format == .text {
            try printText(outcome, checkpoint, console)
        } else {
            try console.print(
                [
                    "sound": .bool(outcome.code == .success),
                    "sequence": .unsigned(outcome.head),
                    "digest": .optional(outcome.digest),
                    "recordsCompared": .integer(Int64(outcome.recordsCompared)),
                    "findings": .array(
                        outcome.findings.map { finding in
                            [
                                "kind": .string(finding.kind), "place": .string(finding.place),
                                "message": .string(finding.message),
                            ]
                        }),
                    "gaps": .array(outcome.gaps.map { .string($0) }),
                    "checkpoint": checkpoint.map {
                        ["size": .unsigned($0.size), "holds": holds(outcome)] as JSONText
                    } ?? .null,
                ] as JSONText)
        }
    }

    /// Whether the journal continues from the checkpoint; null when it was not compared.
    private func holds(_ outcome: VerificationOutcome) -> JSONText {
        outcome.isCheckpointCompared ? .bool(outcome.flaw == nil) : .null
    }

    private func printText(
        _ outcome: VerificationOutcome, _ checkpoint: Checkpoint?, _ console: Console
    ) throws {
        if let flaw = outcome.flaw {
            try console.print(
                console.palette("checkpoint", .failure) + ": " + DisplayText.escaped(flaw))
        }
        for finding in outcome.findings {
            try console.print(
                console.palette(finding.kind, .failure) + ": "
                    + DisplayText.escaped(finding.message))
        }
        for gap in outcome.gaps { try console.print(DisplayText.escaped(gap)) }
        let entries = outcome.head == 1 ? "1 entry" : "\(outcome.head) entries"
        switch outcome.soundness {
        case .success:
            try console.print(
                (outcome.flaw == nil
                    ? console.palette.mark("✓ ", .added) + "Fine: "
                    : console.palette.mark("✗ ", .failure) + "No other fault: ")
                    + "\(entries) in an unbroken chain, and \(outcome.recordsCompared) records "
                    + "that agree with them.")
        case .unverifiable:
            try console.print("No fault was found, but not everything was checked.")
        default:
            let count = outcome.findings.count
            try console.print(
                console.palette.mark("✗ ", .failure)
                    + (count == 1 ? "1 finding." : "\(count) findings."))
        }
        guard let digest = outcome.digest else { return }
        try console.print("Entry \(outcome.head) has the digest \(digest).")
        guard let checkpoint else { return try console.talk(Self.truncation) }
        guard outcome.isCheckpointCompared, outcome.flaw == nil else { return }
        try console.print(
            "The journal goes on from the checkpoint of \(checkpoint.size) entries: none of "
                + "those was changed or cut off. Tags, cursors, the store's identifier and whatever "
                + "else is kept beside the journal are in no checkpoint.")
    }
}
