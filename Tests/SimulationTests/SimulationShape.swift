import DaybookTestSupport

/// Which contexts a run has and which of them stand on others.
struct SimulationShape: CustomStringConvertible {
    struct Context {
        /// The number of the context under this one; nil for one that works with the store.
        let parent: Int?
        /// How many contexts are under this one.
        let depth: Int
        let isRetaining: Bool
        /// Whether the context merges by itself what is saved under it.
        let isFollowing: Bool
    }

    private(set) var contexts: [Context] = []

    /// The shape of a seed's run: siblings only for every third, else a forest up to four deep.
    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15)
        let count = Int.random(in: 2...(seed % 3 == 0 ? 4 : 6), using: &generator)
        for number in 0..<count {
            let wantsParent = seed % 3 != 0 && Int.random(in: 0...3, using: &generator) > 0
            let places = contexts.indices.filter { contexts[$0].depth < 3 }
            let parent = wantsParent && number > 0 ? places.randomElement(using: &generator) : nil
            contexts.append(
                Context(
                    parent: parent, depth: parent.map { contexts[$0].depth + 1 } ?? 0,
                    isRetaining: Bool.random(using: &generator),
                    isFollowing: Int.random(in: 0...3, using: &generator) == 0))
        }
    }

    var description: String {
        contexts.enumerated().map { number, context in
            "\(number)" + (context.parent.map { " on \($0)" } ?? "")
                + (context.isRetaining ? ", retaining" : "")
                + (context.isFollowing ? ", following" : "")
        }.joined(separator: "; ")
    }
}
