import DaybookLMDB
import DaybookTestSupport
import Testing

@Suite struct SeekTests {
    let directory: TemporaryDirectory
    let environment: Environment
    let table: Table

    init() throws {
        directory = try TemporaryDirectory()
        environment = try Environment.open(
            at: directory.path("file"), options: EnvironmentOptions(tables: ["a", "empty"]))
        table = try environment.table("a")
        let table = table
        try environment.write { transaction in
            for key in ["b", "bb", "d"] {
                try transaction.put(
                    table, key.bytes.span.bytes, "=\(key)".bytes.span.bytes, .upsert)
            }
        }
    }

    @Test(
        arguments: [
            ("", "b"), ("a", "b"), ("b", "b"), ("ba", "bb"), ("c", "d"), ("d", "d"), ("da", nil),
        ] as [(String, String?)])
    func `seeking at or after finds the first such record`(key: String, found: String?) throws {
        let result = try environment.read {
            try $0.seek(table, atOrAfter: key.bytes.span.bytes) { key, value in
                key.text + value.text
            }
        }

        #expect(result == found.map { "\($0)=\($0)" })
    }

    @Test(
        arguments: [
            ("a", nil), ("b", nil), ("ba", "b"), ("bb", "b"), ("bc", "bb"), ("d", "bb"), ("z", "d"),
            (nil, "d"),
        ] as [(String?, String?)])
    func `seeking before finds the last record strictly before`(
        key: String?, found: String?
    ) throws {
        let bytes = key.map { Array($0.utf8) }
        let result = try environment.read { transaction in
            if let bytes {
                return try transaction.seek(table, before: bytes.span.bytes) { key, _ in key.text }
            }
            return try transaction.seek(table, before: nil) { key, _ in key.text }
        }

        #expect(result == found)
    }

    @Test func `seeking in an empty table finds nothing`() throws {
        let empty = try environment.table("empty")

        let found = try environment.read { transaction in
            [
                try transaction.seek(empty, before: nil) { key, _ in key.text },
                try transaction.seek(empty, atOrAfter: "a".bytes.span.bytes) { key, _ in key.text },
            ]
        }

        #expect(found == [nil, nil])
    }

    struct Range: Sendable {
        var lower: String
        var upper: String?
        var keys: [String]
    }

    @Test(arguments: [
        Range(lower: "", upper: nil, keys: ["b", "bb", "d"]),
        Range(lower: "b", upper: "d", keys: ["b", "bb"]),
        Range(lower: "ba", upper: "da", keys: ["bb", "d"]),
        Range(lower: "e", upper: nil, keys: []),
        Range(lower: "d", upper: "b", keys: []),
        Range(lower: "b", upper: "b", keys: []),
    ])
    func `a scan walks its range in either order`(range: Range) throws {
        func keys(_ order: ScanOrder) throws -> [String] {
            var found: [String] = []
            let upper = range.upper.map { Array($0.utf8) }
            try environment.read { transaction in
                if let upper {
                    try transaction.scan(
                        table, from: range.lower.bytes.span.bytes, to: upper.span.bytes,
                        order: order
                    ) { key, _ in
                        found.append(key.text)
                        return .proceed
                    }
                } else {
                    try transaction.scan(
                        table, from: range.lower.bytes.span.bytes, to: nil, order: order
                    ) { key, _ in
                        found.append(key.text)
                        return .proceed
                    }
                }
            }
            return found
        }

        let (up, down) = (try keys(.ascending), try keys(.descending))

        #expect(up == range.keys)
        #expect(down == range.keys.reversed())
    }

    @Test func `a scan ends when its body says stop`() throws {
        var count = 0

        try environment.read { transaction in
            try transaction.scan(table, from: "".bytes.span.bytes, to: nil, order: .ascending) {
                _, _ in
                count += 1
                return .stop
            }
        }

        #expect(count == 1)
    }
}
