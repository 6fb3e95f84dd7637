import Foundation
import JournalLog
import ObjectModel
import SnapshotStore

/// What checking a store came to, as one process tells it to another.
struct VerificationOutcome: Codable {
    struct Finding: Codable {
        let kind: String
        let place: String
        let message: String
    }

    var findings: [Finding] = []
    var gaps: [String] = []
    var head: UInt64 = 0
    var digest: String?
    var recordsCompared = 0

    var code: ExitCode {
        if !findings.isEmpty { return .unreadable }
        return gaps.isEmpty ? .success : .unverifiable
    }
}

/// Checks a store in a process of its own.
///
/// A damaged file can make LMDB read where there is no memory, which ends the process that does it.
/// So the tool runs itself a second time, and that the second one was ended is a finding, too.
enum VerificationProcess {
    /// How the second process ended.
    enum Verdict {
        /// It could not check, and has said why.
        case refused(ExitCode)
        case checked(VerificationOutcome)
    }

    /// Set in the second process.
    private static let mark = "DAYBOOK_VERIFICATION_PROCESS"

    /// Whether this is the second process.
    static var isThisOne: Bool { SystemCall.environment(mark) != nil }

    /// What the second process writes, a line each.
    private enum Message: Codable {
        case step(String, percent: Int)
        case outcome(VerificationOutcome)
    }

    // MARK: - The second process

    /// Checks the store and writes what comes of it for the first process to read.
    static func report(on path: String, _ console: Console) throws -> ExitCode {
        var last = ""
        func send(_ message: Message) throws {
            try console.write(JSONEncoder().encode(message))
            try console.print()
            try console.flush()
        }
        var failure: (any Error)?
        let report = try Store.verify(path: path) { step, fraction in
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
        try send(
            .outcome(
                VerificationOutcome(
                    findings: report.findings.map {
                        .init(kind: $0.kind.rawValue, place: $0.place, message: $0.message)
                    },
                    gaps: report.gaps, head: report.head.rawValue,
                    digest: report.headDigest?.hexadecimal,
                    recordsCompared: report.recordsCompared)))
        return .success
    }

    /// Where already the first page is wrong, the file may be no store at all: then that is said,
    /// and not how it differs from one.
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

    /// Starts the second process and waits for what it says.
    static func run(on path: String, _ console: Console) throws -> Verdict {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["verify", "--", path]
        process.environment = ProcessInfo.processInfo.environment.merging(
            // A crash is what this process is for: no report of it, only its signal.
            [mark: "1", "SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        let (outcome, step) = try read(from: pipe.fileHandleForReading, console)
        process.waitUntilExit()
        if process.terminationReason == .uncaughtSignal {
            return .checked(stopped(by: process.terminationStatus, in: step, of: path))
        }
        if let outcome { return .checked(outcome) }
        return .refused(ExitCode(rawValue: process.terminationStatus) ?? .unreadable)
    }

    private static func read(
        from handle: FileHandle, _ console: Console
    ) throws -> (outcome: VerificationOutcome?, step: String) {
        var outcome: VerificationOutcome?
        var current = "file"
        var reached = 0
        var progress: Progress?
        defer { progress?.finish() }
        var buffer = Data()
        while true {
            let more = handle.availableData
            if more.isEmpty { return (outcome, current) }
            buffer.append(more)
            while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[buffer.startIndex..<end]
                buffer.removeSubrange(buffer.startIndex...end)
                switch try JSONDecoder().decode(Message.self, from: line) {
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
        }
    }

    private static func stopped(
        by signal: Int32, in step: String, of path: String
    ) -> VerificationOutcome {
        VerificationOutcome(findings: [
            .init(
                kind: "file", place: step,
                message: "The \(step) of '\(path)' cannot be checked: what the file holds is so "
                    + "damaged that reading it ended the process with signal \(signal).")
        ])
    }
}
