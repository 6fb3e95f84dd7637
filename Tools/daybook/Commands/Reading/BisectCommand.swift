import CDaybookTerminal
import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// `daybook bisect STORE`: the entry at which the answer to a question turns.
struct BisectCommand: Command {
    private let store = Positional("STORE", .path, "The store to read.")
    private let subject = OptionalPositional(
        "ENTITY|OBJECT", .subject, "The entity or object that --where is about.")
    private let filter = Option(
        "--where", short: "-w", "P", .text, "The predicate to test.")
    private let count = Option(
        "--count", short: "-c", "N", .count,
        "Ask for at least N objects that satisfy it; 1 by default.")
    private let first = Option(
        "--from", or: "--since", "SEQ|TIME", .moment,
        "Begin at this state; by default before all data.")
    private let last = Option(
        "--to", or: "--until", "SEQ|TIME", .moment,
        "End at this state; by default the newest.")
    private let program = Option(
        "--run", "COMMAND", .text, "Let this shell command decide, entry by entry.")

    var declaration: CommandDeclaration {
        CommandDeclaration(
            "bisect", in: .past,
            summary: "Find the entry at which the answer to a question turns.",
            discussion: """
                The question is whether any object of ENTITY, or OBJECT, satisfies P. It is
                tested at --from and --to and at a few states in between, a dozen for thousands
                of entries, and the result is the entry at which the answer at --from became
                that at --to. If the answer turns more than once in between, one of the turns is
                found.

                With --run no predicate is needed. The command is run with a sequence number as
                its last argument and in DAYBOOK_ENTRY, and with the store in DAYBOOK_STORE. As
                with git, 0 means not yet, 125 that this entry cannot be judged, and any other
                code up to 124 yes; its output goes to standard error. 126 and 127, with which a
                shell reports that it cannot run the command, end the search.
                """,
            arguments: [store, subject, filter, count, first, last, program],
            examples: [
                .init(
                    "daybook bisect iso.daybook Country --where \"name == 'Czechia'\"",
                    "The entry that introduced the name"),
                .init(
                    "daybook bisect iso.daybook Country --where TRUEPREDICATE --count 200",
                    "The entry that made it two hundred countries"),
                .init(
                    "daybook bisect iso.daybook --run ./no-duplicates",
                    "The first entry that a program finds wrong"),
            ],
            endings: [
                .init(.success, "The entry was found."),
                .init(.finding, "The answer is the same at both ends, or too few can be judged."),
                .init(.usage), .init(.unreadable),
            ])
    }

    func run(_ arguments: ParsedArguments, _ console: Console) throws -> ExitCode {
        let store = try StoreReading.open(arguments[store])
        let head = try store.head()
        let older =
            try arguments[first].map { try StoreReading.sequence(of: $0, in: store) }
            ?? min(SequenceNumber(1), head)
        let newer = try arguments[last].map { try StoreReading.sequence(of: $0, in: store) } ?? head
        guard older <= newer else {
            throw ToolError.usage("'--to' is entry \(newer), which is before entry \(older).")
        }
        let question = try question(arguments, store)
        var bisection = Bisection(question.ask)
        let outcome = try bisection.run(from: older, to: newer)
        let states = newer.rawValue - older.rawValue + 1
        let effort = "Looked at \(bisection.count) of \(states) states."
        switch outcome {
        case .turn(let sequence, let answer):
            let record = try AuditReader(store).record(at: sequence)
            try ShowCommand().print(record, on: console)
            try console.talk("From entry \(sequence) on, \(question.text(answer)). \(effort)")
            return .success
        case .noTurn(let answer):
            try console.talk(
                "At entry \(older) as at entry \(newer), \(question.text(answer)). \(effort)")
        case .turnWithin(let range, let answer):
            try console.talk(
                "From one of the entries \(range.lowerBound) to \(range.upperBound) on, "
                    + "\(question.text(answer)); the others cannot be judged. \(effort)")
        case .unknownEnd(let sequence):
            try console.talk("Entry \(sequence), at an end, cannot be judged. \(effort)")
        }
        return .finding
    }

