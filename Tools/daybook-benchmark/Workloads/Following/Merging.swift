import Daybook
import Foundation

// The room of what others save: merged into a context, into a list, and told to another process. Daybook alone.

/// The time of merging another context's save, with more and more registered objects.
///
/// The save always changes the same number of objects, spread over those that are registered. The
/// cost of a merge should depend only on that number.
struct Merging {
    /// The numbers of registered objects.
    let sizes: [Int]
    /// The number of them that the save changes.
    static let changes = 100
    /// The figure is the median of this many merges.
    private static let merges = 51
    /// The number of objects in one save while the store is made.
    private static let batch = 10_000

    init(scaleName: String) {
        switch scaleName {
        case "tiny": sizes = [200, 2_000]
        case "full": sizes = [1_000, 10_000, 100_000, 1_000_000]
        default: sizes = [1_000, 10_000, 100_000]
        }
    }

    /// Makes a store and merges into contexts of each size, in turn, so that other load on the
    /// machine affects all of them alike.
    func run() throws -> MergingReport {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("merging.daybook"), model: [Contact.self])
        let ids = try Self.fill(container, sizes.max() ?? 0)
        var pairs = sizes.map { Pair(ids.prefix($0), in: container) }
        for merge in 1...Self.merges {
            for index in pairs.indices { try pairs[index].measure(merge) }
        }
        var report = MergingReport(sizes: sizes, changes: Self.changes)
        report.microseconds = pairs.map(\.microseconds)
        return report
    }

    /// Makes objects in entries of many.
    static func fill(
        _ container: PersistentContainer, _ count: Int
    ) throws -> [ManagedObjectID] {
        var ids: [ManagedObjectID] = []
        while ids.count < count {
            let contacts = Contacts(count: min(batch, count - ids.count), revision: 0)
            let context = container.newBackgroundContext()
            ids += try context.performAndWait {
                let made = (0..<contacts.count).map {
                    DaybookContender.make(contacts, $0, in: context)
                }
                try context.save()
                return made.map(\.objectID)
            }
        }
        return ids
    }

    /// A context that merges the saves of another one.
    private struct Pair {
        private let writing: ManagedObjectContext
        private let merging: ManagedObjectContext
        /// The objects stay registered for as long as they are held.
        private let registered: [ManagedObject]
        private let theirs: [Contact]
        private let ours: [Contact]
        private(set) var microseconds: [Double] = []

        init(_ ids: ArraySlice<ManagedObjectID>, in container: PersistentContainer) {
            let writing = container.newBackgroundContext()
            let merging = container.newBackgroundContext()
            let registered = merging.performAndWait { ids.compactMap { merging.object(with: $0) } }
            let step = ids.count / Merging.changes
            let indexes = (0..<Merging.changes).map { $0 * step }
            self.writing = writing
            self.merging = merging
            self.registered = registered
            theirs = writing.performAndWait {
                indexes.compactMap { writing.object(with: ids[$0]) as? Contact }
            }
            ours = indexes.compactMap { registered[$0] as? Contact }
        }

        /// Measures one merge.
        ///
        /// - Parameter merge: The amount that the save adds to each age.
        /// - Throws: What the library throws; ``WrongResult`` when the merge result is wrong.
        mutating func measure(_ merge: Int) throws {
            let (writing, merging, theirs, ours) = (writing, merging, theirs, ours)
            // The saves of the other pairs meanwhile are not included.
            try writing.performAndWait { _ = try writing.mergeChanges() }
            let (sum, seconds) = try merging.performAndWait { () throws in
                _ = try merging.mergeChanges()
                // Only objects that have been read take anything in.
                let before = ours.reduce(0) { $0 + $1.age }
                try writing.performAndWait { () throws in
                    for contact in theirs { contact.age += merge }
                    try writing.save()
                }
                let seconds = try Stopwatch.seconds { _ = try merging.mergeChanges() }
                return (ours.reduce(0) { $0 + $1.age } - before, seconds)
            }
            guard sum == merge * Merging.changes else {
                throw WrongResult(
                    DaybookContender.name, "what was merged", expected: merge * Merging.changes,
                    found: sum)
            }
            microseconds.append(seconds * 1e6)
        }
    }
}

/// The times of merges, in microseconds.
struct MergingReport: Encodable {
    let sizes: [Int]
    let changes: Int
    /// For each size, the time of each merge.
    var microseconds: [[Double]] = []

    /// The median of each size divided by the one of the smallest.
    var ratios: [Double] {
        let medians = microseconds.map(Report.Series.median)
        return medians.map { $0 / (medians.first ?? .nan) }
    }

    private enum Key: String, CodingKey {
        case sizes, changes, microseconds, medians, ratios
    }

    init(sizes: [Int], changes: Int) {
        self.sizes = sizes
        self.changes = changes
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(sizes, forKey: .sizes)
        try container.encode(changes, forKey: .changes)
        try container.encode(microseconds, forKey: .microseconds)
        try container.encode(microseconds.map(Report.Series.median), forKey: .medians)
        try container.encode(ratios, forKey: .ratios)
    }

    /// The report as a table for people.
    func table() -> String {
        let rows = [
            ["registered objects"] + sizes.map(\.grouped),
            ["merge of \(changes) changes, median"]
                + zip(microseconds.map(Report.Series.median), ratios).map {
                    "\($0.fixed(0)) µs (\($1.fixed(2)))"
                },
        ]
        return Report.aligned(rows) + "\n"
    }
}
