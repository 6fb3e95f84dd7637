import Daybook
import Foundation

/// The time that a list of many objects takes to follow a save of a few.
///
/// Two contexts merge the same saves, in turn; one of them has the list. What it takes longer is the list's. The save
/// moves its objects to other places of the list.
struct Watching {
    /// The number of objects in the list.
    let count: Int
    /// The number of them that each save changes.
    static let changes = 10
    /// The figure is the median of this many saves.
    private static let saves = 51

    init(scaleName: String) {
        count = scaleName == "tiny" ? 2_000 : 100_000
    }

    /// What was measured, in seconds.
    struct Outcome {
        /// What the list took to follow each save.
        var following: [Double] = []
        /// What a fetch of the list took after some of the saves.
        var fetching: [Double] = []
        /// What making the list took.
        var making = 0.0

        /// The time to follow a save divided by that to fetch the list.
        var ratio: Double {
            Report.Series.median(following) / Report.Series.median(fetching)
        }

        /// Both in words.
        var line: String {
            let microseconds = Int((Report.Series.median(following) * 1e6).rounded())
            let share = String(format: "%.3f", 100 * ratio)
            return "A save is followed in \(microseconds) µs, \(share) % of fetching the list."
        }
    }

    func run() throws -> Outcome {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("watching.daybook"), model: [Contact.self])
        let ids = try Merging.fill(container, count)
        let (writing, plain, watching) = (
            container.newBackgroundContext(), container.newBackgroundContext(),
            container.newBackgroundContext()
        )
        var request = FetchRequest<Contact>()
        request.order = [.ascending(\.age), .ascending(\.name)]
        var outcome = Outcome()
        let list = try watching.performAndWait { () throws in
            var list: ResultsObserver<Contact>?
            outcome.making = try Stopwatch.seconds {
                list = try ResultsObserver(request, in: watching)
            }
            return list
        }
        for save in 1...Self.saves {
            try writing.performAndWait { () throws in
                for number in 0..<Self.changes {
                    let index = (number * (count / Self.changes) + save) % count
                    (writing.object(with: ids[index]) as? Contact)?.age += save * 7
                }
                try writing.save()
            }
            let without = try Self.merge(plain)
            outcome.following.append(try Self.merge(watching) - without)
            guard save % 10 == 1 else { continue }
            try watching.performAndWait { () throws in
                var fetched: [Contact] = []
                outcome.fetching.append(
                    try Stopwatch.seconds { fetched = try watching.fetch(request) })
                guard let list, list.objects == fetched else {
                    throw WrongResult(
                        DaybookContender.name, "the list", expected: fetched.count,
                        found: list?.count ?? 0)
                }
            }
        }
        return outcome
    }

    private static func merge(_ context: ManagedObjectContext) throws -> Double {
        try context.performAndWait { () throws in
            try Stopwatch.seconds { _ = try context.mergeChanges() }
        }
    }
}
