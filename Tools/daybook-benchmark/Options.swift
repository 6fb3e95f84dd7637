/// The amount of work in a round.
struct Scale: Sendable {
    let name: String
    let singleSaves: Int
    let concurrentSaves: Int
    let objects: Int
    let reads: Int
    let updates: Int
    let registered: Int
    let openingFew: Int
    let openingMany: Int
    let journal: Int
    let migrated: Int
    let largeBytes: Int
    let contacts: Contacts
    let revised: Contacts
    let readingOrder: [Int]

    static let names = ["tiny", "small", "full"]

    /// The scale with that name; nil for none.
    init?(_ name: String) {
        self.name = name
        switch name {
        case "tiny":
            (singleSaves, objects, reads, updates) = (5, 300, 200, 100)
            registered = 200
            (openingFew, openingMany) = (100, 1_000)
            (concurrentSaves, journal, migrated) = (16, 2_000, 2_000)
            largeBytes = 1_000_000
        case "small":
            (singleSaves, objects, reads, updates) = (200, 50_000, 50_000, 12_500)
            registered = 25_000
            (openingFew, openingMany) = (1_000, 20_000)
            (concurrentSaves, journal, migrated) = (800, 50_000, 100_000)
            largeBytes = 32_000_000
        case "full":
            (singleSaves, objects, reads, updates) = (2_000, 200_000, 200_000, 50_000)
            registered = 100_000
            (openingFew, openingMany) = (1_000, 100_000)
            (concurrentSaves, journal, migrated) = (8_000, 200_000, 1_000_000)
            largeBytes = 128_000_000
        default: return nil
        }
        contacts = Contacts(count: objects, revision: 0)
        revised = Contacts(count: updates, revision: 1)
        var generator = ReadingOrder(seed: 20)
        let objects = objects
        readingOrder = (0..<reads).map { _ in Int.random(in: 0..<objects, using: &generator) }
    }
}

/// The options of the command line.
struct Options: Sendable {
    var rounds = 5
    var scale: Scale
    var isJSON = false
    /// Whether stores of increasing length are measured instead of the workloads.
    var isScaling = false
    /// Whether merges into contexts of increasing size are measured instead of the workloads.
    var isMerging = false
    /// Whether only a list that follows saves is measured.
    var isWatching = false
    /// Whether questions are asked instead of running the workloads.
    var isQuestions = false
    /// The questions to ask, those about other shapes, and those about the past; all when none is named.
    var questions: [Question] = []
    var shapes: [Shape] = []
    var pastQuestions: [PastQuestion] = []
    /// Whether sums are worked out of the past.
    var asksForSums = false
    var asksAll: Bool {
        questions.isEmpty && shapes.isEmpty && pastQuestions.isEmpty && !asksForSums
    }
    /// Whether saves are measured with and without laws and indexes instead of the workloads.
    var isSaveCosts = false
    /// Whether all of these come after the workloads.
    var isEverything = false
    /// The counts of another run, to include in the report.
    var counts: Counts?
    /// The kind of time measured.
    var clock = Stopwatch.Clock.wall
    /// The name of the compiler in the report.
    var compiler: String?
    var jsonPath: String?
    var markdownPath: String?
    var chartPath: String?
    var showsHelp = false
    /// The contenders to run; all when empty.
    var peers: [String] = []
    /// The letter of the first workload to run, one that needs no other; all when nil.
    var first: String?
    /// The letter of the last workload to run; all when nil.
    var last: String?

