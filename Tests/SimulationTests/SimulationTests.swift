import Foundation
import TestSupport
import Testing

/// How a run is made: from the environment, or so that all runs take about half a minute.
struct SimulationPlan {
    let seeds: [UInt64]
    let steps: Int

    init() {
        let environment = ProcessInfo.processInfo.environment
        steps = environment["DAYBOOK_SIMULATION_STEPS"].flatMap { Int($0) } ?? 250
        if let seed = environment["DAYBOOK_SIMULATION_SEED"].flatMap({ UInt64($0) }) {
            seeds = [seed]
        } else {
            let count = environment["DAYBOOK_SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 40
            seeds = Array(1...max(count, 1))
        }
    }

    static func steps(_ count: Int, seed: UInt64) -> (contexts: Int, steps: [SimulationStep]) {
        var generator = SeededGenerator(seed: seed)
        let contexts = Int.random(in: 2...4, using: &generator)
        let steps = (0..<count).map { _ in
            SimulationStep.random(contexts: contexts, &generator)
        }
        return (contexts, steps)
    }
}

/// How one run ended.
struct SimulationOutcome {
    var failure: String?
    var executed = 0
    var log: [String] = []
    var counts: [String: Int] = [:]

    /// What failed, without the objects it failed with.
    var kind: String? {
        failure.map { String($0.prefix { $0 != ":" }.filter { $0.isLetter || $0 == " " }) }
    }

    init(_ steps: [SimulationStep], contexts: Int, seed: UInt64) {
        let isTracing = ProcessInfo.processInfo.environment["DAYBOOK_SIMULATION_TRACE"] != nil
        do {
            let simulation = try Simulation(contexts: contexts, seed: seed)
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
        _ steps: [SimulationStep], contexts: Int, seed: UInt64, runs: Int
    ) -> [SimulationStep] {
        let kind = SimulationOutcome(steps, contexts: contexts, seed: seed).kind
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
                let outcome = SimulationOutcome(fewer, contexts: contexts, seed: seed)
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

@Suite(.serialized) struct SimulationTests {
    @Test func `sibling contexts agree with the reference after every step`() {
        let plan = SimulationPlan()
        var counts: [String: Int] = [:]
        var steps = 0
        for seed in plan.seeds {
            let (contexts, all) = SimulationPlan.steps(plan.steps, seed: seed)
            let outcome = SimulationOutcome(all, contexts: contexts, seed: seed)
            steps += outcome.executed
            counts.merge(outcome.counts) { $0 + $1 }
            guard let failure = outcome.failure else { continue }
            let shortest = SimulationOutcome.shrink(
                Array(all.prefix(outcome.executed)), contexts: contexts, seed: seed, runs: 400)
            let last = SimulationOutcome(shortest, contexts: contexts, seed: seed)
            Issue.record(
                """
                Seed \(seed), \(contexts) contexts, step \(outcome.executed): \(failure)
                The shortest run, \(shortest.count) steps: \(last.failure ?? "does not fail")
                \(last.log.joined(separator: "\n"))
                """)
        }
        let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        print(
            "Simulation: \(plan.seeds.count) seeds, \(steps) steps: \(kinds.joined(separator: ", "))"
        )
        #expect(counts["save", default: 0] > 0)
    }
}
