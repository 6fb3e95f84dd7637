import DaybookTestSupport
import Foundation
import Testing

/// How the runs are made: from the environment, or so that all of them take about two minutes.
struct SimulationPlan {
    let seeds: [UInt64]
    let steps: Int
    /// The numbers of the only steps to take; nil for all.
    let kept: Set<Int>?
    /// How many shorter runs are tried to make a failing one short.
    let shrinkingRuns: Int
    /// Whether every step is printed as it is taken.
    let isTracing: Bool
    /// Whether somebody has chosen which steps to take; then nothing is asked of what they happen to be.
    let isChosen: Bool

    init() {
        let environment = ProcessInfo.processInfo.environment
        func number(_ name: String) -> Int? {
            environment["DAYBOOK_SIMULATION_\(name)"].flatMap { Int($0) }
        }
        steps = number("STEPS") ?? 250
        shrinkingRuns = number("SHRINKING_RUNS") ?? 400
        isTracing = environment["DAYBOOK_SIMULATION_TRACE"] != nil
        kept = environment["DAYBOOK_SIMULATION_KEPT"].map { text in
            Set(text.split(separator: ",").compactMap { Int($0) })
        }
        let chosen = (environment["DAYBOOK_SIMULATION_SEED"] ?? "").split(separator: ",").compactMap
        { UInt64($0) }
        isChosen = !chosen.isEmpty || number("STEPS") != nil || kept != nil
        let count = UInt64(max(number("SEEDS") ?? (chosen.isEmpty ? 412 : 1), 1))
        seeds = (chosen.isEmpty ? [1] : chosen).flatMap { $0..<$0 + count }
    }

    func run(seed: UInt64) -> [SimulationStep] {
        var generator = SeededGenerator(seed: seed)
        let contexts = SimulationShape(seed: seed).contexts.count
        let all = (1...max(steps, kept?.max() ?? 1)).map { number in
            SimulationStep.random(number, contexts: contexts, &generator)
        }
        return kept.map { kept in all.filter { kept.contains($0.number) } } ?? all
    }
}

/// How one run ended.
struct SimulationOutcome {
    var failure: String?
    var executed = 0
    var log: [String] = []
    var counts: [String: Int] = [:]

    /// What failed and of which property, without the objects and values it failed with.
    var kind: String? {
        failure.map { failure in
            failure.replacing(/"[^"]*"/, with: "")
                .replacing(/(?:DaybookObjectModel\.)?ObjectID\(.*?\), number: \d+\)/, with: "")
                .prefix { $0 != "," }.filter { $0.isLetter || $0 == " " || $0 == "." }
        }
    }

    init(_ steps: [SimulationStep], seed: UInt64, isTracing: Bool = false) {
        do {
            let simulation = try Simulation(SimulationShape(seed: seed))
            defer {
                log = simulation.log
                counts = simulation.counts
            }
            var printed = 0
            for step in steps {
                executed += 1
                if isTracing { print("seed \(seed): \(step)") }
                defer {
                    if isTracing {
                        for line in simulation.log[printed...] { print(line) }
                        printed = simulation.log.count
                    }
                }
                try simulation.run(step)
            }
        } catch {
            failure = "\(error)"
        }
    }

    /// Leaves out steps as long as the run still fails with a law of the same kind.
    static func shrink(
        _ steps: [SimulationStep], seed: UInt64, runs: Int
    ) -> [SimulationStep] {
        let kind = SimulationOutcome(steps, seed: seed).kind
        var steps = steps
        var size = max(steps.count / 2, 1)
        var left = runs
        while left > 0 {
            var start = 0
            var isShorter = false
            while start < steps.count, left > 0 {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                left -= 1
                let outcome = SimulationOutcome(fewer, seed: seed)
                if outcome.kind == kind {
                    steps = Array(fewer.prefix(outcome.executed))
                    isShorter = true
                } else {
                    start += size
                }
            }
            if size == 1 && !isShorter { break }
            size = max(size / 2, 1)
        }
        return steps
    }
}

@Suite struct SimulationTests {
    @Test func `F107 every context agrees with the reference after every step`() {
        let plan = SimulationPlan()
        var counts: [String: Int] = [:]
        var steps = 0
        for seed in plan.seeds {
            let all = plan.run(seed: seed)
            let outcome = SimulationOutcome(all, seed: seed, isTracing: plan.isTracing)
            steps += outcome.executed
            counts.merge(outcome.counts) { $0 + $1 }
            guard let failure = outcome.failure else { continue }
            let shortest = SimulationOutcome.shrink(
                Array(all.prefix(outcome.executed)), seed: seed, runs: plan.shrinkingRuns)
            let last = SimulationOutcome(shortest, seed: seed)
            Issue.record(
                Self.readable(
                    """
                    Seed \(seed), step \(outcome.executed): \(failure)
                    The shortest run, \(shortest.count) steps \
                    (DAYBOOK_SIMULATION_KEPT=\(shortest.map { "\($0.number)" }.joined(separator: ","))): \
                    \(last.failure ?? "does not fail")
                    Contexts: \(SimulationShape(seed: seed))
                    \(last.log.joined(separator: "\n"))
                    """))
        }
        CountedWork.add(steps, "steps")
        let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print(
            "Simulation: \(plan.seeds.count) seeds, \(steps) steps: \(kinds.joined(separator: ", "))"
        )
        #expect(plan.isChosen || counts["save by error", default: 0] > 0)
    }

    /// A text with the names of objects as the command writes them: `Person/12`.
    private static func readable(_ text: String) -> Comment {
        let identifier =
            /(?:DaybookObjectModel\.)?ObjectID\(entity: .*?rawValue: (\d+)\), number: (\d+)\)/
        let entities = ["?"] + Office.entities.sorted()
        return Comment(
            rawValue: text.replacing(identifier) { match in
                let number = Int(match.1) ?? 0
                let name = entities.indices.contains(number) ? entities[number] : "?"
                return "\(name)/\(match.2)"
            })
    }
}
