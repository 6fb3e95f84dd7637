import Daybook
import Foundation

/// (t) A store opened by a program that may migrate it and finds nothing to do.
///
/// A program of SQLite asks for `user_version` then, to see which steps are left.
struct IdleOpening: Workload {
    let letter = "t"
    let count: Int

    let measure = Measure.seconds
    var title: String { "open \(count.grouped) objects, find nothing to migrate" }

    func concerns(_ contender: any Contender.Type) -> Bool { contender is any OpensIdly.Type }

    func measure(_ stage: Stage) throws -> Double {
        guard let type = stage.type as? any OpensIdly.Type else { return .nan }
        let folder = try stage.makeFolder("idle")
        let contender = try stage.type.init(in: folder)
        try contender.insertBatch(Contacts(count: count, revision: 0))
        try contender.settle()
        try contender.close()
        var times: [Double] = []
        for _ in 0..<Self.repeats {
            times.append(try Stopwatch.seconds { try type.openIdly(folder) })
        }
        return times.sorted()[Self.repeats / 2]
    }

    private static let repeats = 25
}

/// A contender that can look whether a store is to be migrated.
protocol OpensIdly: Contender {
    /// Opens the store in a folder, finds that it has the program's model, and closes it.
    static func openIdly(_ folder: URL) throws
}

/// (t') and (t''): the same against an open that may not migrate: Daybook alone.
struct IdleOpeningRatio: Workload {
    let letter: String
    let manner: Manner
    let count: Int

    /// How a store may be migrated.
    enum Manner: String {
        case policy = "a policy"
        case plan = "a plan"
    }

    let measure = Measure.times
    var title: String { "open with \(manner.rawValue) to migrate by, against without" }
    var target: Target? { .figure(1.1) }

    func concerns(_ contender: any Contender.Type) -> Bool { contender == DaybookContender.self }

    func measure(_ stage: Stage) throws -> Double {
        let folder = try stage.makeFolder("idle-\(manner)")
        let contender = try DaybookContender(in: folder)
        try contender.insertBatch(Contacts(count: count, revision: 0))
        try contender.close()
        var (plain, other) = (PersistentStoreOptions(), PersistentStoreOptions())
        plain.migration = .never
        switch manner {
        case .policy: other.migration = .automatic
        case .plan: other.migrationPlan = ContactPlan.self
        }
        // In turns, so that other load affects both.
        var times: (plain: [Double], other: [Double]) = ([], [])
        for _ in 0..<Self.repeats {
            times.plain.append(try Stopwatch.seconds { try DaybookContender.open(folder, plain) })
            times.other.append(try Stopwatch.seconds { try DaybookContender.open(folder, other) })
        }
        return times.other.sorted()[Self.repeats / 2] / times.plain.sorted()[Self.repeats / 2]
    }

    private static let repeats = 51
}

/// A plan of one version, which the measured store has.
private enum ContactPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [ContactVersion.self]
    static let stages: [MigrationStage] = []
}

private enum ContactVersion: VersionedSchema {
    static let models: [ManagedObject.Type] = [Contact.self]
}
