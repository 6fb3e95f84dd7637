import Foundation

/// Runs every workload with every contender, in one process, round by round.
///
/// In each round the contenders take turns at each workload, with a different one first each time,
/// so that a temporary slowdown of the machine affects all of them. Every round has new files.
struct Benchmark {
    let options: Options
    private let contenders: [any Contender.Type] = [
        DaybookContender.self, LMDBContender.self, SQLiteContender.self,
    ]

    /// Measures everything.
    ///
    /// - Throws: ``WrongResult`` when a contender's result differs from its peers', and errors of
    ///   the libraries.
    func run() throws -> Report {
        let started = ContinuousClock.now
        let workloads = Self.workloads(options)
        var report = Report(options: options, contenders: chosen.map { $0.name })
        for workload in workloads { report.add(workload, by: chosen) }
        for round in 0..<options.rounds {
            let folder = try TemporaryFolder()
            defer { withExtendedLifetime(folder) {} }
            try runRound(round, in: folder.url, workloads, &report)
        }
        if options.isEverything { try addTheRest(to: &report) }
        report.seconds = Stopwatch.seconds(started.duration(to: .now))
        return report
    }

    private var chosen: [any Contender.Type] {
        options.peers.isEmpty
            ? contenders : contenders.filter { options.peers.contains($0.name) }
    }

    private func runRound(
        _ round: Int, in folder: URL, _ workloads: [any Workload], _ report: inout Report
    ) throws {
        var stages: [Stage] = []
        for (index, contender) in chosen.enumerated() {
            let own = folder.appendingPathComponent("\(index)", isDirectory: true)
            stages.append(try Stage(contender, in: own, options.scale))
        }
        for (turn, workload) in workloads.enumerated() {
            for step in stages.indices {
                let stage = stages[(step + round + turn) % stages.count]
                guard workload.concerns(stage.type) else { continue }
                let figure = try workload.measure(stage)
                report.record(figure, of: workload, by: stage.type.name)
            }
        }
        for stage in stages { try stage.contender.close() }
    }

    private static func workloads(_ options: Options) -> [any Workload] {
        let scale = options.scale
        let journal = SampleJournal(changes: scale.journal)
        let large = LargeSample(count: scale.largeBytes)
        let all: [any Workload] = [
            SingleSaves(count: scale.singleSaves),
            ConcurrentSaves(count: scale.concurrentSaves),
            BulkInsert(count: scale.objects),
            BatchInsert(count: scale.objects),
            DiskUse(letter: "f", moment: "after (b)"),
            PointReads(count: scale.reads, objects: scale.objects, manner: .together),
            PointReads(count: scale.reads, objects: scale.objects, manner: .each),
            WholeFetch(count: scale.objects, makesInstances: true),
            WholeFetch(count: scale.objects, makesInstances: false),
            Registry(letter: "h", count: scale.registered / 10),
            Registry(letter: "h'", count: scale.registered),
            RecordReads(manner: .random, count: scale.objects * 5),
            RecordReads(manner: .walk, count: scale.objects * 5),
            BulkUpdate(count: scale.updates, objects: scale.objects),
            UndoneSave(count: scale.updates),
            BatchChange(manner: .update, objects: scale.objects),
            BatchChange(manner: .delete, objects: scale.objects),
            DiskUse(letter: "f'", moment: "at the end"),
            Opening(letter: "g", changes: scale.openingFew),
            Opening(letter: "g'", changes: scale.openingMany),
            JournalWork(task: .verify, journal: journal),
            JournalWork(task: .replay, journal: journal),
            JournalWork(task: .export, journal: journal),
            Migrating(letter: "i", change: .attribute, count: scale.openingFew),
            Migrating(letter: "i'", change: .attribute, count: scale.migrated),
            Migrating(letter: "n", change: .index, count: scale.migrated),
            OlderRows(count: scale.objects),
            IdleOpening(count: scale.openingMany),
            IdleOpeningRatio(letter: "t'", manner: .policy, count: scale.openingMany),
            IdleOpeningRatio(letter: "t''", manner: .plan, count: scale.openingMany),
            LargeDataTransfer(manner: .write, sample: large),
            LargeDataTransfer(manner: .read, sample: large),
            LargeDataTransfer(manner: .writeAgainstFile, sample: large),
        ]
        let start = all.firstIndex { $0.letter == options.first } ?? 0
        let end = all.firstIndex { $0.letter == options.last } ?? all.count - 1
        return start <= end ? Array(all[start...end]) : []
    }

