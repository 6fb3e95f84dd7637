import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Kills the recording command at random moments.
@Suite(.serialized)
struct CrashTests {
    @Test func `a recorder killed two hundred times loses no acknowledged entry`() throws {
        let seed = TestSeed.value
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        var generator = SeededGenerator(seed: seed)
        var promised: [Acknowledgement] = []
        var unchecked: [Acknowledgement] = []
        var checked = SequenceNumber(1)
        var inWriting = 0
        // A store that stays open keeps the lock file alive: the next writer inherits a lock whose
        // owner is dead. Without one a new lock file is made.
        var witness: Store?

        for run in 1...200 {
            if run % 25 == 1 {
                try witness?.close()
                witness = run % 50 == 1 ? try Store.open(at: recorder.path) : nil
            }
            let input = try recorder.writeInput((1...100).map { Recorder.entry("\(run)-\($0)") })
            let killed = try recordAndKill(recorder, input, &generator)
            promised += killed
            unchecked += killed
            if !killed.isEmpty { inWriting += 1 }
            if run % 5 == 0 {
                let head = try recorder.check(unchecked, entriesFrom: checked.next)
                unchecked = []
                checked = head
            }
        }
        try witness?.close()
        witness = nil

        try recorder.check(promised)
        #expect(try recorder.findings() == [], "seed \(seed)")
        #expect(inWriting > 100, "seed \(seed): too few kills hit a recorder at work")
    }

    /// Lets the recorder work for a number of entries and a little longer, and kills it.
    private func recordAndKill(
        _ recorder: Recorder, _ input: URL, _ generator: inout SeededGenerator
    ) throws -> [Acknowledgement] {
        let child = try ChildProcess(BuiltTool.daybook, recorder.arguments, input: input)
        var lines: [String] = []
        for _ in 0..<Int.random(in: 0...8, using: &generator) {
            guard let line = child.nextLine() else { break }
            lines.append(line)
        }
        let pause = Duration.microseconds(Int.random(in: 0...4_000, using: &generator))
        let start = ContinuousClock.now
        while ContinuousClock.now - start < pause { continue }
        child.kill()
        lines += child.remainingLines()
        let talk = try child.talk()
        #expect(child.wait() == .killed(SIGKILL), "\(talk)")
        return try Acknowledgement.parse(lines)
    }
}
