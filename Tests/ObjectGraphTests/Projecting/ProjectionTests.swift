import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

/// What a fold makes of the journal, kept in the store.
@Suite struct ProjectionTests {
    private struct Refusal: Error {}

    private let followed: FollowedStore
    private var store: PersistentStore { followed.store }

    init() throws {
        followed = try FollowedStore()
    }

    /// Counts the changes of each entry by its author.
    private func counts(
        _ name: String = "counts", version: Int = 1, in store: PersistentStore? = nil
    ) throws -> JournalProjection<String, Int> {
        try (store ?? self.store).project(name, version: version, as: [String: Int].self) {
            entry, state in
            state[entry.author ?? "", default: 0] += entry.changes.count
        }
    }

    // MARK: - Folding

    @Test func `a fold that has not run has an empty state before the first entry`() throws {
        let counts = try counts()

        let (state, at) = try counts.contents()

        #expect(state.isEmpty)
        #expect(at == .zero)
        #expect(try counts.value(for: "ada") == nil)
        #expect(try counts.position() == .zero)
        #expect(try store.projections().isEmpty)
        #expect(try store.store.stateTable() == nil)
    }

    @Test func `catching up folds each entry once and says how far it has come`() throws {
        try followed.open("Ada", 10, by: "ada")
        let second = try followed.open("Bob", 20, by: "bob").entry
        let counts = try counts()

        let first = try counts.catchUp()
        let again = try counts.catchUp()
        let third = try followed.open("Cleo", 30, by: "ada").entry
        let later = try counts.catchUp()

        #expect([first, again, later] == [second, second, third])
        let (state, at) = try counts.contents()
        #expect(state == ["": 0, "ada": 2, "bob": 1])
        #expect(at == third)
        #expect(try counts.value(for: "ada") == 2)
    }

    @Test func `entries that the filter leaves out move the place all the same`() throws {
        let saved = try followed.save { Branch(context: $0).city = "Bonn" }
        let projection = try FoldedAccounts.projection(in: followed.container)

        let reached = try projection.catchUp()

        #expect(reached == saved)
        #expect(try projection.contents().state.isEmpty)
        #expect(try store.projections().map(\.current.keyCount) == [0])
    }

