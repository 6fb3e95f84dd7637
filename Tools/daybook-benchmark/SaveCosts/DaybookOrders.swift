import Daybook
import Foundation

/// What the classes have in common. Each is an entity of its own, in a store of its own.
private protocol AnyOrder: ManagedObject {
    var number: Int { get set }
    var customer: String { get set }
    var amount: Int { get set }
    var state: Int { get set }
}

private final class PlainOrder: ManagedObject, AnyOrder {
    @Attribute var number: Int = 0
    @Attribute var customer: String = ""
    @Attribute var amount: Int = 0
    @Attribute var state: Int = 0
}

private final class LawfulOrder: ManagedObject, AnyOrder {
    @Attribute var number: Int = 0
    @Attribute var customer: String = ""
    @Attribute var amount: Int = 0
    @Attribute var state: Int = 0

    override class var laws: [Law] {
        [
            Law("Numbers stay", "number NEVER CHANGED"),
            Law("Amounts do not fall unsaid", "amount NEVER DECREASED UNLESS NOTE"),
            Law("What is closed stays", "NEVER DELETED WHERE state == 4"),
        ]
    }
}

private final class IndexedOrder: ManagedObject, AnyOrder {
    @Attribute var number: Int = 0
    @Attribute var customer: String = ""
    @Attribute var amount: Int = 0
    @Attribute var state: Int = 0

    override class var indexes: [IndexDescription] { [["customer", "state", "amount"]] }
}

/// Daybook's saves.
final class DaybookOrders: CostlySaves {
    static let name = DaybookContender.name

    private let sample: OrderSample
    private let model: any AnyOrder.Type
    private let context: ManagedObjectContext
    private let orders: [ManagedObjectID]
    private var container: PersistentContainer?

    init(in folder: URL, _ sample: OrderSample, _ cost: SaveCost) throws {
        self.sample = sample
        let model: any AnyOrder.Type =
            switch cost {
            case .nothing: PlainOrder.self
            case .laws: LawfulOrder.self
            case .index: IndexedOrder.self
            }
        self.model = model
        var options = PersistentStoreOptions()
        if !sample.isDurable { options.durability = .relaxed }
        let container = try PersistentContainer(
            folder.appendingPathComponent("\(cost).daybook"), model: [model], options: options)
        self.container = container
        let context = container.newBackgroundContext()
        self.context = context
        orders = try context.performAndWait { try Self.fill(model, in: context, sample) }
    }

    private static func fill<Order: AnyOrder>(
        _ model: Order.Type, in context: ManagedObjectContext, _ sample: OrderSample
    ) throws -> [ManagedObjectID] {
        var request = BatchInsertRequest<Order>(0..<sample.count) { index, row in
            row["number"] = .int(Int64(index))
            row["customer"] = .string(sample.customer(index))
            row["amount"] = .int(Int64(sample.amount(0, index)))
            row["state"] = .int(Int64(sample.state(0, index)))
        }
        request.resultType = .objectIDs
        return try context.execute(request).objectIDs
    }

    func save(_ number: Int) throws {
        try context.performAndWait { () throws in
            for place in 0..<OrderSample.saveLength {
                let index = sample.number(number, place)
                guard let order = context.object(with: orders[index]) as? any AnyOrder else {
                    continue
                }
                order.amount = sample.amount(number, index)
                order.state = sample.state(number, index)
            }
            try context.save()
        }
    }

    func sum() throws -> Int {
        try context.performAndWait { try Self.sum(of: model, in: context) }
    }

    private static func sum<Order: AnyOrder>(
        of model: Order.Type, in context: ManagedObjectContext
    ) throws -> Int {
        var request = FetchRequest<Order>()
        request.returnsObjectsAsFaults = false
        return try context.fetch(request).reduce(0) { $0 + $1.amount }
    }

    func refusesFalls() throws -> Bool {
        try context.performAndWait { () throws in
            guard let order = context.object(with: orders[0]) as? any AnyOrder else { return false }
            order.amount -= 1
            defer { context.rollback() }
            do {
                try context.save()
                return false
            } catch let error as StoreError where error.code == .law {
                return true
            }
        }
    }

    func close() throws {
        container = nil
    }
}
