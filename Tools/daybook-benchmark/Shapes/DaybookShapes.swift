import Daybook
import Foundation

/// One of very many.
private final class Parcel: ManagedObject {
    @Attribute(.indexed) var number: Int = 0
    @Attribute var name: String = ""
    @Attribute var street: String = ""
    @Attribute var grams: Int = 0
    @Attribute var price: Double = 0
}

/// A long text.
private final class Article: ManagedObject {
    @Attribute var number: Int = 0
    @Attribute var body: String = ""
}

/// An object with many related ones.
private final class Box: ManagedObject {
    @Attribute(.indexed) var number: Int = 0
    @Relationship var items: Set<Item>
}

private final class Item: ManagedObject {
    @Attribute var number: Int = 0
    @Attribute var weight: Int = 0
    @Relationship(inverse: \Box.items) var box: Box?
}

/// Daybook as a program asks it, in a new context each time.
final class DaybookShapes: Shaped {
    static let name = DaybookContender.name

    private let sample: ShapeSample
    /// A folder for the store of parcels alone, which is closed between questions.
    private let parcelFolder: URL
    /// What a program would have noted: the identifiers of the parcels that are read.
    private var identifiers: [Int: ManagedObjectID] = [:]
    private var shapes: PersistentContainer?

    init(in folder: URL, _ sample: ShapeSample) throws {
        self.sample = sample
        parcelFolder = folder.appendingPathComponent("daybook-parcels", isDirectory: true)
        try FileManager.default.createDirectory(
            at: parcelFolder, withIntermediateDirectories: true)
        try fillParcels()
        let shapes = try PersistentContainer(
            folder.appendingPathComponent("shapes.daybook"),
            model: [Wide.self, Article.self, Box.self, Item.self])
        self.shapes = shapes
        let context = shapes.newBackgroundContext()
        try context.performAndWait {
            try fillWides(in: context)
            try fillArticles(in: context)
            try fillBoxes(in: context)
        }
    }

    func answer(_ shape: Shape, turn: Int) throws -> (seconds: Double, answer: Int) {
        switch shape {
        case .cold:
            try PageCache.drop(parcelFolder)
            return try readParcels(sample.coldOrder[turn])
        case .firstFetch:
            return try repeated {
                try Self.fetchParcel(sample.coldOrder[turn][0], in: parcelFolder)
            }
        case .newProcess:
            return try FirstFetch.ask(Self.name, sample.coldOrder[turn][0], in: parcelFolder)
        case .wideRange, .wideScan, .longTexts, .members:
            guard let shapes else { return (.nan, 0) }
            var answer = 0
            let seconds = try Stopwatch.seconds {
                let context = shapes.newBackgroundContext()
                answer = try context.performAndWait { try find(shape, turn, in: context) }
            }
            return (seconds, answer)
        }
    }

    func close() throws {
        shapes = nil
    }

    // MARK: - Questions

    private static func openParcels(_ folder: URL) throws -> PersistentContainer {
        try PersistentContainer(
            folder.appendingPathComponent("parcels.daybook"), model: [Parcel.self])
    }

    private func readParcels(_ order: [Int]) throws -> (seconds: Double, answer: Int) {
        let container = try Self.openParcels(parcelFolder)
        let context = container.newBackgroundContext()
        let wanted = order.compactMap { identifiers[$0] }
        var sum = 0
        let seconds = context.performAndWait {
            Stopwatch.seconds {
                for identifier in wanted {
                    if let parcel = context.object(with: identifier) as? Parcel {
                        sum += parcel.grams
                    }
                }
            }
        }
        return (seconds, sum)
    }