    static let help = """
        USAGE: daybook-benchmark [--rounds N] [--scale tiny|small|full] [--json]
                                 [--only NAME] [--from LETTER] [--until LETTER]
                                 [--everything] [--counts FILE] [--processor-time]
                                 [--json-file FILE] [--markdown FILE] [--svg FILE]
               daybook-benchmark --scaling|--merging|--watching [--scale tiny|small|full] [--json]
               daybook-benchmark --questions [--question NAME] [--only NAME] [--rounds N]
                                 [--scale tiny|small|full] [--json]
               daybook-benchmark --save-costs [--only NAME] [--rounds N]
                                 [--scale tiny|small|full] [--json]

        Does the same work with Daybook, with LMDB by itself and with SQLite, in one process, and
        prints a table of medians, least and greatest figures, ratios, and what is asked of them.
        With --scaling, asks stores of Daybook's of 10,000, 100,000 and 1,000,000 changes (and with
        --scale full of 10,000,000) the same questions, and prints how long each takes. With
        --merging, merges the same save into contexts with more and more objects. With --watching,
        tells a list of many objects of saves. With --questions, asks Daybook and SQLite the same
        questions about the same objects, and about their past.
        With --save-costs, makes the same saves with and without laws and an index.

        'Tools/benchmark' builds it, runs all of it at full scale, and keeps what it prints.

        OPTIONS:
          --rounds N        how often everything is done (default 5)
          --scale SCALE     how much: tiny (to try it), small (the default) or full (200,000
                            objects, 50,000 updates)
          --scaling         measure how times grow with the length of a store
          --merging         measure whether merging grows with the size of a context
          --watching        measure what a list takes to follow a save
          --questions       measure how fast objects are found
          --save-costs      measure what laws and indexes cost a save
          --question NAME   ask only one of these, such as q3; may be repeated
          --everything      measure these, too, once, after the rounds
          --processor-time  measure what processors spend instead of what the clock shows, for
                            machines that are busy: waiting for the disk is not seen then
          --counts FILE     put into the report what 'daybook-counts' printed
          --compiler NAME   how the report names the compiler
          --json            print JSON instead of the table
          --json-file FILE  write JSON to a file
          --markdown FILE   write a table in Markdown to a file
          --svg FILE        write a chart of the ratios to SQLite to a file
          --only NAME       run one contender: 'Daybook', 'raw LMDB' or 'SQLite'; may be repeated
          --from LETTER     begin with a workload, such as d' or one from i on
          --until LETTER    stop after a workload, such as b
          --help            print this

        """

    /// Reads a command line.
    ///
    /// - Throws: ``UsageError`` with the mistake.
    init(_ words: [String]) throws {
        var rest = words[...]
        var scaleName = "small"
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": showsHelp = true
            case "--json": isJSON = true
            case "--scaling": isScaling = true
            case "--merging": isMerging = true
            case "--watching": isWatching = true
            case "--questions": isQuestions = true
            case "--save-costs": isSaveCosts = true
            case "--question":
                let names =
                    Question.allCases.map(\.rawValue) + Shape.allCases.map(\.rawValue)
                    + PastQuestion.allCases.map(\.rawValue) + [PastQuestions.sums]
                let name = try Self.value(of: word, &rest, among: names)
                questions += Question.allCases.filter { $0.rawValue == name }
                shapes += Shape.allCases.filter { $0.rawValue == name }
                pastQuestions += PastQuestion.allCases.filter { $0.rawValue == name }
                if name == PastQuestions.sums { asksForSums = true }
            case "--everything": isEverything = true
            case "--processor-time": clock = .processor
            case "--counts": counts = try Counts(path: Self.text(after: word, &rest))
            case "--compiler": compiler = try Self.text(after: word, &rest)
            case "--json-file": jsonPath = try Self.text(after: word, &rest)
            case "--markdown": markdownPath = try Self.text(after: word, &rest)
            case "--svg": chartPath = try Self.text(after: word, &rest)
            case "--rounds":
                guard let text = rest.popFirst(), let number = Int(text), number > 0 else {
                    throw UsageError("'--rounds' needs a whole number above 0.")
                }
                rounds = number
            case "--scale": scaleName = try Self.value(of: word, &rest, among: Scale.names)
            case "--only":
                peers.append(
                    try Self.value(
                        of: word, &rest,
                        among: [
                            DaybookContender.name, LMDBContender.name, SQLiteContender.name,
                        ]))
            case "--from":
                first = try Self.value(
                    of: word, &rest, among: ["d'", "d''", "i", "i'", "k", "l", "n", "t", "w"])
            case "--until":
                last = try Self.value(
                    of: word, &rest, among: Self.letters)
            default: throw UsageError("There is no option '\(word)'.")
            }
        }
        guard let scale = Scale(scaleName) else {
            throw UsageError("There is no scale '\(scaleName)'.")
        }
        self.scale = scale
    }

    private static let letters = [
        "a", "a8", "b", "b'", "f", "c", "c1", "c'", "c''", "h", "h'", "k", "k'", "d", "e",
        "d'", "d''", "f'",
        "g", "g'", "v", "r", "j", "i", "i'", "n", "l",
        "t", "t'", "t''", "w", "w'", "w''",
    ]

    private static func text(
        after option: String, _ rest: inout ArraySlice<String>
    ) throws -> String {
        guard let text = rest.popFirst(), !text.isEmpty else {
            throw UsageError("'\(option)' needs a value.")
        }
        return text
    }

    private static func value(
        of option: String, _ rest: inout ArraySlice<String>, among names: [String]
    ) throws -> String {
        guard let name = rest.popFirst(), names.contains(name) else {
            throw UsageError("'\(option)' needs one of: \(names.joined(separator: ", ")).")
        }
        return name
    }
}

/// A command line that is wrong.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
