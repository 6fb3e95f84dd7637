import Daybook
import DaybookJournalLog
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import Foundation

/// What is measured of stores that are shared through PostgreSQL; the letters are those of the table.
struct Measurements {
    let rounds: Int
    let saves: Int

    /// One line of the table.
    struct Line {
        let work: String
        let figure: String
        let peer: String
        let ratio: String
        let asked: String
    }

    func run(_ tell: (Line) -> Void) throws {
        tell(try contexts(1, "one context"))
        tell(try contexts(16, "16 contexts in one process, 16 streams of the engine"))
        for line in try processes() { tell(line) }
        tell(try catchingUp())
        for line in try merging() { tell(line) }
        if let line = try outage() { tell(line) }
    }

    // MARK: - Saving

    /// Saves of one object each, in one process; the engine on as many connections, each with a store of its own.
    private func contexts(_ count: Int, _ work: String) throws -> Line {
        let total = saves * (count > 1 ? 8 : 1)
        let node = try Node(of: try FreshStore().name)
        let engines = try (0..<count).map { _ in try Engine(store: try FreshStore().name) }
        try node.save(count, contexts: count)
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            ours.append(Double(total) / (try seconds { try node.save(total, contexts: count) }))
            let entries = engines.map { $0.makeEntries(total / count) }
            let failures = Failures()
            let work = Work(engines, entries)
            let time = seconds {
                onThreads(count) { number in
                    do { try work.append(number) } catch { failures.add(error) }
                }
            }
            try failures.throwFirst()
            theirs.append(Double(total) / time)
        }
        try node.close()
        return line(work, ours, theirs, asked: "≥ 0.9")
    }

    /// Four processes with four contexts each, on one store; the engine on one connection.
    private func processes() throws -> [Line] {
        let count = saves * 2
        let name = try FreshStore().name
        let engine = try Engine(store: try FreshStore().name)
        var (ours, theirs, slowest): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<rounds {
            let children = try (0..<4).map { _ in try Child([Node.word, name, "\(count)", "4"]) }
            for child in children { _ = try child.line() }
            let time = try seconds {
                for child in children { try child.go() }
                let times = try children.map { Double(try $0.line()) ?? .infinity }
                slowest.append(times.reduce(0, +) / 4 / (times.max() ?? .infinity))
            }
            ours.append(Double(4 * count) / time)
            for child in children { child.wait() }
            let entries = engine.makeEntries(count)
            theirs.append(Double(count) / (try seconds { try engine.append(entries) }))
        }
        return [
            line("4 processes with 4 contexts each, one store", ours, theirs, asked: "≥ 0.9"),
            Line(
                work: "the slowest of these processes, to the mean", figure: text(median(slowest)),
                peer: "", ratio: "", asked: "≥ 0.5"),
        ]
    }

    private func line(_ work: String, _ ours: [Double], _ theirs: [Double], asked: String) -> Line {
        Line(
            work: work, figure: "\(Int(median(ours)))/s", peer: "\(Int(median(theirs)))/s",
            ratio: text(median(zip(ours, theirs).map(/))), asked: asked)
    }

    // MARK: - Hearing of others

    /// A copy made of a store of many entries, against its tables rebuilt.
    private func catchingUp() throws -> Line {
        let count = saves * 100
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("daybook-shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("source.daybook")
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        let container = try PersistentContainer(url, model: [Contact.self], options: options)
        let context = container.newBackgroundContext()
        for number in 0..<count {
            try context.performAndWait { () throws in
                Contact(context: context).fill(number)
                try context.save()
            }
        }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        let source = try Store.open(at: url.path)
        let name = "benchmark-\(UUID().uuidString)"
        _ = try PostgresSchema.addStore(
            name, StoreIdentity(uuid: source.uuid, createdAt: source.createdAt),
            numbers: try source.reservedNumbers(), roles: ("ledger_readers", "ledger_writers"),
            on: try ServerDescription("service=ledger-owner"))
        let place = try SharedPlace(servers: "service=ledger", store: name)
        try source.push(to: place.link())
        try source.close()
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0..<rounds {
            let copy = folder.appendingPathComponent("copy\(round).daybook").path
            ours.append(
                Double(count)
                    / (try seconds { try Store.clone(from: place.link(), into: copy).close() }))
            let store = try Store.open(at: url.path)
            theirs.append(Double(count) / (try seconds { try store.rebuild() }))
            try store.close()
        }
        try FileManager.default.removeItem(at: folder)
        return line(
            "catching up with \(count) entries of one change; peer: tables rebuilt", ours, theirs,
            asked: "≥ 0.5, 30,000/s")
    }

    /// From the beginning of a save until a loop that follows another machine's copy has the entry.
    private func merging() throws -> [Line] {
        let name = try FreshStore().name
        let (ada, ben) = (try Node(of: name), try Node(of: name))
        let context = ada.container.newBackgroundContext()
        let count = saves
        let follower = ben.store
        let times = try waiting {
            var entries = try follower.changes(since: .head).makeAsyncIterator()
            var times: [Double] = []
            for number in 0..<count {
                let start = ContinuousClock.now
                try await context.perform {
                    Contact(context: context).fill(number)
                    try context.save()
                }
                _ = try await entries.next()
                times.append((.now - start) / Duration.milliseconds(1))
            }
            return times
        }
        try ada.close()
        try ben.close()
        let sorted = times.sorted()
        func at(_ part: Double) -> String {
            text(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]) + " ms"
        }
        return [
            Line(
                work: "save until another copy's follower has it, p50", figure: at(0.5), peer: "",
                ratio: "", asked: "≤ 3 ms"),
            Line(work: "the same, p99", figure: at(0.99), peer: "", ratio: "", asked: "≤ 15 ms"),
        ]
    }

    /// The longest time without a save while the servers fail over; nil where nobody says how they do.
    private func outage() throws -> Line? {
        let environment = ProcessInfo.processInfo.environment
        guard let command = environment["DAYBOOK_CLUSTER"] else { return nil }
        let node = try Node(of: try FreshStore().name)
        let context = node.container.newBackgroundContext()
        let failOver = Process()
        failOver.executableURL = URL(filePath: "/bin/sh")
        failOver.arguments = ["-c", "\(command) failover >/dev/null"]
        var (number, longest, last) = (0, Duration.zero, ContinuousClock.now)
        var remaining = 200
        while remaining > 0 {
            number += 1
            if number == 200 { try failOver.run() }
            try context.performAndWait { () throws in
                Contact(context: context).fill(number)
                try context.save()
            }
            let now = ContinuousClock.now
            if number >= 200 { longest = max(longest, now - last) }
            last = now
            if number > 200, !failOver.isRunning { remaining -= 1 }
        }
        try node.close()
        return Line(
            work: "longest time between two saves during a fail-over",
            figure: text(longest / Duration.seconds(1)) + " s", peer: "", ratio: "", asked: "≤ 1 s")
    }

    // MARK: - Details

    private func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try body()
        return (.now - start) / Duration.seconds(1)
    }

    private func median(_ figures: [Double]) -> Double { figures.sorted()[figures.count / 2] }

    private func text(_ figure: Double) -> String { String(format: "%.2f", figure) }
}

/// What the connections of the engine append, each on a thread of its own.
private final class Work: @unchecked Sendable {
    // @unchecked Sendable because each number is taken by one thread.
    private let engines: [Engine]
    private let entries: [[JournalEntry]]

    init(_ engines: [Engine], _ entries: [[JournalEntry]]) {
        self.engines = engines
        self.entries = entries
    }

    func append(_ number: Int) throws { try engines[number].append(entries[number]) }
}
