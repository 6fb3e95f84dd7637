import Foundation

// The room of what a declaration costs each save: laws, and indexes. The same saves are made with and without.

/// What a model declares beyond its attributes.
enum SaveCost: String, CaseIterable {
    case nothing
    case laws
    case index

    /// The name of its line in the report, and of that with the ratio to a save without.
    var letters: (rate: String, ratio: String) {
        switch self {
        case .nothing: ("d0", "")
        case .laws: ("d1", "d1'")
        case .index: ("d2", "d2'")
        }
    }

    var title: String {
        switch self {
        case .nothing: ""
        case .laws: "judged by three laws"
        case .index: "with an index of three properties"
        }
    }
}

/// A store in which orders are changed.
protocol CostlySaves: AnyObject {
    /// The name in the report.
    static var name: String { get }

    /// Makes a store in a folder.
    init(in folder: URL, _ sample: OrderSample, _ cost: SaveCost) throws
    /// Makes one save.
    func save(_ number: Int) throws
    /// The sum of all amounts.
    func sum() throws -> Int
    /// Whether a save is refused that a law forbids.
    func refusesFalls() throws -> Bool
    /// Closes the store.
    func close() throws
}

/// The data: orders of four attributes, and saves that each change some of them.
struct OrderSample: Sendable {
    let count: Int
    /// The saves of a turn.
    let saves: Int
    /// Whether each save waits for the disk.
    let isDurable: Bool
    static let saveLength = 100

    init(scaleName: String) {
        switch scaleName {
        case "tiny": (count, saves) = (1_000, 2)
        case "full": (count, saves) = (100_000, 50)
        default: (count, saves) = (20_000, 20)
        }
        isDurable = false
    }

    private init(count: Int, durableSaves: Int) {
        (self.count, saves, isDurable) = (count, durableSaves, true)
    }

    /// More orders than the saves of a day touch, each save made durable.
    static func large(scaleName: String) -> OrderSample {
        switch scaleName {
        case "tiny": OrderSample(count: 2_000, durableSaves: 2)
        case "full": OrderSample(count: 1_000_000, durableSaves: 20)
        default: OrderSample(count: 100_000, durableSaves: 10)
        }
    }

    func customer(_ index: Int) -> String { "customer \((index * 7_919) % (count / 20))" }
    /// The orders of a save, all different. Those of a durable one lie all over the table.
    func number(_ save: Int, _ place: Int) -> Int {
        isDurable
            ? (save * 1_013 + place * (count / Self.saveLength + 7)) % count
            : (save * 1_013 + place * 487) % count
    }
    /// It never falls.
    func amount(_ save: Int, _ index: Int) -> Int { save * 10 + index % 7 }
    func state(_ save: Int, _ index: Int) -> Int { (save + index) % 5 }
}
