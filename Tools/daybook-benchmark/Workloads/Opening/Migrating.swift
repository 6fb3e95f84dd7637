import Foundation

/// (i) and (k): the model changed, by an attribute or by an index over all objects.
///
/// The time includes opening the store. An attribute must take the same time whatever the store holds.
/// SQLite's triggers, which keep old and new columns, are made again with the new one in them.
struct Migrating: Workload {
    let letter: String
    let change: ModelChange
    let count: Int

    let measure = Measure.seconds
    var title: String { "\(change.title) to \(count.grouped) objects" }
    var target: Target? {
        switch change {
        case .attribute: .figure(0.005)
        case .index: .toSQLite(1.5)
        }
    }

    func concerns(_ contender: any Contender.Type) -> Bool { contender is any Migrates.Type }

    func measure(_ stage: Stage) throws -> Double {
        guard let type = stage.type as? any Migrates.Type else { return .nan }
        let folder = try stage.makeFolder("migrating-\(letter)")
        let contender = try stage.type.init(in: folder)
        try contender.insertBatch(Contacts(count: count, revision: 0))
        try contender.settle()
        try contender.close()
        var times: [Double] = []
        for number in 1...change.repeats {
            times.append(try type.migrate(folder, change, number))
        }
        let found = try type.count(in: folder, after: change, change.repeats)
        try stage.expect(count, "the number of objects", found)
        return times.sorted()[times.count / 2]
    }
}

/// A change of the model.
enum ModelChange {
    case attribute, index

    var title: String {
        switch self {
        case .attribute: "add an attribute"
        case .index: "add an index"
        }
    }

    /// How often it is made, each time with another attribute; the figure is the median.
    var repeats: Int {
        switch self {
        case .attribute: 5
        case .index: 1
        }
    }
}

/// A contender whose model can change.
protocol Migrates: Contender {
    /// Opens the store in a folder and changes its model, for the first, second … time.
    ///
    /// - Returns: The seconds that took, opening included.
    static func migrate(_ folder: URL, _ change: ModelChange, _ number: Int) throws -> Double

    /// How many objects a store has after so many changes.
    static func count(in folder: URL, after change: ModelChange, _ number: Int) throws -> Int
}
