import DaybookTestSupport

/// One step of a run. What it does to which object follows from its own seed and the state it
/// finds, so that steps can be left out and the others still mean something.
struct SimulationStep: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case edit, delete, undo, redo, undoRedo, undoAll, rollback, reset
        case refreshKeeping, refreshDropping, refreshAll, merge, save, fetch, compareAll, past
        case replay
    }

    /// The place in the run, from 1.
    let number: Int
    let kind: Kind
    let context: Int
    let seed: UInt64

    private static let weights: [(Kind, Int)] = [
        (.edit, 40), (.delete, 7), (.undo, 8), (.redo, 6), (.undoRedo, 3), (.undoAll, 1),
        (.rollback, 2), (.reset, 1), (.refreshKeeping, 4), (.refreshDropping, 4),
        (.refreshAll, 1), (.merge, 8), (.save, 14), (.fetch, 8), (.compareAll, 6), (.past, 2),
        (.replay, 1),
    ]

    static func random(
        _ number: Int, contexts: Int, _ generator: inout SeededGenerator
    ) -> SimulationStep {
        var place = Int.random(in: 0..<weights.map(\.1).reduce(0, +), using: &generator)
        var kind = Kind.edit
        for (candidate, weight) in weights {
            kind = candidate
            if place < weight { break }
            place -= weight
        }
        return SimulationStep(
            number: number, kind: kind, context: Int.random(in: 0..<contexts, using: &generator),
            seed: generator.next())
    }

    var description: String { "step \(number): \(kind.rawValue) in context \(context)" }
}
