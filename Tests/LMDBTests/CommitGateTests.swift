import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookLMDB

/// What stands before LMDB's commit: it lets writes pass, has them run again, or refuses them.
@Suite struct CommitGateTests {
    let directory: TemporaryDirectory
    let environment: Environment
    let table: Table

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"), options: EnvironmentOptions(tables: ["a"]))
        table = try environment.table("a")
    }

    private struct Refusal: Error, Equatable {
        var number = 0
    }

    /// Answers as its script says, and notes what it was asked.
    private final class ScriptedGate: CommitGate {
        typealias Write = (_ body: @escaping WriteBody) throws -> Void

        private let asked = Mutex<[[String]]>([])
        private let ended = Mutex(0)
        private let script: @Sendable (_ time: Int) -> CommitDecision
        private let missing: @Sendable (Write) throws -> Void

        init(
            _ script: @escaping @Sendable (_ time: Int) -> CommitDecision,
            catchingUp missing: @escaping @Sendable (Write) throws -> Void = { _ in }
        ) {
            self.script = script
            self.missing = missing
        }

        /// What was handed in, each time.
        var submitted: [[String]] { asked.withLock(\.self) }

        func decide(on submitted: [any Sendable]) -> CommitDecision {
            let time = asked.withLock { asked in
                asked.append(submitted.map { "\($0)" })
                return asked.count
            }
            return script(time)
        }

        func check(_ item: any Sendable) throws {
            if let refusal = item as? Refusal { throw refusal }
        }

        func catchUp(_ write: Write) throws { try missing(write) }

        func end() { ended.withLock { $0 += 1 } }

        /// How many groups have ended.
        var ends: Int { ended.withLock(\.self) }
    }

    private static func put(
        _ key: String, _ table: Table, in transaction: borrowing WriteTransaction
    ) throws {
        try transaction.put(table, key.bytes.span.bytes, "x".bytes.span.bytes, .upsert)
    }

    /// Writes a key and hands it in; returns how many records there were before.
    @discardableResult
    private func submit(_ key: String) throws -> Int {
        try environment.write { [table] transaction in
            let count = try transaction.count(table)
            try Self.put(key, table, in: transaction)
            transaction.submit(key)
            return count
        }
    }

    private func keys() throws -> [String] {
        try Self.keys(environment, table)
    }

    private static func keys(_ environment: Environment, _ table: Table) throws -> [String] {
        try environment.read { transaction in
            var keys: [String] = []
            let start: [UInt8] = []
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                key, _ in
                keys.append(key.text)
                return .proceed
            }
            return keys
        }
    }

    @Test func `a write that hands nothing in does not pass the gate`() throws {
        let gate = ScriptedGate({ _ in .refuse(Refusal()) })
        environment.gate = gate

        try environment.write { [table] in try Self.put("a", table, in: $0) }

        #expect(gate.submitted.isEmpty)
        #expect(try keys() == ["a"])
    }

    @Test(arguments: [0, 1, 5])
    func `bodies run again on what the gate has written, as often as it says`(_ times: Int) throws {
        let missing = Mutex(0)
        let gate = ScriptedGate({ $0 <= times ? .again : .commit }) { [table] write in
            let number = missing.withLock { missing in
                missing += 1
                return missing
            }
            try write { try Self.put("missing \(number)", table, in: $0) }
        }
        environment.gate = gate

        let before = try submit("own")

        #expect(before == times)
        #expect(gate.submitted == Array(repeating: ["own"], count: times + 1))
        #expect(try keys() == (0..<times).map { "missing \($0 + 1)" } + ["own"])
    }

    @Test func `what the gate writes does not pass it, and it is told once when all is answered`()
        throws
    {
        let states = Mutex<[GateOfWrite]>([])
        let gate = ScriptedGate({ $0 == 1 ? .again : .commit }) { [table] write in
            try write { transaction in
                states.withLock { $0.append(transaction.gate) }
                try Self.put("missing", table, in: transaction)
                transaction.submit("missing")
            }
        }
        try environment.write { transaction in states.withLock { $0.append(transaction.gate) } }
        environment.gate = gate

        try environment.write { [table] transaction in
            states.withLock { $0.append(transaction.gate) }
            try Self.put("own", table, in: transaction)
            transaction.submit("own")
        }

        #expect(states.withLock(\.self) == [.none, .ahead, .passed, .ahead])
        #expect(gate.submitted == [["own"], ["own"]])
        #expect(gate.ends == 1)
        #expect(try keys() == ["missing", "own"])
    }

    @Test func `a refused write is told why, and leaves nothing behind`() throws {
        environment.gate = ScriptedGate({ .refuse(Refusal(number: $0)) })

        #expect(throws: Refusal(number: 1)) { try submit("a") }

        #expect(try keys().isEmpty)
    }

    @Test func `a gate that cannot catch up ends the waiting write`() throws {
        let gate = ScriptedGate({ $0 < 3 ? .again : .commit }) { _ in throw Refusal(number: 7) }
        environment.gate = gate

        #expect(throws: Refusal(number: 7)) { try submit("a") }

        #expect(gate.submitted.count == 1)
        #expect(try keys().isEmpty)
    }

    /// Has writes carried out as one group, in the order of their numbers.
    private func together(
        _ count: Int, _ body: @escaping @Sendable (Int, borrowing WriteTransaction) throws -> Void
    ) throws -> [Int: any Error] {
        let (environment, writer) = (environment, environment.core.writer)
        let failures = Failures()
        try onThreads(count) { number in
            while number > 0, writer.waitingCount < number - 1 || !failures.hasBegun {
                sched_yield()
            }
            do {
                try environment.write { transaction in
                    if number == 0 {
                        failures.begin()
                        while !failures.isComplete, writer.waitingCount < count - 1 {
                            sched_yield()
                        }
                        failures.complete()
                    }
                    try body(number, transaction)
                }
            } catch {
                failures.add(error, of: number)
            }
        }
        return failures.all
    }

    @Test func `what may not be handed in is refused alone`() throws {
        let gate = ScriptedGate({ _ in .commit })
        environment.gate = gate

        let failures = try together(4) { [table] number, transaction in
            try Self.put("\(number)", table, in: transaction)
            transaction.submit(number)
            if number == 1 { transaction.submit(Refusal(number: number)) }
        }

        #expect(failures.keys.sorted() == [1])
        #expect(failures[1] as? Refusal == Refusal(number: 1))
        #expect(gate.submitted == [["0", "2", "3"]])
        #expect(try keys() == ["0", "2", "3"])
    }

    @Test func `writes that come together are handed in together, in their order`() throws {
        let gate = ScriptedGate({ $0 == 1 ? .again : .commit })
        environment.gate = gate

        let failures = try together(5) { [table] number, transaction in
            try Self.put("\(number)", table, in: transaction)
            if number != 2 { transaction.submit(number) }
        }

        #expect(failures.isEmpty)
        #expect(gate.submitted == [["0", "1", "3", "4"], ["0", "1", "3", "4"]])
        #expect(try keys() == ["0", "1", "2", "3", "4"])
    }

    @Test func `what arrives while the gate catches up is handed in with what runs again`() throws {
        let writer = environment.core.writer
        let gate = ScriptedGate({ $0 == 1 ? .again : .commit }) { _ in
            while writer.waitingCount < 2 { sched_yield() }
        }
        environment.gate = gate

        try onThreads(3) { [environment, table] number in
            while number > 0, gate.submitted.isEmpty || writer.waitingCount < number - 1 {
                sched_yield()
            }
            try environment.write { transaction in
                try Self.put("\(number)", table, in: transaction)
                transaction.submit(number)
            }
        }

        #expect(gate.submitted == [["0"], ["0", "1", "2"]])
        #expect(gate.ends == 1)
        #expect(try keys() == ["0", "1", "2"])
    }

    @Test(arguments: [false, true])
    func `a body that throws takes back what it has handed in`(_ writes: Bool) throws {
        let gate = ScriptedGate({ _ in .commit })
        environment.gate = gate

        let failures = try together(4) { [table] number, transaction in
            if number != 2 || writes { try Self.put("\(number)", table, in: transaction) }
            transaction.submit(number)
            if number == 2 { throw Refusal(number: 2) }
        }

        #expect(failures.mapValues { $0 as? Refusal } == [2: Refusal(number: 2)])
        #expect(gate.submitted == [["0", "1", "3"]])
        #expect(try keys() == ["0", "1", "3"])
    }

    @Test(arguments: [false, true])
    func `writes that have handed nothing in do not share a refusal`(_ catchesUp: Bool) throws {
        let gate = ScriptedGate({ catchesUp ? .again : .refuse(Refusal(number: $0)) }) { _ in
            throw Refusal(number: 1)
        }
        environment.gate = gate

        let failures = try together(4) { [table] number, transaction in
            try Self.put("\(number)", table, in: transaction)
            if number % 2 == 1 { transaction.submit(number) }
        }

        let refusal = Refusal(number: 1)
        #expect(failures.mapValues { $0 as? Refusal } == [1: refusal, 3: refusal])
        #expect(gate.submitted == [["1", "3"]])
        #expect(try keys() == ["0", "2"])
    }

    @Test func `a map that is full before the gate is asked grows, and the gate is asked once`()
        throws
    {
        let options = EnvironmentOptions(tables: ["a"], mapSize: 1 << 16)
        let environment = try Environment.open(at: directory.path("small"), options: options)
        let table = try environment.table("a")
        let gate = ScriptedGate({ _ in .commit })
        environment.gate = gate

        try environment.write { transaction in
            let value = [UInt8](repeating: 7, count: 1 << 17)
            try transaction.put(table, "a".bytes.span.bytes, value.span.bytes, .upsert)
            transaction.submit("a")
        }

        #expect(gate.submitted == [["a"]])
        #expect(try Self.keys(environment, table) == ["a"])
    }

    @Test func `a map that is full after acceptance grows for what the gate writes then`() throws {
        var rescued = 0
        for size in stride(from: 4_096, through: 65_536, by: 1_024) {
            let options = EnvironmentOptions(tables: ["a"], mapSize: 1 << 17)
            let environment = try Environment.open(
                at: directory.path("of \(size)"), options: options)
            let table = try environment.table("a")
            let missing = Mutex(0)
            let box = RunCounter()
            environment.gate = ScriptedGate({ _ in .commit }) { write in
                missing.withLock { $0 += 1 }
                try write { try Self.put("rescued", table, in: $0) }
            }

            for number in 0..<40 {
                let before = missing.withLock(\.self)
                box.reset()
                try environment.write { transaction in
                    box.add()
                    let value = [UInt8](repeating: 7, count: size)
                    try transaction.put(
                        table, "\(number % 3)".bytes.span.bytes, value.span.bytes, .upsert)
                    transaction.submit(number)
                    box.noteSubmission()
                }
                if missing.withLock(\.self) > before {
                    rescued += 1
                    #expect(box.submissions == 1)
                    #expect(try Self.keys(environment, table).contains("rescued"))
                }
            }
        }
        #expect(rescued > 0)
    }

    @Test func `a full disk is told to the writes of a group that handed nothing in`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let tests = try CommitGateTests()
            let (environment, table) = (tests.environment, tests.table)
            try environment.write { try Self.put("first", table, in: $0) }
            var unlimited = rlimit()
            getrlimit(resourceFileSize, &unlimited)
            let room = unlimited
            environment.gate = ScriptedGate({ _ in
                var none = room
                none.rlim_cur = 0
                setrlimit(resourceFileSize, &none)
                return .commit
            }) { _ in throw Refusal(number: 1) }

            let failures = try tests.together(3) { number, transaction in
                try Self.put("\(number)", table, in: transaction)
                if number == 1 { transaction.submit(number) }
            }

            #expect(failures.keys.sorted() == [0, 2])
            #expect(failures.values.allSatisfy { ($0 as? LMDBError)?.code == .diskFull })
            #expect(try tests.keys() == ["first"])
            setrlimit(resourceFileSize, &unlimited)
        }
    }

    @Test func `writes accepted before the disk was full are answered as written`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let directory = try TemporaryDirectory()
            let environment = try Environment.open(
                at: directory.path("file"), options: EnvironmentOptions(tables: ["a"]))
            let table = try environment.table("a")
            try environment.write { try Self.put("first", table, in: $0) }
            var unlimited = rlimit()
            getrlimit(resourceFileSize, &unlimited)
            let room = unlimited
            let runs = RunCounter()
            let gate = ScriptedGate({ time in
                if time == 2 { return .again }
                if time == 1 {
                    var none = room
                    none.rlim_cur = 0
                    setrlimit(resourceFileSize, &none)
                }
                return .commit
            }) { write in
                try write { try Self.put("own", table, in: $0) }
            }
            environment.gate = gate

            try environment.write { transaction in
                runs.add()
                try Self.put("own", table, in: transaction)
                transaction.submit("own")
            }

            #expect(runs.count == 1)
            #expect(try Self.keys(environment, table) == ["first"])
            setrlimit(resourceFileSize, &unlimited)
            try environment.write { transaction in
                try Self.put("later", table, in: transaction)
                transaction.submit("later")
            }
            #expect(gate.submitted == [["own"], ["later"], ["later"]])
            #expect(try Self.keys(environment, table) == ["first", "later", "own"])
        }
    }
}

/// How often a body ran, and handed something in.
private final class RunCounter: Sendable {
    private let counts = Mutex((runs: 0, submissions: 0))

    var count: Int { counts.withLock(\.runs) }
    var submissions: Int { counts.withLock(\.submissions) }

    func reset() { counts.withLock { $0 = (0, 0) } }
    func add() { counts.withLock { $0.runs += 1 } }
    func noteSubmission() { counts.withLock { $0.submissions += 1 } }
}

/// What became of the writes of a group.
private final class Failures: Sendable {
    private struct State {
        var hasBegun = false
        var isComplete = false
        var errors: [Int: any Error] = [:]
    }

    private let state = Mutex(State())

    var hasBegun: Bool { state.withLock(\.hasBegun) }
    var isComplete: Bool { state.withLock(\.isComplete) }
    var all: [Int: any Error] { state.withLock(\.errors) }

    func begin() { state.withLock { $0.hasBegun = true } }
    func complete() { state.withLock { $0.isComplete = true } }
    func add(_ error: any Error, of number: Int) { state.withLock { $0.errors[number] = error } }
}

#if canImport(Glibc)
private let resourceFileSize = __rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue))
#else
private let resourceFileSize = RLIMIT_FSIZE
#endif
