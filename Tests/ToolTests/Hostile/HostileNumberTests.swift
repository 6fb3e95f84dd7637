import DaybookTestSupport
import Foundation
import Testing

/// Numbers and dates at the limits of their forms. None of them may crash the tool.
@Suite struct HostileNumberTests {
    private let folder: ScratchFolder

    /// A store with an attribute of each type and three objects; each test changes a copy of it.
    private static let sample = Result {
        let folder = try ScratchFolder()
        let types = ["int16", "int32", "int64", "float", "double", "decimal", "date", "string"]
        let attributes = types.map { #"{"name":"\#($0)","type":"\#($0)","indexed":true}"# }
        let model = """
            {"entities":[{"name":"Thing","attributes":[
             {"name":"code","type":"string","unique":true},\(attributes.joined(separator: ","))],
             "relationships":[{"name":"next","destination":"Thing"},
              {"name":"all","destination":"Thing","toMany":true,"ordered":true}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        let made = try Tool.run(["init", "s.daybook", "--model", "model.json"], in: folder.url)
        try #require(made.status == 0, "\(made.talk)")
        let lines = (1...3).map {
            #"{"op":"insert","entity":"Thing","values":{"code":"\#($0)","int64":\#($0)}}"#
        }
        let recorded = try Tool.run(
            ["record", "s.daybook"], input: Data(lines.joined(separator: "\n").utf8), in: folder.url
        )
        try #require(recorded.status == 0, "\(recorded.talk)")
        return folder
    }

    init() throws {
        folder = try ScratchFolder()
        let sample = try Self.sample.get().url.appending(path: "s.daybook")
        try FileManager.default.copyItem(at: sample, to: folder.url.appending(path: "s.daybook"))
    }

    private func run(_ line: String, input: String = "") throws -> ToolResult {
        try run(line.split(separator: " ").map(String.init), input: input)
    }

    private func run(_ words: [String], input: String = "") throws -> ToolResult {
        try Tool.run(
            words, input: Data(input.utf8), environment: ["SWIFT_BACKTRACE": "enable=no"],
            in: folder.url)
    }

    /// Whether the tool has ended normally, with a message if something was wrong.
    private func isOrderly(_ result: ToolResult) -> Bool {
        (0...5).contains(result.status)
            && (result.status < 2 || result.talk.contains("error: "))
    }

    // MARK: - One by one

    @Test(
        arguments: [
            ("== -9223372036854775809", 0), ("> -9223372036854775809", 4),
            ("< -9223372036854775808", 0), ("<= -9223372036854775808", 1),
            (">= 9223372036854775808", 0), ("< 9223372036854775808", 4),
            ("== 1.00000000000000000001", 0), ("> 1.00000000000000000001", 2),
            ("< 1.00000000000000000001", 2), ("> 0.99999999999999999999", 3), ("== 1e0", 1),
        ])
    func `a number is not rounded to an integer that it is compared with`(
        comparison: String, count: Int
    ) throws {
        let least = #"{"op":"insert","entity":"Thing","values":{"int64":-9223372036854775808}}"#
        #expect(try run("record s.daybook", input: least).status == 0)

        // By the index, and row by row.
        for condition in ["int64 \(comparison)", "NOT NOT int64 \(comparison)"] {
            let result = try run(["fetch", "s.daybook", "Thing", "-c", "-w", condition])
            #expect(result.text == "\(count)\n", "\(condition): \(result)")
        }
    }

    @Test func `a fraction that no number between two integers can stand for is refused`() throws {
        let condition = "int64 == 9007199254740993.5"
        let result = try run(["fetch", "s.daybook", "Thing", "-w", condition])

        #expect(result.status == 2, "\(result)")
        #expect(
            result.talk.contains("'int64' is an integer, not the number 9007199254740993.5"),
            "\(result.talk)")
    }

    @Test func `a year of any number of digits is a time as it is printed`() throws {
        let lines = [
            ("-000005-01-02T03:04:05Z", 1), ("0000-02-29T00:00:00Z", 2),
            ("+012011-12-15T00:00:00.5Z", 3),
        ].map { time, number in
            #"{"op":"update","object":"Thing/\#(number)","values":{"int16":\#(number)}}"# + "\n"
                + #"{"op":"save","time":"\#(time)"}"# + "\n"
        }
        #expect(try run("record s.daybook", input: lines.joined()).status == 0)

        func changed(_ time: String) throws -> String {
            let condition = "int16 != nil"
            return try run([
                "fetch", "s.daybook", "Thing", "-c", "-w", condition, "--at", time,
            ]).text
        }
        #expect(try changed("-000005-01-02T03:04:04Z") == "0\n")
        #expect(try changed("-000005-01-02T03:04:05Z") == "1\n")
        #expect(try changed("0000-02-28") == "1\n")
        #expect(try changed("0000-02-29") == "2\n")
        #expect(try changed("+012011-12-14") == "2\n")
        #expect(try changed("+012011-12-15T00:00:00.5Z") == "3\n")
        #expect(try run("fetch s.daybook Thing --at +12011-12-14").status == 2)
        #expect(try run("fetch s.daybook Thing --at +292001-12-14").status == 2)
        #expect(try run("log s.daybook --since -290000-01-01 --until +290000-12-31").status == 0)
    }

    @Test(
        arguments: [
            "1e-9223372036854775808", "1e9223372036854775807", "-1.5e-9223372036854775808",
            "0e-9223372036854775808", "1e99999999999999999999", "10e9223372036854775807",
        ], ["int16", "int64", "decimal", "double", "date"])
    func `B11 a number with an exponent beyond all bounds is refused or read`(
        number: String, attribute: String
    ) throws {
        let recorded = try run(
            "record s.daybook",
            input: #"{"op":"insert","entity":"Thing","values":{"\#(attribute)":\#(number)}}"#)
        let imported = try run(
            "import s.daybook -f debezium",
            input: #"{"op":"c","after":{"code":"x","\#(attribute)":\#(number)},"#
                + #""source":{"table":"Thing"}}"#)
        let fetched = try run([
            "fetch", "s.daybook", "Thing", "--where", "\(attribute) >= \(number)",
        ])
        let model =
            #"{"entities":[{"name":"A","attributes":[{"name":"a","type":"\#(attribute)","#
            + #""default":\#(number),"minimum":\#(number)}]}]}"#
        try Data(model.utf8).write(to: folder.url.appending(path: "hostile.json"))
        let made = try run("init h.daybook --model hostile.json")

        for result in [recorded, imported, fetched, made] {
            #expect(isOrderly(result), "\(result.status): \(result.talk)")
        }
        if attribute == "decimal" || attribute == "int64", !number.hasPrefix("0") {
            #expect(recorded.status == 2)
            #expect(recorded.talk.contains("line 1: '\(attribute)' is wrong"))
            #expect(imported.status == 2)
        }
    }

    @Test(
        arguments: [
            "io.debezium.time.Date", "org.apache.kafka.connect.data.Date",
            "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp",
            "io.debezium.time.MicroTimestamp", "io.debezium.time.NanoTimestamp",
            "io.debezium.time.Time", "io.debezium.time.MicroTime", "io.debezium.time.NanoTime",
            "org.apache.kafka.connect.data.Time", "io.debezium.time.Year",
            "org.apache.kafka.connect.data.Decimal",
        ],
        [
            "-9223372036854775808", "9223372036854775807", "-9223372036854775809",
            "18446744073709551615", "1e18", "106751991167301", "-1",
        ])
    func `B11 no time of a connector stops the import`(name: String, number: String) throws {
        let schema =
            #"{"fields":[{"field":"after","fields":[{"field":"date","name":"\#(name)","#
            + #""parameters":{"scale":"2"}}]}]}"#
        let source =
            #"{"table":"Thing","name":"s","ts_ms":\#(number),"ts_us":\#(number),"#
            + #""lsn":\#(number),"txId":\#(number)}"#

        let result = try run(
            "import s.daybook -f debezium",
            input: #"{"schema":\#(schema),"payload":{"op":"c","after":{"code":"x","#
                + #""date":\#(number)},"source":\#(source),"ts_ms":\#(number)}}"#)
        let log = try run("log s.daybook --changes")

        #expect(isOrderly(result), "\(result.status): \(result.talk)")
        #expect(log.status == 0)
    }

    @Test(
        arguments: [
            ("--limit 9223372036854775807 --offset 1", 2),
            ("--limit 9223372036854775807 --offset 9223372036854775807", 0),
            ("--offset 9223372036854775807", 0),
            ("--limit 9223372036854775807 --offset 2 --sort -int64", 1),
            ("--limit 2 --offset 9223372036854775807 --sort int64", 0),
        ])
    func `B11 limit and offset together reach beyond all numbers`(
        options: String, count: Int
    ) throws {
        let fetched = try run("fetch s.daybook Thing --output jsonl \(options)")
        let counted = try run("fetch s.daybook Thing --count \(options)")
        let past = try run("fetch s.daybook Thing --at 2 --output jsonl \(options)")

        #expect(fetched.lines.count == count, "\(fetched.status): \(fetched.talk)")
        #expect(counted.text == "\(count)\n", "\(counted.status): \(counted.talk)")
        #expect(past.lines.count == count, "\(past.status): \(past.talk)")
    }

    @Test(
        arguments: [
            "log STORE --since N", "log STORE --until N", "log STORE N..", "log STORE ..N",
            "log STORE N..N", "log STORE 1..N", "log STORE --limit N", "show STORE N",
            "show STORE 1..N",
            "fetch STORE Thing --at N", "history STORE Thing/N", "history STORE Thing/1 --limit N",
            "blame STORE Thing/1 --at N", "diff STORE N N", "diff STORE 1 N",
            "document STORE --at N",
            "undo STORE N", "undo STORE 1..N", "redo STORE N", "restore STORE Thing/1 --at N",
            "replay STORE --to N", "replay STORE --from N", "export STORE -f csv --from N",
            "export STORE -f jsonl --to N", "export STORE -f ocsf --from N --to N",
            "tail STORE -n N",
            "tail STORE --cursor c -n N", "cursors STORE c N", "tag STORE t N", "prove STORE N",
            "bisect STORE Thing --where int64==1 --from N",
            "bisect STORE Thing --where int64==1 --to N",
            "bisect STORE Thing --where int64==1 --count N",
        ],
        [
            "18446744073709551615", "18446744073709551616", "9223372036854775808", "0",
            "99999999999999999999",
        ])
    func `B11 no number that an option takes stops the tool`(line: String, number: String) throws {
        let words = line.split(separator: " ").map { word in
            String(word).replacing("STORE", with: "s.daybook").replacing("N", with: number)
        }

        let result = try run(words)

        #expect(isOrderly(result), "\(result.status): \(result.talk)")
    }

    @Test func `B11 a number of many digits is told in no time`() throws {
        let digits = String(repeating: "9", count: 400_000)
        for attribute in ["int64", "double", "decimal", "date"] {
            for number in [
                digits, "0.\(digits)", "1e\(digits)", "1\(digits.replacing("9", with: "0"))",
            ] {
                let result = try run(
                    "record s.daybook",
                    input:
                        #"{"op":"insert","entity":"Thing","values":{"\#(attribute)":\#(number)}}"#)

                #expect(isOrderly(result))
            }
        }
    }

    // MARK: - Anything

    private static let numbers = [
        "0", "-0", "1", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "18446744073709551616", "2147483648",
        "32768",
        "340282366920938463463374607431768211456", "1e0", "1e38", "1e127", "1e128", "1e166",
        "1e-128",
        "1e-129", "1e308", "1e309", "1e999", "-1e999", "1e-400", "1e-9223372036854775808",
        "1e9223372036854775807", "1.0e-9223372036854775808", "4.9e-324", "NaN", "Infinity",
        "-Infinity",
        "2011-12-15", "+999999999-12-31T23:59:59Z", "-999999999-01-01", "@1e308", "@-1e15", "@nan",
        "9999-12-31T23:59:59.999999Z", "+294247-01-10T04:00:54.775808Z",
        "2011-12-15T08:30:00+23:59",
        "Thing/18446744073709551615", "Thing/0", "Thing/-1", "true", "null", "[]", "{}",
    ]

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `B11 hostile values are taken or refused, and the store stays sound`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func value() -> String {
            let number = Self.numbers.randomElement(using: &generator) ?? ""
            let isJSON = number.first.map { "-0123456789tn[{".contains($0) } ?? false
            return isJSON && !number.contains(":") && !number.dropFirst().contains("-0")
                && number != "NaN" && Bool.random(using: &generator) ? number : "\"\(number)\""
        }
        func values() -> String {
            [
                "int16", "int32", "int64", "float", "double", "decimal", "date", "string", "next",
                "all",
            ]
            .filter { _ in Int.random(in: 0...3, using: &generator) == 0 }
            .map { #""\#($0)":\#(value())"# }.joined(separator: ",")
        }
        for _ in 0..<25 {
            let record = try run(
                "record s.daybook",
                input: #"{"op":"insert","entity":"Thing","values":{\#(values())}}"# + "\n"
                    + #"{"op":"save","time":\#(value()),"note":"n"}"#)
            let imported = try run(
                "import s.daybook -f debezium",
                input:
                    #"{"op":"c","after":{\#(values())},"source":{"table":"Thing","lsn":\#(value()),"#
                    + #""ts_ms":\#(value()),"ts_us":\#(value()),"txId":\#(value())}}"#)
            let attribute =
                ["int16", "double", "decimal", "date", "string"].randomElement(using: &generator)
                ?? ""
            let filter = value().replacing("\"", with: "'")
            let fetched = try run([
                "fetch", "s.daybook", "Thing", "--where", "\(attribute) <= \(filter)",
                "--limit", "9223372036854775807", "--offset", "1",
            ])

            for result in [record, imported, fetched] {
                #expect(isOrderly(result), "seed \(seed), \(result.status): \(result.talk)")
            }
        }
        for format in ["jsonl", "csv", "ocsf", "git", "syslog", "prov", "cloudevents", "debezium"] {
            let result = try run("export s.daybook -f \(format)")
            #expect(result.status == 0, "seed \(seed), \(format): \(result.talk)")
        }
        #expect(try run("verify s.daybook --quiet").status == 0, "seed \(seed)")
    }
}
