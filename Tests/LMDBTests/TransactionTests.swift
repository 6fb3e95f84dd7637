import DaybookLMDB
import DaybookTestSupport
import Synchronization
import Testing

@Suite struct TransactionTests {
    let directory: TemporaryDirectory
    let environment: Environment
    let table: Table

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"), options: EnvironmentOptions(tables: ["a", "b"]))
        table = try environment.table("a")
    }

    private func put(_ pairs: [(String, String)]) throws {
        let table = table
        try environment.write { transaction in
            for (key, value) in pairs {
                try transaction.put(table, key.bytes.span.bytes, value.bytes.span.bytes, .upsert)
            }
        }
    }

    @Test func `a written value is read back`() throws {
        try put([("one", "1")])

        let value = try environment.read { try $0.get(table, "one".bytes.span.bytes) { $0.text } }

        #expect(value == "1")
    }

    @Test func `a key that was never written has no value`() throws {
        try put([("one", "1")])

        let value = try environment.read { try $0.get(table, "on".bytes.span.bytes) { $0.text } }

        #expect(value == nil)
    }

    @Test func `an insertion over a record is refused and changes nothing`() throws {
        try put([("one", "1")])
        let table = table

        let code = try environment.write { transaction in
            do throws(any Error) {
                try transaction.put(
                    table, "one".bytes.span.bytes, "2".bytes.span.bytes, .insertOnly)
                return LMDBError.Code?.none
            } catch {
                return (error as? LMDBError)?.code
            }
        }

        #expect(code == .keyExists)
        #expect(
            try environment.read { try $0.get(table, "one".bytes.span.bytes) { $0.text } } == "1")
    }

    @Test func `an append out of order is refused`() throws {
        try put([("b", "1")])
        let table = table

        let error = #expect(throws: LMDBError.self) {
            try environment.write {
                try $0.put(table, "a".bytes.span.bytes, "2".bytes.span.bytes, .append)
            }
        }

        #expect(error?.code == .keyExists)
    }

    @Test func `a deletion tells whether there was a record`() throws {
        try put([("one", "1")])
        let table = table

        let told = try environment.write {
            [
                try $0.delete(table, "one".bytes.span.bytes),
                try $0.delete(table, "one".bytes.span.bytes),
            ]
        }

        #expect(told == [true, false])
        #expect(try environment.read { try $0.contains(table, "one".bytes.span.bytes) } == false)
    }

    @Test func `clearing empties one table only`() throws {
        let (first, second) = (table, try environment.table("b"))
        try environment.write {
            try $0.put(first, "x".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
            try $0.put(second, "x".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
        }

        try environment.write { try $0.clear(first) }

        let counts = try environment.read { [try $0.count(first), try $0.count(second)] }
        #expect(counts == [0, 1])
    }

    @Test func `a body that throws leaves nothing behind`() throws {
        struct Refusal: Error {}
        let table = table

        #expect(throws: Refusal.self) {
            try environment.write { transaction in
                try transaction.put(table, "one".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
                throw Refusal()
            }
        }

        #expect(try environment.read { try $0.count(table) } == 0)
    }

    @Test func `a write reads what it wrote itself`() throws {
        let table = table

        let seen = try environment.write { transaction in
            try transaction.put(table, "one".bytes.span.bytes, "1".bytes.span.bytes, .upsert)
            return try transaction.get(table, "one".bytes.span.bytes) { $0.text }
        }

        #expect(seen == "1")
    }

    @Test func `a read does not see a write that ended after it began`() throws {
        try put([("one", "1")])
        let (environment, table) = (environment, table)

        let values = try environment.read { transaction in
            let before = try transaction.get(table, "one".bytes.span.bytes) { $0.text }
            try onAnotherThread {
                try environment.write {
                    try $0.put(table, "one".bytes.span.bytes, "2".bytes.span.bytes, .upsert)
                }
            }
            return [before, try transaction.get(table, "one".bytes.span.bytes) { $0.text }]
        }

        #expect(values == ["1", "1"])
        #expect(
            try environment.read { try $0.get(table, "one".bytes.span.bytes) { $0.text } } == "2")
    }

    @Test(arguments: ["", String(repeating: "k", count: 512)])
    func `a key of a length LMDB cannot hold is refused`(key: String) throws {
        let table = table

        let error = #expect(throws: LMDBError.self) {
            try environment.write {
                try $0.put(table, key.bytes.span.bytes, "1".bytes.span.bytes, .upsert)
            }
        }

        #expect(error?.code == .keyLength)
    }

    @Test func `a table not named in the options is not there`() throws {
        let error = #expect(throws: LMDBError.self) { try environment.table("c") }

        #expect(error?.code == .noSuchTable)
        #expect(error?.message == "The file has no table 'c'.")
    }

    // MARK: - Runs

    @Test(arguments: [("m", ["n", "o"]), ("m", ["a", "m", "z"]), ("", ["a", "b"])])
    func `a run in ascending order is put behind the last record or where it belongs`(
        _ last: String, _ added: [String]
    ) throws {
        if !last.isEmpty { try put([(last, "before")]) }
        let table = table

        try environment.write { transaction in
            try transaction.putAscendingRun(table) { run in
                for key in added { try run.put(key.bytes.span.bytes, "after".bytes.span.bytes) }
            }
        }

        let found = try environment.read { transaction in
            var found: [String] = []
            try transaction.scan(table, from: [UInt8]().span.bytes, to: nil, order: .ascending) {
                found.append("\($0.text) \($1.text)")
                return .proceed
            }
            return found
        }
        let before = last.isEmpty || added.contains(last) ? [] : ["\(last) before"]
        #expect(found == (before + added.map { "\($0) after" }).sorted())
    }

    @Test(arguments: [0, 1, 150, 199, 200])
    func `as many of the last records as are named are removed and the others stay`(
        count: Int
    ) throws {
        let keys = (100..<300).map(String.init)
        try put(keys.map { ($0, String(repeating: "v", count: 100)) })
        let table = table

        try environment.write { try $0.removeLast(count, of: table) }

        let left = try environment.read { transaction in
            var left: [String] = []
            try transaction.scan(table, from: [UInt8]().span.bytes, to: nil, order: .ascending) {
                left.append($0.text)
                #expect($1.byteCount == 100)
                return .proceed
            }
            return left
        }
        #expect(left == keys.dropLast(count))
    }

    @Test func `more records than there are cannot be removed, and none is`() throws {
        try put([("x", "1"), ("y", "2")])
        let table = table

        #expect(throws: LMDBError.self) {
            try environment.write { try $0.removeLast(3, of: table) }
        }

        #expect(try environment.read { try $0.count(table) } == 2)
    }

    // MARK: - Remembering

    private final class Knowledge: Sendable {}

    private func writeAndRemember(_ knowledge: Knowledge) throws {
        let table = table
        try environment.write { transaction in
            try transaction.put(table, "k".bytes.span.bytes, "v".bytes.span.bytes, .upsert)
            transaction.remember(knowledge)
        }
    }

    @Test func `what a write remembers is there for the next`() throws {
        let knowledge = Knowledge()
        try writeAndRemember(knowledge)
        try environment.write { _ in }

        let isKnown = try environment.write { $0.remembered === knowledge }

        #expect(isKnown)
    }

    @Test func `what a write remembers is forgotten when something else is written`() throws {
        try writeAndRemember(Knowledge())
        try put([("other", "1")])

        let isKnown = try environment.write { $0.remembered != nil }

        #expect(!isKnown)
    }

    @Test func `what is remembered does not outlast a write in the same transaction`() throws {
        let table = table

        let isKnown = try environment.write { transaction in
            try transaction.put(table, "k".bytes.span.bytes, "v".bytes.span.bytes, .upsert)
            transaction.remember(Knowledge())
            let isKnownAtOnce = transaction.remembered != nil
            try transaction.put(table, "l".bytes.span.bytes, "v".bytes.span.bytes, .upsert)
            return [isKnownAtOnce, transaction.remembered != nil]
        }

        #expect(isKnown == [true, false])
    }

    @Test func `what a write that fails remembers is forgotten with it`() throws {
        struct Refusal: Error {}
        let knowledge = Knowledge()
        try writeAndRemember(knowledge)
        let table = table

        #expect(throws: Refusal.self) {
            try environment.write { transaction in
                try transaction.put(table, "l".bytes.span.bytes, "v".bytes.span.bytes, .upsert)
                transaction.remember(Knowledge())
                throw Refusal()
            }
        }

        #expect(try environment.write { $0.remembered === knowledge })
    }
}