    private func question(_ arguments: ParsedArguments, _ store: Store) throws -> Question {
        if let command = arguments[program] {
            guard arguments[subject] == nil, arguments[filter] == nil, arguments[count] == nil
            else {
                throw ToolError.usage(
                    "With '--run' the command asks; leave ENTITY, '--where' and '--count' out.")
            }
            return .program(JudgingProgram(command: command, store: store.path))
        }
        guard let subject = arguments[subject] else {
            throw ToolError.usage(
                "ENTITY|OBJECT is missing: the entity or object that --where is about.")
        }
        guard let text = arguments[filter] else {
            throw ToolError.usage("--where P is missing: the predicate.")
        }
        switch subject {
        case .entity(let name):
            let entity = try StoreReading.entity(name, in: store.schema)
            var query = Query(
                entity, filter: try StoreReading.filter(text, for: entity, in: store.schema))
            let least = arguments[count] ?? 1
            guard least > 0 else { throw ToolError.usage("'--count' must be 1 or more.") }
            query.limit = least
            return .query(query, store, least: least)
        case .object(let name):
            guard arguments[count] == nil else {
                throw ToolError.usage("'--count' is for an entity; '\(name.objectText)' is one.")
            }
            let entity = try StoreReading.entity(name.entity, in: store.schema)
            return .object(
                try StoreReading.object(name, in: store.schema), name.objectText,
                try StoreReading.filter(text, for: entity, in: store.schema), store)
        }
    }
}

/// The question about each state.
private enum Question {
    case query(Query, Store, least: Int)
    case object(ObjectID, String, Filter, Store)
    case program(JudgingProgram)

    func ask(_ sequence: SequenceNumber) throws -> Bisection.Answer {
        switch self {
        case .query(let query, let store, let least):
            let count = try store.read(at: sequence) { try $0.fetch(query).count }
            return count >= least ? .yes : .no
        case .object(let object, _, let filter, let store):
            return try store.read(at: sequence) { snapshot in
                try snapshot.exists(object) && filter.matches(object, in: snapshot) ? .yes : .no
            }
        case .program(let program): return try program.judge(sequence)
        }
    }

    /// The answer as the rest of a sentence.
    func text(_ answer: Bisection.Answer) -> String {
        let isSo = answer == .yes
        switch self {
        case .query(let query, _, let least):
            let name = query.entity.name
            if least == 1 { return "\(isSo ? "an" : "no") object of '\(name)' satisfies it" }
            return "\(isSo ? "at least" : "fewer than") \(least) objects of '\(name)' satisfy it"
        case .object(_, let name, _, _):
            return isSo ? "'\(name)' satisfies it" : "'\(name)' does not satisfy it"
        case .program: return isSo ? "the command says that it is so" : "the command says not yet"
        }
    }
}

/// A command of the shell that judges states, with the exit codes of `git bisect run`.
private struct JudgingProgram {
    let command: String
    let store: String

    private static let unknownCode: Int32 = 125
    /// The codes of a shell for a command that is missing or not executable.
    private static let unusableCodes: ClosedRange<Int32> = 126...127

    func judge(_ sequence: SequenceNumber) throws -> Bisection.Answer {
        setenv("DAYBOOK_ENTRY", "\(sequence)", 1)
        setenv("DAYBOOK_STORE", store, 1)
        let failure = "The command cannot be started"
        try SystemCall.setProgram(
            ["/bin/sh", "-c", command + " \"$@\"", "daybook-bisect", "\(sequence)"], failure)
        // Standard output is reserved for the entry found.
        let ending = terminal_program_run(TERMINAL_TALK)
        guard ending.error == 0 else { throw ToolError.system(failure, ending.error) }
        guard ending.signal == 0 else { throw unfit("signal \(ending.signal)", sequence) }
        guard !Self.unusableCodes.contains(ending.code) else {
            throw ToolError.usage(
                "The command cannot be run: it ended at entry \(sequence) with code "
                    + "\(ending.code).")
        }
        guard ending.code <= Self.unknownCode else {
            throw unfit("code \(ending.code)", sequence)
        }
        switch ending.code {
        case 0: return .no
        case Self.unknownCode: return .unknown
        default: return .yes
        }
    }

    private func unfit(_ ending: String, _ sequence: SequenceNumber) -> ToolError {
        .usage(
            "The command ended at entry \(sequence) with \(ending). It must end with a code from 0 "
                + "to 125.")
    }
}
