import DaybookTestSupport
import Foundation
import Testing

/// A stream exported from the atlas, and a new store of the same model, `copy.daybook`.
struct ImportStory {
    private let atlas: AtlasStore
    /// The stream.
    let stream: Data

    init(exportingAs format: String) throws {
        atlas = try AtlasStore()
        stream = try atlas.run("export STORE -f \(format)").output
        let model = try atlas.run("model STORE")
        try model.output.write(to: atlas.folder.url.appending(path: "model.json"))
        let made = try atlas.run("init copy.daybook --model model.json")
        try #require(made.status == 0, "\(made.talk)")
    }

    /// Runs the tool; its standard input is the stream unless another input is given.
    func run(_ line: String, input: Data? = nil) throws -> ToolResult {
        try atlas.run(line, input: input ?? stream)
    }

    /// The number of the last entry of the copy.
    func head() throws -> Int {
        let log = try run("log copy.daybook --output jsonl")
        return log.lines.count
    }
}

/// An empty store with the model of a shop, `shop.daybook`.
struct ImportShop {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        let model = """
            {"entities":[
             {"name":"Customer","attributes":[
               {"name":"email","type":"string","optional":false,"unique":true},
               {"name":"since","type":"date"},
               {"name":"credit","type":"decimal"},
               {"name":"active","type":"bool"}]},
             {"name":"Order","attributes":[
               {"name":"number","type":"int64","optional":false,"unique":true}],
              "relationships":[{"name":"customer","destination":"Customer"}]},
             {"name":"Remark","attributes":[{"name":"text","type":"string"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        let made = try run("init shop.daybook --model model.json")
        try #require(made.status == 0, "\(made.talk)")
    }

    /// Runs the tool.
    func run(_ line: String, input: String = "") throws -> ToolResult {
        try Tool.run(
            line.split(separator: " ").map(String.init), input: Data(input.utf8), in: folder.url)
    }

    /// Imports envelopes.
    func importing(_ input: String, _ options: String = "") throws -> ToolResult {
        try run("import shop.daybook -f debezium \(options)", input: input)
    }

    /// A customer of the initial state of a stream.
    func state(of email: String) -> String {
        envelope("r", before: "null", after: #"{"email":"\#(email)"}"#, at: 100)
    }

    /// A new customer.
    func insert(_ email: String, at place: Int) -> String {
        envelope(
            "c", before: "null", after: #"{"email":"\#(email)","credit":"5"}"#, at: place)
    }

    /// A customer whose credit changes.
    func update(_ email: String, credit old: String, to new: String, at place: Int) -> String {
        envelope(
            "u", before: #"{"email":"\#(email)","credit":"\#(old)"}"#,
            after: #"{"email":"\#(email)","credit":"\#(new)"}"#, at: place)
    }

    private func envelope(
        _ op: String, before: String, after: String, at place: Int
    ) -> String {
        #"{"before":\#(before),"after":\#(after),"source":{"name":"shop","db":"shop","#
            + #""table":"Customer","ts_ms":1700000000000,"lsn":\#(place)},"op":"\#(op)"}"#
    }
}

/// The envelopes of an export, step by step, for comparing two stores whose objects have different
/// names.
struct EnvelopeSteps {
    private struct Event {
        let operation: String
        let table: String
        let time: Int
        let before: [String: Any]?
        let after: [String: Any]?
    }

    private var steps: [[Event]] = []

    var count: Int { steps.count }

    init(_ lines: [String]) throws {
        var last: Int?
        for line in lines {
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let source = try #require(json["source"] as? [String: Any])
            let event = Event(
                operation: try #require(json["op"] as? String),
                table: try #require(source["table"] as? String),
                time: try #require(source["ts_us"] as? Int),
                before: json["before"] as? [String: Any], after: json["after"] as? [String: Any])
            let step = try #require(source["txId"] as? Int)
            if step != last { steps.append([]) }
            last = step
            steps[steps.count - 1].append(event)
        }
    }

    /// The names of this store's objects in another store with the same history: the inserts of a
    /// step are in the same order in both.
    func names(of other: EnvelopeSteps) -> [String: String] {
        var names: [String: String] = [:]
        for (own, others) in zip(steps, other.steps) {
            let pairs = zip(
                own.filter { $0.operation == "c" }, others.filter { $0.operation == "c" })
            for (event, other) in pairs {
                guard let name = event.after?["_id"] as? String else { continue }
                names[name] = other.after?["_id"] as? String
            }
        }
        return names
    }

    /// The events of each step as text, with other names for the objects, in a fixed order.
    func comparable(calling names: [String: String] = [:]) -> [[String]] {
        steps.map { step in
            step.map { event in
                "\(event.operation) \(event.table) \(event.time)"
                    + " \(text(event.before, names)) \(text(event.after, names))"
            }.sorted()
        }
    }

    private func text(_ row: [String: Any]?, _ names: [String: String]) -> String {
        guard let row else { return "nothing" }
        return row.sorted { $0.key < $1.key }.map { name, value in
            switch value {
            case let list as [String]:
                let members = list.map { names[$0] ?? $0 }
                let isOrdered = ["board", "tasks"].contains(name)
                return "\(name)=\(isOrdered ? members : members.sorted())"
            case let text as String: return "\(name)=\(names[text] ?? text)"
            case let object as [String: Any]:
                return "\(name)=\(object.sorted { $0.key < $1.key })"
            default: return "\(name)=\(value)"
            }
        }.joined(separator: ", ")
    }
}