    /// The figures measured once, for Daybook alone.
    private func addTheRest(to report: inout Report) throws {
        try Questions(options).run(addingTo: &report)
        try PastQuestions(options).run(addingTo: &report)
        try Shapes(options).run(addingTo: &report)
        try SaveCosts(options).run(addingTo: &report)
        let scaling = try Scaling(scaleName: options.scale.name).run()
        let size = scaling.sizes.last ?? 0
        report.scaling = scaling
        report.add(
            "o", "open a store of \(size.grouped) changes", .seconds,
            .figure(0.050, aim: 0.005), scaling.samples(of: .opening).map { $0 / 1e6 })
        let now = Report.Series.median(scaling.samples(of: .pointRead))
        report.add(
            "p", "as-of read there against current read", .times, .figure(1.5, aim: 1.2),
            [Report.Series.median(scaling.samples(of: .pastRead)) / now])

        let merging = try Merging(scaleName: options.scale.name).run()
        report.merging = merging
        let sizes = (merging.sizes.first ?? 0, merging.sizes.last ?? 0)
        report.add(
            "m",
            "merge of \(merging.changes) changes with \(sizes.1.grouped) objects against "
                + "\(sizes.0.grouped)",
            .times, .figure(2, aim: 1.2), [merging.ratios.last ?? .nan])

        let watching = Watching(scaleName: options.scale.name)
        let watched = try watching.run()
        report.add(
            "q",
            "a list of \(watching.count.grouped) told of a save of \(Watching.changes), beside the merge",
            .seconds, .figure(0.000_1), watched.following)
        report.add(
            "q'", "the same against fetching the list", .times, .figure(0.01), [watched.ratio])
        report.add(
            "q''", "another process's save, until a loop that follows the store has the entry",
            .seconds,
            .figure(0.005), try Waking(scaleName: options.scale.name).run())

        guard let counts = options.counts else { return }
        report.counts = counts
        report.add(
            "x", "memory of a fault", .bytesEach, .figure(250, aim: 120), [counts.bytesOfFault])
        report.add(
            "y", "memory of an object of five attributes", .bytesEach, .figure(600, aim: 350),
            [counts.bytesOfObject])
    }
}

/// One contender in one round: its store, its data, and folders for more stores.
final class Stage {
    let type: any Contender.Type
    let contender: any Contender
    let folder: URL
    /// The objects to insert.
    let contacts: Contacts
    /// The first of them, changed.
    let revised: Contacts
    /// The order in which objects are read.
    let readingOrder: [Int]

    init(_ type: any Contender.Type, in folder: URL, _ scale: Scale) throws {
        self.type = type
        self.folder = folder
        contacts = scale.contacts
        revised = scale.revised
        readingOrder = scale.readingOrder
        contender = try type.init(in: Stage.makeFolder("main", in: folder))
    }

    /// An empty folder for another store.
    func makeFolder(_ name: String) throws -> URL {
        try Self.makeFolder(name, in: folder)
    }

    /// The location of the main store.
    var mainFolder: URL { folder.appendingPathComponent("main", isDirectory: true) }

    /// Throws when a result is wrong.
    func expect(_ expected: Int, _ what: String, _ found: Int) throws {
        guard expected == found else {
            throw WrongResult(type.name, what, expected: expected, found: found)
        }
    }

    private static func makeFolder(_ name: String, in parent: URL) throws -> URL {
        let folder = parent.appendingPathComponent(name, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

/// A folder that goes away with its last user.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("daybook-benchmark-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            FileHandle.standardError.write(
                Data("The folder \(url.path) could not be removed: \(error)\n".utf8))
        }
    }
}
