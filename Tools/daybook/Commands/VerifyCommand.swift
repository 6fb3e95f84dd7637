/// `daybook verify STORE`: everything checked, every finding told.
struct VerifyCommand: Command {
    private let store = Positional("STORE", .path, "The store to verify.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "verify", in: .prove, summary: "Check every entry, row, version, index and reference.",
            discussion: """
                The digests of the journal are computed again and compared along the chain; the
                journal is replayed and compared with all tables derived from it. Every finding
                is told with its place, not only the first.

                What a store cannot prove by itself is that its last entries were not cut off:
                compare the sequence number and digest that are printed with ones kept elsewhere.
                """,
            arguments: [store],
            examples: [.init("daybook verify iso.daybook", "Verify a store")],
            endings: [
                .init(.success, "No fault was found."), .init(.usage),
                .init(.unreadable, "The store is unreadable or damaged; the findings say where."),
                .init(.unverifiable, "Nothing was found, but not everything could be checked."),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let path = arguments[store]
        if VerificationProcess.isThisOne {
            return try VerificationProcess.report(on: path, console)
        }
        let verdict = try VerificationProcess.run(on: path, console)
        switch verdict {
        case .refused(let code): return code
        case .checked(let outcome): return try print(outcome, console)
        }
    }

    private static let truncation =
        "That the last entries were not cut off can be told only by comparing this number and "
        + "digest with ones kept elsewhere."

    private func print(
        _ outcome: VerificationOutcome, _ console: Console
    ) throws -> ExitCode {
        if console.format == .text {
            try printText(outcome, console)
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
                ] as JSONText)
        }
        return outcome.code
    }

    private func printText(_ outcome: VerificationOutcome, _ console: Console) throws {
        for finding in outcome.findings {
            try console.print(
                console.palette(finding.kind, .failure) + ": "
                    + DisplayText.escaped(finding.message))
        }
        for gap in outcome.gaps { try console.print(DisplayText.escaped(gap)) }
        let entries = outcome.head == 1 ? "1 entry" : "\(outcome.head) entries"
        switch outcome.code {
        case .success:
            try console.print(
                "Fine: \(entries) in an unbroken chain, and \(outcome.recordsCompared) records "
                    + "that agree with them.")
        case .unverifiable:
            try console.print("No fault was found, but not everything was checked.")
        default:
            let count = outcome.findings.count
            try console.print(count == 1 ? "1 finding." : "\(count) findings.")
        }
        guard let digest = outcome.digest else { return }
        try console.print("Entry \(outcome.head) has the digest \(digest).")
        try console.talk(Self.truncation)
    }
}
