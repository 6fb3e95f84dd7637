import DaybookPQ
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookPostgres

/// What servers answer that have been changed by their owners, or pretend to be servers.
@Suite struct ServerAnswerTests {
    @Test func `a mark of an impossible version is refused`() async throws {
        let store = try await onThread { try SharedStore(on: PostgresServer()) }

        let errors = try await onThread {
            let journal = try store.journal()
            #expect(try journal.set(SharedMark(.value, "owner", [1], version: 0)) == 1)
            try store.server.administer(
                "ALTER TABLE daybook.mark DROP CONSTRAINT mark_version_check")
            return try [Int64.min, -1, 0].map { version in
                try store.server.administer("UPDATE daybook.mark SET version = \(version)")
                return #expect(throws: SharedJournalError.self) { try journal.marks(.value) }
            }
        }

        #expect(errors.allSatisfy { ($0?.cause as? PostgresError)?.code == .unexpected })
    }

    @Test(arguments: [Int64.min, -1, 0])
    func `the servers keep no mark of an impossible version`(_ version: Int64) async throws {
        let error = try await onThread {
            let server = try PostgresServer.shared.get()
            return #expect(throws: PostgresError.self) {
                try server.administer(
                    "INSERT INTO daybook.mark VALUES (1, 1, 'a', '', \(version))")
            }
        }

        #expect(error?.state == "23514")
    }

    static let numbers: [[UInt8]?] = [
        nil, [1, 2, 3], Wire.int8(0), Wire.int8(.min), Wire.int8(1 << 48), Wire.int8((1 << 48) - 1),
        Wire.int8(.max),
    ]

    @Test(arguments: numbers)
    func `numbers that no object can have are refused`(_ first: [UInt8]?) async throws {
        let error = try await onThread {
            let server = try PretendServer(["daybook_take_numbers": .rows([[first]])])
            return #expect(throws: SharedJournalError.self) { try server.journal().takeNumbers(2) }
        }

        #expect((error?.cause as? PostgresError)?.code == .unexpected)
    }

    /// A machine that slept in the middle of a save, for one.
    @Test func `a connection that ends between the parts of an entry is no refusal`() async throws {
        let words = "SFATAL\u{0}VFATAL\u{0}C25P03\u{0}Mterminating connection\u{0}\u{0}"
        let error = try await onThread {
            let ended = Wire.message("E", Array(words.utf8))
            let server = try PretendServer(["daybook_add_chunk": .messages(ended + Wire.ready)])
            let long = [UInt8](repeating: 1, count: (1 << 20) + 1)
            return #expect(throws: SharedJournalError.self) {
                try server.journal().append(group(after: .start, long))
            }
        }

        #expect(error?.code == .unreachable)
    }
}
