import DaybookPQ
import Foundation
import Testing

/// What may stand in a description of servers, and what libpq is told for each of them.
@Suite struct ServerDescriptionTests {
    @Test(arguments: [
        "host=a password=tr0ub4dor", "postgresql://ada:tr0ub4dor@a/books",
        "host=a sslpassword=tr0ub4dor",
    ])
    func `a password in the text is refused without repeating it`(_ text: String) throws {
        let error = #expect(throws: PostgresError.self) { try ServerDescription(text) }

        #expect(error?.code == .description)
        #expect(error?.description.contains("tr0ub4dor") == false)
        #expect(error?.description.contains("password") == true)
    }

    @Test func `a text that libpq cannot read is refused without repeating it`() throws {
        let error = #expect(throws: PostgresError.self) {
            try ServerDescription("host=a tr0ub4dor")
        }

        #expect(error?.code == .description)
        #expect(error?.description.contains("tr0ub4dor") == false)
    }

    @Test func `hosts and ports are tried one by one`() throws {
        let places = try ServerDescription("host=a,b,c port=1,2,3").places()
        let onePort = try ServerDescription("postgresql://a,b:7/books").places()
        let shared = try ServerDescription("host=a,b port=9").places()

        #expect(places.map(\.description) == ["a:1", "b:2", "c:3"])
        #expect(onePort.map(\.description) == ["a:5432", "b:7"])
        #expect(shared.map(\.description) == ["a:9", "b:9"])
    }

    @Test func `lists of different lengths are refused`() throws {
        let error = #expect(throws: PostgresError.self) {
            try ServerDescription("host=a,b,c port=1,2").places()
        }

        #expect(error?.code == .description)
    }

    @Test(arguments: [
        ("host=db.example.org", "verify-full"), ("host=10.0.0.7", "verify-full"),
        ("host=db.example.org sslmode=prefer", "verify-full"),
        ("host=db.example.org sslmode=require", "require"),
        ("host=db.example.org sslmode=disable", "disable"),
        ("host=localhost", "prefer"), ("host=127.0.0.2", "prefer"),
        ("host=127.example.org", "verify-full"), ("host=/run/db", "prefer"),
        ("host=localhost hostaddr=10.0.0.7", "verify-full"),
        ("host=db.example.org hostaddr=127.0.0.1", "prefer"),
        ("host=::1 sslmode=verify-ca", "verify-ca"),
    ])
    func `a server elsewhere proves who it is, unless the user says otherwise`(
        _ text: String, _ mode: String
    ) throws {
        #expect(try ServerDescription(text).places().map(\.mode) == [mode])
    }

    @Test func `a service that nobody has described is named`() throws {
        let error = #expect(throws: PostgresError.self) {
            try ServerDescription("service=no_such_ledger").places()
        }

        #expect(error?.code == .description)
        #expect(error?.description.contains("no_such_ledger") == true)
    }

    @Test func `waits grow from 50 milliseconds to 5 seconds and begin again`() {
        var backoff = Backoff()
        let longest = (0..<9).map { _ in backoff.wait(random: 1) }
        backoff.reset()
        let shortest = backoff.wait(random: 0)

        #expect(
            longest.map { $0 / .milliseconds(1) } == [
                50, 100, 200, 400, 800, 1600, 3200, 5000, 5000,
            ])
        #expect(shortest == .milliseconds(25))
    }
}
