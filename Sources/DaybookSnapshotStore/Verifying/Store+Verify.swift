// The room of verifying: whether journal, proofs and projection agree. It reads everything, trusts
// nothing, reports every finding, and changes nothing in the store.

package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// Checks everything in a store's file and reports every fault.
    ///
    /// The pages come first, without LMDB, so that no damage can stop the program; then the digests
    /// of the journal; then an account of what folding the journal gives, against every record of
    /// the projection. Where it does not come out even, the journal is folded into a scratch store
    /// in the system's temporary folder, and every record is compared byte for byte. References,
    /// derived values, large data and what programs have folded out of the journal come last.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How to open it; it is always opened read-only.
    ///   - checkpoint: A checkpoint that the journal must extend. It is compared in the same read
    ///     transaction, unless pages or the journal are damaged; a gap says so then.
    ///   - progress: Called now and then with the step being checked and the fraction done, from 0
    ///     to 1.
    /// - Returns: The findings. A store with damaged pages is not checked further.
    /// - Throws: ``StoreError`` when the file is not a store, or cannot be read at all.
    /// - Complexity: O(*j* log *n*) page reads; where something is wrong, as many page writes to the
    ///   scratch store.
    package static func verify(
        path: String, options: StoreOptions = StoreOptions(), checkpoint: Checkpoint? = nil,
        progress: (_ step: String, _ fraction: Double) -> Void = { _, _ in }
    ) throws -> VerifyReport {
        var report = VerifyReport()
        progress("pages", 0)
        guard try wrapping(path, { try checkPages(path, &report) }) else {
            report.leaveOut(checkpoint, because: "the pages of the file are damaged")
            return report
        }
        var reading = options
        reading.isReadOnly = true
        guard let store = try openForChecking(path, reading, &report) else {
            report.leaveOut(checkpoint, because: "the store has no model to read by")
            return report
        }
        report = try store.checked(report, checkpoint, progress)
        try store.close()
        return report
    }

    /// Checks everything in an open store except the pages of the file. One that is damaged is a finding all the same
    /// where something has to be read from it, and a gap tells what could not be checked for that.
    ///
    /// - Parameters:
    ///   - checkpoint: As in ``verify(path:options:checkpoint:progress:)``.
    ///   - progress: As there.
    /// - Returns: The findings.
    /// - Throws: ``StoreError`` when the file cannot be read at all.
    /// - Complexity: As ``verify(path:options:checkpoint:progress:)``.
    package func verify(
        checkpoint: Checkpoint? = nil,
        progress: (_ step: String, _ fraction: Double) -> Void = { _, _ in }
    ) throws -> VerifyReport {
        try checked(VerifyReport(), checkpoint, progress)
    }

    /// Completes a report.
    private func checked(
        _ report: VerifyReport, _ checkpoint: Checkpoint?, _ progress: (String, Double) -> Void
    ) throws -> VerifyReport {
        while true {
            var verification = Verification(
                self, report, try chunkTable(), try stateTable(), checkpoint)
            progress("journal", 0)
            // One transaction for all checks: what others save meanwhile is not seen.
            try reading { try verification.run(in: $0, progress) }
            // The first large data, or the first state, may have been saved between the look for their
            // tables and the beginning of the transaction.
            let isOvertaken =
                try verification.lacksChunks && chunkTable() != nil
                || verification.lacksStates && stateTable() != nil
            guard isOvertaken else { return verification.report }
        }
    }

    /// Opens a store with the model from its journal, or from the tables when the first entry is
    /// broken; nil when neither can be read.
    private static func openForChecking(
        _ path: String, _ options: StoreOptions, _ report: inout VerifyReport
    ) throws -> Store? {
        for source in [ModelSource.journal, .table] {
            do {
                return try open(at: path, model: nil, options: options, modelSource: source)
            } catch let error as StoreError where error.code == .corrupt || error.code == .model {
                let place = source == .journal ? "entry 1" : "models"
                report.add(.metadata, place, error.message)
            }
        }
        report.gaps.append("Nothing more was checked, because the store has no model to read by.")
        return nil
    }

    /// Checks the pages; false when they are damaged.
    private static func checkPages(
        _ path: String, _ report: inout VerifyReport
    ) throws -> Bool {
        let findings: [PageFinding]
        do {
            findings = try PageCheck.run(path: path)
        } catch {
            guard error.code == .alreadyOpen else { throw error }
            report.gaps.append(
                "The pages were not checked, because the store is open in this process.")
            return true
        }
        for finding in findings where finding.severity == .damage {
            let place = finding.page.map { "page \($0)" } ?? "pages"
            report.add(.page, place, finding.message)
        }
        for finding in findings where finding.severity == .unchecked {
            report.gaps.append(finding.message)
        }
        return report.findings.isEmpty
    }
}

extension VerifyReport {
    mutating func add(_ kind: VerifyFinding.Kind, _ place: String, _ message: String) {
        findings.append(VerifyFinding(kind: kind, place: place, message: message))
    }

    /// Says why a checkpoint that was given was not compared.
    mutating func leaveOut(_ checkpoint: Checkpoint?, because reason: String) {
        guard checkpoint != nil else { return }
        gaps.append(Self.leavingOutCheckpoint(because: reason))
    }

    /// The gap of a checkpoint that was not compared.
    package static func leavingOutCheckpoint(because reason: String) -> String {
        "The checkpoint was not compared, because \(reason)."
    }
}
