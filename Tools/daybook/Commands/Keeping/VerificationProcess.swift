import CDaybookTerminal
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// The result of a check, as one process sends it to another.
struct VerificationOutcome: Codable {
    struct Finding: Codable {
        let kind: String
        let place: String
        let message: String
    }

    var findings: [Finding] = []
    var gaps: [String] = []
    /// Whether the journal was compared with a checkpoint; if one was given and was not compared, a gap says why.
    var isCheckpointCompared = false
    /// The reason why the journal does not fit the checkpoint.
    var flaw: String?
    var head: UInt64 = 0
    var digest: String?
    var recordsCompared = 0

    /// The exit code of the command. That of a damaged store is the same whether it fits the checkpoint or not.
    var code: ExitCode { flaw == nil || soundness == .unreadable ? soundness : .finding }

    /// The exit code for the store alone, without a checkpoint.
    var soundness: ExitCode {
        if !findings.isEmpty { return .unreadable }
        return gaps.isEmpty ? .success : .unverifiable
    }
}

/// Checks a store in a process of its own.
///
/// A damaged file can make LMDB read outside of its memory, which ends the process. So the tool
/// runs itself a second time, and a crash of the second process is a finding, too.
enum VerificationProcess {
    /// How the second process ended.
    enum Verdict {
        /// It could not check, and has reported the reason.
        case refused(ExitCode)
        case checked(VerificationOutcome)
    }

    /// The first word of the second process's command line, which is not a command. The environment
    /// is not used for this, because a leftover variable must not change the result of a check.
    private static let word = "verification-process"

    /// Stands for no limit, in place of a number of seconds.
    private static let noLimit = "none"

    /// The request to the second process.
    struct Request {
        let path: String
        /// For how long it waits for other processes; nil for as long as it takes.
        let waitingLimit: Duration?
        /// The text of a checkpoint, if one was given.
        let checkpoint: String?
    }

