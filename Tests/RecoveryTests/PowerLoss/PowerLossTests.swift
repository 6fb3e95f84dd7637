import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// What is in a store after a power cut at any moment.
///
/// Commands save, undo, tag, migrate and take large data in, while all that they write and sync is recorded. For each
/// moment, files are made as the disk may have them then: with all that was synced, and any part of the rest, whole, torn
/// or in another order. Each must have every entry that was told before.
@Suite struct PowerLossTests {
    /// How many states are looked at; `DAYBOOK_POWER_STATES` sets another number.
    private static let stateCount =
        ProcessInfo.processInfo.environment["DAYBOOK_POWER_STATES"].flatMap { Int($0) } ?? 5_000

    @Test func `after a power cut at any moment everything that was told is there`() throws {
        let run = try RecordedRun()
        let seed = TestSeed.value

        let result = try run.check(states: Self.stateCount, seed: seed)

        CountedWork.add(result.states, "crash states")
        #expect(result.problems.isEmpty, "seed \(seed): \(result.problems.prefix(8))")
        #expect(result.states >= Self.stateCount)
        // Some cuts come in the middle of something.
        #expect(result.torn > Self.stateCount / 4)
    }

    @Test func `without its syncs the same run loses entries, and the checks say so`() throws {
        let run = try RecordedRun()
        let seed = TestSeed.value

        let result = try run.check(states: 400, seed: seed, ignoringSyncs: true)

        #expect(result.problems.count > 40, "seed \(seed)")
    }
}

/// Commands that ran with everything recorded, and the store they left.
private struct RecordedRun {
    private let folder: TemporaryDirectory
    private let log: PowerLog
    /// The digests of all entries, by number.
    private var digests: [Digest] = [.zero]

    struct Result {
        var states = 0
        /// States in which not all that was written was there, or something was torn.
        var torn = 0
        var problems: [String] = []
    }

