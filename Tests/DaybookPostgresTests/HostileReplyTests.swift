import DaybookJournalLog
import DaybookObjectModel
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Replies that no server gives: an error each, and no program ends or waits for ever.
@Suite struct HostileReplyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let reply: PretendServer.Reply

        init(_ name: String, reply: PretendServer.Reply) {
            (self.name, self.reply) = (name, reply)
        }

        init(_ name: String, _ messages: [UInt8]...) {
            self.init(name, reply: .messages(Array(messages.joined()) + Wire.ready))
        }

        var testDescription: String { name }
    }

    private static let question = PostgresStatement("question", "SELECT 1")

    /// The body of a message that begins a copy of one column.
    private static let oneColumn: [UInt8] = [1, 0, 1, 0, 1]
    private static let number = Wire.int8(1)
    private static let warning = Wire.message("N", Array("SWARNING\u{0}Mhello\u{0}\u{0}".utf8))

    static let replies: [Case] = [
        Case("a copy out", Wire.message("H", oneColumn)),
        Case("a copy in", Wire.message("G", oneColumn)),
        Case("a copy both ways", Wire.message("W", oneColumn)),
        Case(
            "texts", Wire.description(1, format: 0), Wire.row([Array("12345678".utf8)]),
            Wire.complete),
        Case("too few fields", Wire.description(2), Wire.row([number]), Wire.complete),
        Case("too many fields", Wire.description(1), Wire.row([number, number]), Wire.complete),
        Case("a row before its description", Wire.row([number]), Wire.complete),
        Case(
            "a long field", Wire.description(1), Wire.message("D", [0, 1, 0x7F, 0xFF, 0xFF, 0xFF])),
        Case(
            "a field of no length", Wire.description(1), Wire.message("D", [0, 1, 0xFF, 0, 0, 0])),
        Case("many columns", Wire.message("T", [0xFF, 0xFF])),
        Case("an unknown message", Wire.message("x", [1, 2, 3])),
        Case("a message of no length", [UInt8(ascii: "C"), 0xFF, 0xFF, 0xFF, 0xFF]),
        Case("a long message", [UInt8(ascii: "D"), 0x7F, 0xFF, 0xFF, 0xFF]),
        Case("an error that says nothing", Wire.message("E", [0])),
        Case("an error of other bytes", Wire.message("E", [UInt8(ascii: "M"), 0xFF, 0xFE, 0, 0])),
        Case("warnings for ever", reply: .endless(warning)),
        Case("answers for ever", reply: .endless(Wire.complete)),
    ]

    @Test(arguments: replies)
    func `a reply that is none is an error in time`(_ example: Case) async throws {
        let (error, time) = try await onThread {
            let server = try PretendServer(["question": example.reply])
            let connection = try server.connection()
            let start = ContinuousClock.now
            let error = #expect(throws: PostgresError.self) {
                try connection.run(Self.question, until: .now + .seconds(1))
            }
            return (error, ContinuousClock.now - start)
        }

        #expect(error?.message.isEmpty == false)
        #expect(time < .seconds(30))
    }

    @Test func `a message is one line that can be shown`() async throws {
        let words = "SERROR\u{0}C42501\u{0}Mno\u{1B}[31m" + String(repeating: "o", count: 9_000)
        let error = try await onThread {
            let message = Wire.message("E", Array("\(words)\nsecond\u{0}\u{0}".utf8))
            let server = try PretendServer(["question": .messages(message + Wire.ready)])
            let connection = try server.connection()
            return #expect(throws: PostgresError.self) {
                try connection.run(Self.question, until: limit)
            }
        }

        #expect(error?.state == "42501")
        #expect(error?.message.hasPrefix("no\u{FFFD}[31mooo") == true)
        #expect(error?.message.count == 1_000)
    }

    /// Such as that its rules of sorting were changed by an upgrade of the system.
    @Test func `what a server says when a connection begins is no warning of a statement`()
        async throws
    {
        let warnings = try await onThread {
            let server = try PretendServer([:], greeting: Self.warning)
            let connection = try server.connection()
            let warnings = connection.takeWarnings()
            try connection.run(script: "SELECT", until: limit)
            return warnings + connection.takeWarnings()
        }

        #expect(warnings == [])
    }

    @Test func `more than was asked for is not taken in`() async throws {
        let error = try await onThread {
            let long = [UInt8](repeating: 7, count: 1_000)
            let server = try PretendServer(["COPY": .copy([[long], [long]])])
            #expect(try server.connection().copy("COPY", until: limit).count == 2)
            return #expect(throws: PostgresError.self) {
                try server.connection().copy("COPY", bytesMaximum: 1_500, until: limit)
            }
        }

        #expect(error?.code == .unexpected)
    }

    static let stores: [Case] = [
        Case("no row", reply: .rows([])), Case("no value", reply: .rows([[nil, nil, nil]])),
        Case("one column", reply: .rows([[Wire.int4(1)]])),
        Case("a short identity", reply: .rows([[Wire.int4(1), [1, 2], Wire.int8(1)]])),
        Case("a long number", reply: .rows([[Array(repeating: 1, count: 16), [1], [1]]])),
        Case("a copy", reply: .copy([])),
    ]

    @Test(arguments: stores)
    func `a store that is none is refused`(_ example: Case) async throws {
        let error = try await onThread {
            let server = try PretendServer(["daybook_find": example.reply])
            return #expect(throws: SharedJournalError.self) {
                try server.journal().page(after: .start, bytes: 1)
            }
        }

        #expect(error?.code == .refused)
    }

    /// The fields of a row of entries, some of them others.
    private static func entry(
        _ changes: [Int: [UInt8]?], columns: Int = 8
    ) -> [[UInt8]?] {
        let usual: [[UInt8]?] = [
            Wire.int8(1), Wire.int4(1), Wire.int8(1), Wire.int8(1), Digest.zero.bytes, Wire.int4(0),
            [1],
            Wire.int8(1),
        ]
        return (0..<columns).map { changes[$0] ?? usual[$0] }
    }

    static let pages: [Case] = [
        Case("few columns", reply: .copy([entry([:], columns: 3)])),
        Case("no number", reply: .copy([entry([0: nil])])),
        Case("no digest", reply: .copy([entry([4: nil])])),
        Case("a short digest", reply: .copy([entry([4: [1, 2, 3]])])),
        Case("no payload", reply: .copy([entry([6: nil])])),
        Case("no end", reply: .copy([entry([7: nil])])),
        Case("a text for a time", reply: .copy([entry([2: Array("now".utf8)])])),
        Case("less than no chunks", reply: .copy([entry([5: Wire.int4(-1)])])),
        Case("many chunks", reply: .copy([entry([5: Wire.int8(.max)])])),
        Case("chunks that are not there", reply: .copy([entry([5: Wire.int4(2), 6: nil])])),
        Case("rows of a statement", reply: .rows([[[1]]])),
    ]

    @Test(arguments: pages)
    func `a page that is none is refused`(_ example: Case) async throws {
        let error = try await onThread {
            let server = try PretendServer(["COPY": example.reply])
            return #expect(throws: SharedJournalError.self) {
                try server.journal().page(after: .start, bytes: 1)
            }
        }

        #expect(error?.code == .refused)
        #expect((error?.cause as? PostgresError)?.code == .unexpected)
    }

    @Test(arguments: [[2, 2], [3, 2], [5, 0], [1, .min]] as [[Int64]])
    func `entries that do not follow each other are refused`(_ numbers: [Int64]) async throws {
        let error = try await onThread {
            let rows = numbers.map { Self.entry([0: Wire.int8($0), 7: Wire.int8(9)]) }
            let server = try PretendServer(["COPY": .copy(rows)])
            return #expect(throws: SharedJournalError.self) {
                try server.journal().page(after: SharedHead(SequenceNumber(1), .zero), bytes: 1)
            }
        }

        #expect((error?.cause as? PostgresError)?.code == .unexpected)
        #expect(error?.message.contains("out of order") == true)
    }

    @Test(arguments: [Int64.min, -1, 2, .max])
    func `entries are handed out as they were found`(_ value: Int64) async throws {
        let page = try await onThread {
            let number = Wire.int8(value)
            let server = try PretendServer([
                "COPY": .copy([Self.entry([0: Wire.int8(9), 2: number, 3: number, 7: number])])
            ])
            return try server.journal().page(after: .start, bytes: 1)
        }

        #expect(page.entries.map(\.recordedAt) == [value])
        #expect(page.entries.map(\.sequence.rawValue) == [9])
    }

    @Test(arguments: [Int64.min, -1, 4, .max])
    func `records of levels that there are not harm nobody`(_ level: Int64) async throws {
        let keys = [ChunkKey(level: 0, digest: .zero)]
        let (lacking, records) = try await onThread {
            let row: [[UInt8]?] = [Wire.int8(level), Digest.zero.bytes, [1]]
            let server = try PretendServer([
                "daybook_lacking": .rows([row]), "daybook_data": .rows([row]),
            ])
            let journal = try server.journal()
            return (try journal.lacking(keys), try journal.records(keys))
        }

        #expect(lacking.map(\.level) == [Int(level)])
        #expect(records.map(\.key) == lacking)
    }
}
