import DaybookLMDB
import DaybookTestSupport
import Testing

/// What a state of the file keeps for whoever reads it.
@Suite struct StateFindingsTests {
    private let directory: TemporaryDirectory
    private let environment: Environment
    private let table: Table

    private final class Found {
        var value: String?
    }

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"), options: EnvironmentOptions(tables: ["a"]))
        table = try environment.table("a")
    }

    private func put(_ value: String) throws {
        let table = table
        try environment.write { transaction in
            try transaction.put(table, "key".bytes.span.bytes, value.bytes.span.bytes, .upsert)
        }
    }

    /// What is under the key, as findings know it, and whether it had to be looked up.
    private func look(meter: ReadMeter? = nil) throws -> (value: String?, isLookedUp: Bool) {
        try environment.read { transaction in
            let transaction =
                meter.map { transaction.counted(by: $0) } ?? transaction.shared()
            let found = transaction.findings(orMake: Found.init)
            if let value = found.value { return (value, false) }
            found.value = try transaction.get(table, "key".bytes.span.bytes) { $0.text }
            return (found.value, true)
        }
    }

    @Test func `findings are kept until the file has another state`() throws {
        try put("one")
        #expect(try look() == ("one", true))
        #expect(try look() == ("one", false))
        try put("two")
        #expect(try look() == ("two", true))
        #expect(try look() == ("two", false))
    }

    @Test func `a longer transaction keeps the findings of its own state`() throws {
        try put("one")
        try environment.read { transaction in
            transaction.findings(orMake: Found.init).value = "one"
            try onAnotherThread {
                try put("two")
                #expect(try look() == ("two", true))
            }
            #expect(transaction.findings(orMake: Found.init).value == "one")
        }
        #expect(try look().value == "two")
    }

    @Test func `who counts what is read finds everything itself`() throws {
        try put("one")
        _ = try look()
        #expect(try look(meter: ReadMeter()) == ("one", true))
        #expect(try look() == ("one", false))
    }
}