    init() throws {
        folder = try TemporaryDirectory()
        let root = Fixture.folder.deletingLastPathComponent()
        let recorder = folder.path("recorder.so")
        let compiler = try #require(
            Self.compiler, "clang is looked for beside swiftc, where 'PATH' says.")
        let compiled = try ChildProcess.run(
            compiler,
            [
                "-std=gnu2x", "-fPIC", "-shared", "-O1", "-o", recorder,
                root.appending(path: "Tools/PowerLoss/recorder.c").path,
            ])
        try #require(compiled.ending == .exited(0), "\(compiled.talk)")
        try Self.script.write(toFile: folder.path("script"), atomically: true, encoding: .utf8)
        let bash = try #require(BuiltTool.system("bash"))
        let child = try ChildProcess(
            bash, [folder.path("script")],
            input: URL(fileURLWithPath: "/dev/null"),
            environment: [
                "DAYBOOK": BuiltTool.daybook.path, "FOLDER": folder.url.path, "RECORDER": recorder,
                "DAYBOOK_POWER_LOG": folder.path("log"),
            ])
        _ = child.remainingLines()
        let ending = child.wait()
        let talk = try child.talk()
        try #require(ending == .exited(0), "\(talk)")
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("a.daybook"))
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        log = try PowerLog(contentsOf: folder.url.appending(path: "log"), about: inode)
        let store = try Store.open(
            at: folder.path("a.daybook"), options: StoreOptions(isReadOnly: true))
        try store.entries { entry in
            digests.append(entry.digest)
            return .proceed
        }
        try store.close()
    }

    private static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }?
        .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("clang")

    /// Each command says in JSON which entry it made, when that is durable.
    private static let script = #"""
        set -euo pipefail
        cd "$FOLDER"
        cat >model.json <<'END'
        {"entities":[{"name":"Country","attributes":[
         {"name":"alpha2","type":"string","optional":false,"unique":true},{"name":"name","type":"string"},
         {"name":"flag","type":"data"}]}]}
        END
        sed 's/"name","type":"string"}/"name","type":"string","indexed":true},{"name":"capital","type":"string"}/' \
            model.json >model2.json
        head -c 300000 /dev/urandom >flag.bin
        long=$(printf 'A long name. %.0s' $(seq 500))
        daybook() { LD_PRELOAD=$RECORDER "$DAYBOOK" "$@"; }
        insert() { printf '{"op":"insert","entity":"Country","values":{"alpha2":"%s","name":"%s"}}\n{"op":"save"}\n' "$@"; }
        rename() {
            printf '{"op":"update","entity":"Country","match":{"alpha2":"%s"},"values":{"name":"%s"}}\n{"op":"save"}\n' "$@"
        }
        daybook init a.daybook --model model.json --output jsonl
        for n in {1..40}; do insert c$n "Country $n"; done | daybook record a.daybook -a ada --output jsonl
        daybook tag a.daybook first 3 --output jsonl
        { for n in {1..20}; do rename c$n "$long$n"; done; } | daybook record a.daybook -a ben --output jsonl
        daybook undo a.daybook 45 --output jsonl
        daybook redo a.daybook 45 --output jsonl
        echo '{"op":"insert","entity":"Country","values":{"alpha2":"zz","flag":{"file":"flag.bin"}}}' |
            daybook record a.daybook --files . --output jsonl
        daybook migrate a.daybook --model model2.json --output jsonl
        daybook tag a.daybook second --output jsonl
        { for n in {1..20}; do rename c$n "Short $n"; done; } | daybook record a.daybook -a ada --output jsonl
        # Two programs at once, whose saves share what is synced.
        for n in {50..70}; do insert d$n "Twice"; done | daybook record a.daybook -a eve --output jsonl &
        for n in {50..70}; do insert e$n "Twice"; done | daybook record a.daybook -a kim --output jsonl
        wait $!
        for n in {1..30}; do printf '{"op":"delete","object":"Country/%s"}\n{"op":"save"}\n' $n; done |
            daybook record a.daybook --output jsonl
        """#

    // MARK: - Checking

    /// What was told at some moment.
    private struct Told {
        var last = SequenceNumber.zero
        var tags: Set<String> = []

        mutating func hear(_ output: Data) throws {
            for line in output.split(separator: UInt8(ascii: "\n")) {
                let said = try JSONSerialization.jsonObject(with: line) as? [String: Any]
                if let name = said?["name"] as? String {
                    tags.insert(name)
                } else if let sequence = said?["sequence"] as? UInt64 {
                    last = max(last, SequenceNumber(sequence))
                }
            }
        }
    }

    /// Looks at states after cuts at every moment after the store was made.
    func check(states: Int, seed: UInt64, ignoringSyncs: Bool = false) throws -> Result {
        var generator = SeededGenerator(seed: seed)
        var result = Result()
        let moments = try moments()
        let each = max(1, states / max(moments, 1) + 1)
        var cut = PowerCut(log, ignoringSyncs: ignoringSyncs)
        var told = Told()
        // With nothing synced a state is as good as another, and those at the end have most to lose.
        let stride = ignoringSyncs ? max(1, moments / states) : 1
        while !cut.isAtEnd {
            if let output = cut.advance() { try told.hear(output) }
            guard told.last > .zero, cut.moment % stride == 0 else { continue }
            for number in 0..<(ignoringSyncs ? 1 : each) {
                let parts = Self.parts(number, of: cut, ignoringSyncs, &generator)
                if parts.values.contains(where: { if case .all = $0 { false } else { true } }) {
                    result.torn += 1
                }
                let state = cut.state { parts[$0] ?? .all }
                result.states += 1
                let isWhole = result.states % 20 == 0
                if let problem = try problem(of: state, told, verifying: isWhole && !ignoringSyncs)
                {
                    result.problems.append(
                        "moment \(cut.moment), state \(number), after entry \(told.last): \(problem)"
                    )
                    if result.problems.count > 60 { return result }
                }
            }
        }
        return result
    }

    /// How many moments there are after the store was made.
    private func moments() throws -> Int {
        var cut = PowerCut(log)
        var told = Told()
        var count = 0
        while !cut.isAtEnd {
            if let output = cut.advance() { try told.hear(output) }
            if told.last > .zero { count += 1 }
        }
        return count
    }

    /// What came to the disk: at first all but the call under way, then nothing that was not synced, then the beginning of
    /// what was written, and after that anything.
    private static func parts(
        _ number: Int, of cut: PowerCut, _ ignoringSyncs: Bool,
        _ generator: inout SeededGenerator
    ) -> [Int: PowerCut.Part] {
        let uncertain = cut.uncertain
        var parts: [Int: PowerCut.Part] = [:]
        switch number {
        case _ where ignoringSyncs: break
        case 0:
            if let last = uncertain.last { parts[last] = torn(last, of: cut, &generator) }
            return parts
        case 1:
            for index in uncertain { parts[index] = PowerCut.Part.none }
            return parts
        case 2 where !uncertain.isEmpty:
            let end = Int.random(in: 0..<uncertain.count, using: &generator)
            parts[uncertain[end]] = torn(uncertain[end], of: cut, &generator)
            for index in uncertain[(end + 1)...] { parts[index] = PowerCut.Part.none }
            return parts
        default: break
        }
        for index in uncertain {
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: parts[index] = .all
            case 1: parts[index] = PowerCut.Part.none
            default: parts[index] = torn(index, of: cut, &generator)
            }
        }
        return parts
    }

    private static func torn(
        _ index: Int, of cut: PowerCut, _ generator: inout SeededGenerator
    ) -> PowerCut.Part {
        let size = Bool.random(using: &generator) ? 512 : 4_096
        let count = cut.byteCount(of: index) / size + 2
        guard Bool.random(using: &generator) else {
            return .beginning(Int.random(in: 0..<count, using: &generator), size: size)
        }
        return .some(Set((0..<count).filter { _ in Bool.random(using: &generator) }), size: size)
    }

    /// What is wrong with a state; nil when nothing is.
    private func problem(of state: Data, _ told: Told, verifying: Bool) throws -> String? {
        let path = folder.path("state.daybook")
        if FileManager.default.fileExists(atPath: path + "-lock") {
            try FileManager.default.removeItem(atPath: path + "-lock")
        }
        try state.write(to: URL(fileURLWithPath: path))
        do {
            let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
            defer { store.closeQuietly() }
            let head = try store.head()
            guard head >= told.last, head.rawValue < UInt64(digests.count) else {
                return "it ends with entry \(head)"
            }
            guard try store.headDigest() == digests[Int(head.rawValue)] else {
                return "entry \(head) is another one"
            }
            var next = SequenceNumber(1)
            try store.entries { entry in
                guard entry.sequence == next, entry.digest == digests[Int(next.rawValue)] else {
                    return .stop
                }
                next = next.next
                return .proceed
            }
            guard next == head.next else { return "entry \(next) cannot be read" }
            let tags = Set(try store.tags().map(\.name))
            guard tags.isSuperset(of: told.tags) else {
                return "of the tags \(told.tags.sorted()) there are \(tags.sorted())"
            }
        } catch {
            return "\(error)"
        }
        guard verifying else { return nil }
        let report = try Store.verify(path: path)
        guard report.isSound else { return "\(report.findings)" }
        return try problemOfGoingOn(path)
    }

    /// What is wrong when a program goes on with a state; nil when nothing is.
    private func problemOfGoingOn(_ path: String) throws -> String? {
        let store = try Store.open(at: path)
        defer { store.closeQuietly() }
        let head = try store.head()
        let country = try store.newObject("Country")
        guard try store.row(of: country, at: nil) == nil else {
            return "\(country) is there already"
        }
        let insert = store.insert(country, ["alpha2": .string("new")])
        try store.commit(SaveRequest(changes: [insert]))
        guard try store.head() == head.next else { return "the next entry is missing" }
        try store.close()
        let report = try Store.verify(path: path)
        return report.isSound ? nil : "after a save: \(report.findings)"
    }
}