    static func fetchParcel(_ number: Int, in folder: URL) throws -> Int {
        let container = try openParcels(folder)
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var request = FetchRequest<Parcel>(where: \Parcel.number == number)
            request.returnsObjectsAsFaults = false
            guard let parcel = try context.fetch(request).first else { return 0 }
            return parcel.grams + parcel.name.utf8.count
        }
    }

    private func find(
        _ shape: Shape, _ turn: Int, in context: ManagedObjectContext
    ) throws -> Int {
        switch shape {
        case .wideRange:
            let first = (turn * 1_013) % (sample.wides / 2)
            return try sum(
                \Wide.number >= first && \Wide.number < first + 1_000, in: context)
        case .wideScan:
            let least = Double(sample.wides) / 8
            return try sum(\Wide.count7 == turn % 50 && \Wide.value4 >= least, in: context)
        case .longTexts:
            var request = FetchRequest<Article>()
            request.returnsObjectsAsFaults = false
            request.condition = Condition("body CONTAINS 'amber'")
            return try context.fetch(request).reduce(0) { $0 + $1.number + $1.body.utf8.count }
        case .members:
            let first = sample.firstBox(turn)
            var request = FetchRequest<Box>(
                where: \Box.number >= first && \Box.number < first + ShapeSample.boxesRead)
            request.relationshipKeyPathsForPrefetching = ["items"]
            return try context.fetch(request).reduce(0) { sum, box in
                box.items.reduce(sum) { $0 + $1.weight }
            }
        case .cold, .firstFetch, .newProcess: return 0
        }
    }

    private func sum(_ condition: Condition<Wide>, in context: ManagedObjectContext) throws -> Int {
        var request = FetchRequest<Wide>(where: condition)
        request.returnsObjectsAsFaults = false
        return try context.fetch(request).reduce(0) { $0 + $1.count20 + $1.text15.utf8.count }
    }

    // MARK: - Filling

    private func fillParcels() throws {
        let container = try Self.openParcels(parcelFolder)
        let context = container.newBackgroundContext()
        let wanted = Set(sample.coldOrder.joined())
        try context.performAndWait {
            for first in stride(from: 0, to: sample.parcels, by: 100_000) {
                let indexes = first..<min(sample.parcels, first + 100_000)
                var request = BatchInsertRequest<Parcel>(indexes) { index, row in
                    row[\.number] = index
                    row[\.name] = self.sample.name(index)
                    row[\.street] = self.sample.street(index)
                    row[\.grams] = self.sample.grams(index)
                    row[\.price] = self.sample.price(index)
                }
                request.resultType = .objectIDs
                let inserted = try context.execute(request).objectIDs
                for (index, identifier) in zip(indexes, inserted) where wanted.contains(index) {
                    identifiers[index] = identifier
                }
            }
        }
    }

    private func fillWides(in context: ManagedObjectContext) throws {
        let sample = sample
        try context.execute(
            BatchInsertRequest<Wide>(0..<sample.wides) { index, row in
                row[\.number] = index
                for (number, column) in ShapeSample.wideColumns.enumerated() {
                    switch column.kind {
                    case .count:
                        row[column.name] = .int(Int64(sample.wideCount(number, index)))
                    case .text: row[column.name] = .string(sample.wideText(number, index))
                    case .value: row[column.name] = .double(sample.wideValue(number, index))
                    }
                }
            })
    }

    private func fillArticles(in context: ManagedObjectContext) throws {
        let sample = sample
        try context.execute(
            BatchInsertRequest<Article>(0..<sample.articles) { index, row in
                row[\.number] = index
                row[\.body] = sample.body(index)
            })
    }

    private func fillBoxes(in context: ManagedObjectContext) throws {
        let sample = sample
        var request = BatchInsertRequest<Box>(0..<sample.boxes) { $1[\.number] = $0 }
        request.resultType = .objectIDs
        let boxes = try context.execute(request).objectIDs
        try context.execute(
            BatchInsertRequest<Item>(0..<(sample.boxes * ShapeSample.itemsOfBox)) { item, row in
                row[\.number] = item
                row[\.weight] = sample.weight(ofItem: item)
                row.relate(\.box, to: boxes[sample.box(ofItem: item)])
            })
    }
}