    /// The signals that a process causes itself by a fault. All others come from outside.
    private static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT]

    /// The messages of the second process, one on each line.
    private enum Message: Codable {
        case step(String, percent: Int)
        case outcome(VerificationOutcome)
    }

    // MARK: - The second process

    /// What a command line asks the second process for; nil when it asks for something else.
    static func request(_ words: [String]) -> Request? {
        guard (3...4).contains(words.count), words[0] == word else { return nil }
        let limit =
            words[2] == noLimit
            ? nil
            : Double(words[2])
                .flatMap { (0...1e9).contains($0) ? Duration.seconds($0) : nil }
        guard limit != nil || words[2] == noLimit else { return nil }
        return Request(
            path: words[1], waitingLimit: limit, checkpoint: words.count == 4 ? words[3] : nil)
    }

    /// Checks the store and writes the result for the first process.
    ///
    /// - Returns: The exit code, though the first process relies on the written result.
    static func report(_ request: Request, _ console: Console) throws -> ExitCode {
        let path = request.path
        StoreOptions.Waiting.usual = StoreOptions.Waiting(limit: request.waitingLimit)
        let checkpoint = try request.checkpoint.map { try Checkpoint($0) }
        var last = ""
        func send(_ message: Message) throws {
            try console.write(JSONEncoder().encode(message))
            try console.print()
            try console.flush()
        }
        var failure: (any Error)?
        let report = try Store.verify(path: path, checkpoint: checkpoint) { step, fraction in
            let percent = Int(fraction * 100)
            guard failure == nil, last != "\(step) \(percent)" else { return }
            last = "\(step) \(percent)"
            do {
                try send(.step(step, percent: percent))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        try refuseOtherFiles(path, report)
        let outcome = VerificationOutcome(
            findings: report.findings.map {
                .init(kind: $0.kind.rawValue, place: $0.place, message: $0.message)
            },
            gaps: report.gaps, isCheckpointCompared: report.isCheckpointCompared,
            flaw: report.flaw, head: report.head.rawValue,
            digest: report.headDigest?.hexadecimal, recordsCompared: report.recordsCompared)
        try send(.outcome(outcome))
        return outcome.code
    }

    /// If the first page is wrong, the file may not be a store at all: then the error says so
    /// instead of listing differences.
    private static func refuseOtherFiles(_ path: String, _ report: VerifyReport) throws {
        guard report.findings.contains(where: { $0.place == "page 0" }) else { return }
        do {
            try StoreReading.open(path).close()
        } catch let error as StoreError where error.code == .notAStore {
            throw error
        } catch is StoreError {
            // It is a store, and the findings say what is wrong with it.
            return
        }
    }

    // MARK: - The first process

    /// Starts the second process and waits for its result.
    ///
    /// - Throws: ``ToolError`` with code `unverifiable` when it was ended from outside.
    static func run(
        on path: String, checkpoint: Checkpoint? = nil, _ console: Console
    ) throws -> Verdict {
        // The second process may crash; only its signal matters, not a report.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        try SystemCall.setProgram(
            [executable, word, path, waitingTime()] + (checkpoint.map { [$0.description] } ?? []),
            cannotStart)
        let source = terminal_program_start()
        guard source >= 0 else { throw ToolError.system(cannotStart, -source) }
        let said = Result { try read(from: source, console) }
        close(source)
        let ending = terminal_program_wait()
        let (outcome, step) = try said.get()
        guard ending.error == 0 else { throw ToolError.system(cannotStart, ending.error) }
        if faults.contains(ending.signal) {
            return .checked(stopped(by: ending.signal, in: step, of: path, checkpoint))
        }
        guard ending.signal == 0 else {
            throw ToolError(
                .unverifiable,
                "The check of '\(path)' was ended from outside by signal \(ending.signal), while it "
                    + "was at the \(step), so nothing is known of the rest. Check again.")
        }
        if let outcome { return .checked(outcome) }
        guard let code = ExitCode(rawValue: ending.code), code != .success, code != .finding else {
            throw ToolError(
                .unverifiable, "The check of '\(path)' ended without a result. Check again.")
        }
        return .refused(code)
    }

    /// This program, even if another has replaced it in the folder meanwhile.
    private static var executable: String {
        terminal_own_program().map { String(cString: $0) } ?? CommandLine.arguments[0]
    }

    private static let cannotStart = "The process that checks cannot be started"

    /// For how long the second process waits for others, as this one does: in seconds, or a word for no
    /// end.
    private static func waitingTime() -> String {
        StoreOptions.Waiting.usual.limit.map { "\($0 / .seconds(1))" } ?? noLimit
    }

    private static func read(
        from descriptor: Int32, _ console: Console
    ) throws -> (outcome: VerificationOutcome?, step: String) {
        let lines = LineReader(descriptor)
        var outcome: VerificationOutcome?
        var current = "file"
        var reached = 0
        var progress: Progress?
        defer { progress?.finish() }
        while let line = try lines.next() {
            let message: Message
            do {
                message = try JSONDecoder().decode(Message.self, from: Data(line))
            } catch is DecodingError {
                // The last line is incomplete because the process ended.
                break
            }
            switch message {
            case .outcome(let found): outcome = found
            case .step(let step, let percent):
                if step != current {
                    progress?.finish()
                    progress = console.progress("Checking \(step)", of: 100)
                    (current, reached) = (step, 0)
                }
                progress?.advance(by: max(0, percent - reached))
                reached = max(reached, percent)
            }
        }
        return (outcome, current)
    }

    private static func stopped(
        by signal: Int32, in step: String, of path: String, _ checkpoint: Checkpoint?
    ) -> VerificationOutcome {
        VerificationOutcome(
            findings: [
                .init(
                    kind: "file", place: step,
                    message: "The \(step) of '\(path)' cannot be checked: what the file holds is "
                        + "so damaged that reading it ended the process with signal \(signal).")
            ],
            gaps: checkpoint.map { _ in
                [VerifyReport.leavingOutCheckpoint(because: "the check did not come to its end")]
            } ?? [])
    }
}