    @Test func `a fold sets, changes, removes and lists keys`() throws {
        try followed.open("Ada", 10)
        let projection = try store.project("keys", as: [String: [Int]].self) { _, state in
            state["a"] = [1]
            state["a"]?.append(2)
            state["b", default: [7]].append(8)
            state["c"] = [9]
            state["c"] = nil
            state["none"]?.append(3)
            state["seen", default: []] += try state.records(from: "a", to: "c").map(\.value.count)
        }

        try projection.catchUp()
        try followed.open("Bob", 20)
        try projection.catchUp()

        // The journal has three entries, of which the first sets the model.
        #expect(
            try projection.contents().state == [
                "a": [1, 2], "b": [7, 8, 8, 8], "seen": [2, 2, 2, 3, 2, 4],
            ])
    }

    @Test func `a fold that throws leaves everything as it was before the page`() throws {
        try followed.open("Ada", 10, by: "ada")
        let counts = try counts()
        let reached = try counts.catchUp()
        let bad = try followed.open("Bob", 20, by: "bob").entry
        let failing = try store.project("counts", as: [String: Int].self) { entry, state in
            state["bob", default: 0] += 1
            if entry.sequence == bad { throw Refusal() }
        }

        let error = #expect(throws: StoreError.self) { try failing.catchUp() }

        #expect(error?.code == .foldFailed)
        #expect(error?.cause is Refusal)
        #expect(
            error?.message
                == "The fold of the projection 'counts' failed at entry \(bad): Refusal()")
        let (state, at) = try counts.contents()
        #expect(state == ["": 0, "ada": 1])
        #expect(at == reached)
        try counts.catchUp()
        #expect(try counts.contents().state == ["": 0, "ada": 1, "bob": 1])
    }

    @Test func `what cannot be kept ends the fold`() throws {
        try followed.open("Ada", 10)
        let long = String(repeating: "x", count: 508)
        let keys = try store.project("keys", as: [String: Int].self) { _, state in state[long] = 1 }
        let values = try store.project("values", as: [String: Double].self) { _, state in
            state["a"] = .infinity
        }

        let longKey = #expect(throws: StoreError.self) { try keys.catchUp() }
        let noNumber = #expect(throws: StoreError.self) { try values.catchUp() }

        #expect(longKey?.code == .foldFailed)
        #expect(longKey?.message.contains("508 bytes") == true)
        #expect(noNumber?.code == .foldFailed)
        #expect(noNumber?.cause is EncodingError)
        #expect(try keys.contents().state.isEmpty)
        #expect(try keys.value(for: long) == nil)
        #expect(try store.projections().isEmpty)
    }

    @Test func `values of other types are refused and stay`() throws {
        try followed.open("Ada", 10, by: "ada")
        try counts().catchUp()
        let texts = try store.project("counts", as: [String: String].self) { _, state in
            state["ada", default: ""] += "!"
        }
        let numbers = try store.project("counts", as: [Int: Int].self) { _, _ in }
        try followed.open("Bob", 20, by: "bob")

        let folded = #expect(throws: StoreError.self) { try texts.catchUp() }
        let read = #expect(throws: StoreError.self) { try texts.value(for: "ada") }
        let keyed = #expect(throws: StoreError.self) { try numbers.catchUp() }
        let readByNumber = #expect(throws: StoreError.self) { try numbers.read { _, at in at } }

        for error in [folded, read, keyed, readByNumber] {
            #expect(error?.code == .unreadableValue)
        }
        #expect(try counts().contents().state == ["": 0, "ada": 1])
    }

    @Test func `long values and many keys come back as they were set`() throws {
        try followed.open("Ada", 10)
        let text = String(repeating: "ä1", count: 1_000_000)
        let texts = try store.project("texts", as: [String: String].self) { entry, state in
            for copy in 0..<3 { state["\(entry.sequence)-\(copy)"] = text }
        }
        let many = try store.project("many", as: [Int: Int].self) { entry, state in
            guard entry.sequence.rawValue == 2 else { return }
            for number in 0..<30_000 { state[number * 7919 % 30_000] = number }
        }

        try texts.catchUp()
        try many.catchUp()

        #expect(try texts.value(for: "2-1") == text)
        #expect(try texts.read { state, _ in state.count } == 6)
        let (keys, sum) = try many.read { state, _ in
            var (keys, sum) = ([Int](), 0)
            try state.forEach { key, value in
                keys.append(key)
                sum += value
            }
            return (keys, sum)
        }
        #expect(keys == Array(0..<30_000))
        #expect(sum == 30_000 * 29_999 / 2)
        #expect(try Store.verify(path: followed.url.path).isSoundApartFromGaps)
    }

    // MARK: - Reading

    @Test func `what is read is of one moment`() throws {
        try followed.open("Ada", 10, by: "ada")
        let counts = try counts()
        let reached = try counts.catchUp()
        let container = try followed.another()
        let other = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let rival = try self.counts(in: other)
        let entry = try followed.open("Bob", 20, by: "ada").entry

        let seen = try counts.read { state, at in
            // The rival moves the state on another thread while it is read here.
            let thread = Thread.running { try rival.catchUp() }
            #expect(try thread.value() == entry)
            return (try state["ada"], at, state.count, state.version)
        }

        #expect(seen == (1, reached, 2, 1))
        #expect(try counts.value(for: "ada") == 2)
    }

    @Test func `ranges, prefixes and limits choose keys in their order`() throws {
        try followed.open("Ada", 10)
        let projection = try store.project("words", as: [String: Int].self) { _, state in
            for word in ["b", "a/2", "a/1", "a", "ab", "c", "B"] { state[word] = word.count }
        }
        try projection.catchUp()

        func keys(
            _ choose: (borrowing ProjectionSnapshot<String, Int>) throws -> [(String, Int)]
        ) throws -> [String] {
            try projection.read { state, _ in try choose(state).map { $0.0 } }
        }

        #expect(try keys { try $0.records() } == ["B", "a", "a/1", "a/2", "ab", "b", "c"])
        #expect(try keys { try $0.records(from: "a/1", to: "b") } == ["a/1", "a/2", "ab"])
        #expect(try keys { try $0.records(from: "ab", limit: 2) } == ["ab", "b"])
        #expect(try keys { try $0.records(prefix: "a/") } == ["a/1", "a/2"])
        #expect(try keys { try $0.records(prefix: "a", limit: 1) } == ["a"])
        #expect(try keys { try $0.records(prefix: "x") }.isEmpty)
        #expect(try keys { try $0.records(limit: 0) }.isEmpty)
    }

    @Test func `a store that is only read has its projections and moves none`() throws {
        try followed.open("Ada", 10, by: "ada")
        try counts().catchUp()
        try followed.open("Bob", 20, by: "bob")
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        let reader = try followed.another(options: options)
        let readOnly = try #require(reader.persistentStoreCoordinator.persistentStores.first)
        let counts = try counts(in: readOnly)

        let errors = [
            #expect(throws: StoreError.self) { try counts.catchUp() },
            #expect(throws: StoreError.self) { try counts.rebuild() },
            #expect(throws: StoreError.self) { try readOnly.removeProjection(named: "counts") },
        ]

        #expect(errors.map { $0?.code } == [.readOnly, .readOnly, .readOnly])
        #expect(try counts.contents().state == ["": 0, "ada": 1])
        #expect(try readOnly.projections().map(\.name) == ["counts"])
    }

    // MARK: - Names

    @Test(arguments: [
        ("", "is empty"), ("-x", "begins with '-'"), ("a\nb", "has the character '\\n' in it"),
        (String(repeating: "ä", count: 101), "is longer than 200 bytes"),
    ])
    func `a name that is not allowed is refused`(name: String, reason: String) {
        let error = #expect(throws: StoreError.self) { try counts(name) }

        #expect(error?.code == .projectionName)
        #expect(error?.message.contains("the name \(reason)") == true, "\(error?.message ?? "")")
    }

    @Test func `a filter by what entries do not have is refused at once`() {
        let error = #expect(throws: StoreError.self) {
            try store.project(
                "members", as: [String: Int].self, where: .all.changing(\Branch.accounts)
            ) { _, _ in }
        }

        #expect(error?.code == .noSuchEntity)
    }

    @Test func `a version below one stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let followed = try FollowedStore()
            _ = try followed.store.project("none", version: 0, as: [String: Int].self) { _, _ in }
        }
    }

    @Test func `a fold that saves to its store stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let followed = try FollowedStore()
            let projection = try followed.store.project("saves", as: [String: Int].self) { _, _ in
                _ = try followed.open("Ada")
            }
            try projection.catchUp()
        }
    }
}

extension VerifyReport {
    /// Whether nothing was found; the pages of a store that is open here are not looked at.
    var isSoundApartFromGaps: Bool { findings.isEmpty }
}

extension Thread {
    /// The result of work on a thread of its own.
    final class Outcome<Value: Sendable>: @unchecked Sendable {
        // @unchecked Sendable because the result is read only after the thread has signalled.
        fileprivate let done = DispatchSemaphore(value: 0)
        fileprivate var result: Result<Value, any Error>?

        func value() throws -> Value {
            done.wait()
            defer { done.signal() }
            return try #require(result).get()
        }
    }

    /// Runs `body` on a thread of its own.
    static func running<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) -> Outcome<Value> {
        let outcome = Outcome<Value>()
        let thread = Thread {
            outcome.result = Result { try body() }
            outcome.done.signal()
        }
        thread.start()
        return outcome
    }
}
