import DaybookJournalLog
import DaybookPostgres
import DaybookSnapshotStore

/// `daybook doctor STORE`: examines the servers of a shared store, and compares every entry on both sides.
struct DoctorCommand: Command {
    private let store = Positional(
        "STORE", .text, "The copy; or the place of a shared store, to look at its servers only.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "doctor", in: .prove,
            summary: "Examine the servers of a shared store, and every entry.",
            discussion: """
                Looks at each server that the service names: whether it answers, leads or follows,
                how its clock stands, whether the connection is encrypted, and whether a standby
                confirms what the leader writes. Compares tables, functions, triggers and rights
                with what 'daybook schema' installs. Then reads every entry, works out its digest
                anew, and compares it with the copy: an entry that somebody with all rights has
                changed on the servers is found and named. So are large data that an entry refers
                to. Nothing is changed.
                """,
            arguments: [store],
            examples: [
                .init("daybook doctor iso.daybook", "Look at the servers and at every entry"),
                .init(
                    "daybook doctor 'postgresql:service=ledger?store=iso'",
                    "Look at the servers before there is a copy"),
            ],
            endings: [
                .init(.success, "Nothing is wrong; there may be remarks."),
                .init(.finding, "Something is wrong, and is named."), .init(.usage),
                .init(.unreadable), .init(.unreachable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let name = arguments[store]
        if name.hasPrefix("postgresql:") {
            let servers = PostgresExamination(of: try SharedStores.place(name))
            return try report(servers, nil, on: console)
        }
        guard let file = try SharedStores.file(name) else {
            throw ToolError.usage(
                "'\(name)' is a store of its own, and not linked to a shared one.")
        }
        let servers = PostgresExamination(of: try SharedPlace(parsing: file.place))
        guard servers.isReached else { return try report(servers, nil, on: console) }
        // A copy that has gone another way is opened all the same.
        let store = try SharedStores.open(name)
        defer { store.closeQuietly() }
        let progress = console.progress(
            "Comparing entries", of: Int(clamping: try store.head().rawValue))
        let comparison = try store.compareWithShared { progress.reach(Int(clamping: $0)) }
        progress.finish()
        return try report(servers, comparison, on: console)
    }

    private func report(
        _ servers: PostgresExamination, _ comparison: SharedComparison?, on console: Console
    ) throws -> ExitCode {
        var lines = servers.findings.map { Line($0.subject.rawValue, $0.weight, $0.text) }
        if let comparison { lines += Self.lines(of: comparison) }
        try tell(lines, console)
        guard servers.isReached else { return .unreachable }
        return lines.contains { $0.weight == .fault } ? .finding : .success
    }

    private struct Line {
        let subject: String
        let weight: PostgresFinding.Weight
        let text: String

        init(_ subject: String, _ weight: PostgresFinding.Weight, _ text: String) {
            self.subject = subject
            self.weight = weight
            self.text = text
        }
    }

    private static func lines(of comparison: SharedComparison) -> [Line] {
        guard comparison.differences.isEmpty else {
            return comparison.differences.map { Line("entries", .fault, text(of: $0)) }
        }
        let missing =
            comparison.missing == 0
            ? "" : " The copy lacks the last \(comparison.missing), which 'daybook pull' brings."
        return [
            Line(
                "entries", comparison.missing == 0 ? .sound : .remark,
                "\(comparison.entries) entries have the digests and bytes of the copy.\(missing)")
        ]
    }

    private static func text(of difference: SharedComparison.Difference) -> String {
        let who = difference.login.map { ", appended by '\($0)'," } ?? ""
        return switch difference.kind {
        case .changedOnServers:
            "Entry \(difference.sequence)\(who) was changed on the servers: its digest is another one. Have "
                + "the owner put it back from a copy."
        case .otherInFile:
            "Entry \(difference.sequence)\(who) is another one in the copy. Look at both with 'daybook log'; "
                + "'daybook pull --rewind' takes the copy back."
        case .missingOnServers:
            "Entry \(difference.sequence) and what follows is in the copy only: the servers were put back. "
                + "'daybook pull --rewind' keeps it in a file and takes it off."
        case .dataOnServers:
            "Large data of entry \(difference.sequence)\(who) are missing or changed on the servers: no new copy "
                + "can be made. Have the owner put them back from a copy."
        }
    }

    private func tell(_ lines: [Line], _ console: Console) throws {
        let objects: [JSONText] = lines.map { line in
            .object([
                .init("subject", .string(line.subject)),
                .init("weight", .string(word(line.weight))), .init("text", .string(line.text)),
            ])
        }
        switch console.format {
        case .text: break
        case .json: return try console.print(.array(objects) as JSONText)
        case .jsonl:
            for object in objects { try console.print(object) }
            return
        }
        for line in lines {
            let style: Style =
                switch line.weight {
                case .sound: .added
                case .remark: .changed
                case .fault: .failure
                }
            let word = word(line.weight)
            let first = console.palette(word, style) + String(repeating: " ", count: 8 - word.count)
            let subject = line.subject + String(repeating: " ", count: 12 - line.subject.count)
            try console.print(first + subject + DisplayText.escaped(line.text))
        }
    }

    private func word(_ weight: PostgresFinding.Weight) -> String {
        switch weight {
        case .sound: "ok"
        case .remark: "note"
        case .fault: "fault"
        }
    }
}
