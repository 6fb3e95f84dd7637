import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A batch leaves what the same work with managed objects leaves, or is refused for the same reason; and
/// undoing it leaves what was there before.
@Suite struct BatchLawTests {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `a batch does what managed objects do`(seed: UInt64) throws {
        let (batches, objects) = (try FleetStore(), try FleetStore())
        var random = SeededGenerator(seed: seed)
        let start = random
        try batches.populate(&random)
        random = start
        try objects.populate(&random)
        #expect(try batches.contents() == objects.contents(), "seed \(seed)")

        for step in 0..<12 {
            let before = try batches.contents()
            let task = FleetTask.random(using: &random)
            let (left, entry) = batches.outcome { try task.asBatch($0) }
            let (right, _) = objects.outcome { try task.asObjects($0) }

            #expect(left == right, "seed \(seed), step \(step): \(task)")
            #expect(
                try batches.contents() == objects.contents(), "seed \(seed), step \(step): \(task)")
            guard let entry, Bool.random(using: &random) else { continue }
            try batches.container.undo(entry)
            #expect(try batches.contents() == before, "seed \(seed), step \(step): \(task)")
            try batches.container.redo(entry)
        }
        #expect(try batches.store.store.verify().isSound, "seed \(seed)")
    }
}

/// Something to do to many objects.
private enum FleetTask {
    case raise(over: Int, by: Int)
    case scale(under: Int, by: Int)
    case copy(over: Int)
    case anchor(over: Int, harbour: Int)
    case rename(over: Int)
    case sink(over: Int, limit: Int)
    case close(harbour: Int)
    case unload(label: String)
    case dismiss

    static func random(using random: inout SeededGenerator) -> FleetTask {
        let limit = Int.random(in: 0...90, using: &random)
        switch Int.random(in: 0..<11, using: &random) {
        case 0: return .raise(over: limit, by: Int.random(in: -50...50, using: &random))
        case 1:
            return .scale(under: limit, by: Bool.random(using: &random) ? 2 : Int.max / 20)
        case 2: return .copy(over: limit)
        case 3, 4:
            return .anchor(over: limit, harbour: Int.random(in: 0...3, using: &random))
        case 5: return .rename(over: limit)
        case 6, 7: return .sink(over: limit, limit: Int.random(in: 1...3, using: &random))
        case 8: return .close(harbour: Int.random(in: 0...3, using: &random))
        case 9: return .unload(label: "C\(Int.random(in: 0...4, using: &random))")
        default: return .dismiss
        }
    }

    func asBatch(_ context: ManagedObjectContext) throws -> SequenceNumber? {
        func update(
            _ condition: Condition<Ship>, _ assignments: BatchAssignment<Ship>...
        ) throws -> SequenceNumber? {
            try context.execute(BatchUpdateRequest(where: condition, assigning: assignments))
                .sequence
        }
        switch self {
        case .raise(let limit, let amount):
            return try update(\Ship.tonnage > limit, .add(amount, to: \.tonnage))
        case .scale(let limit, let factor):
            return try update(
                \Ship.tonnage < limit, .multiply(\.tonnage, by: factor), .add(1, to: \.crew))
        case .copy(let limit):
            return try update(
                \Ship.tonnage > limit, .set(\.spare, to: \.tonnage), .set(\.crew, to: \.spare))
        case .anchor(let limit, let number):
            let harbour = try context.harbour(number)
            return try update(\Ship.tonnage > limit, .relate(\.harbour, to: harbour?.objectID))
        case .rename(let limit):
            return try update(\Ship.tonnage > limit, .set(\.code, to: "same"))
        case .sink(let limit, let count):
            var request = FetchRequest<Ship>(where: \Ship.tonnage > limit)
            request.order = [.descending(\.tonnage)]
            request.limit = count
            return try context.execute(BatchDeleteRequest(request)).sequence
        case .close(let number):
            let name = "H\(number)"
            return try context.execute(
                BatchDeleteRequest<Harbour>(where: \.name == name)
            ).sequence
        case .unload(let label):
            return try context.execute(
                BatchDeleteRequest<Barrel>(where: \.label == label)
            ).sequence
        case .dismiss: return try context.execute(BatchDeleteRequest<Inspection>()).sequence
        }
    }

    func asObjects(_ context: ManagedObjectContext) throws -> SequenceNumber? {
        func ships(over limit: Int) throws -> [Ship] {
            try context.fetch(FetchRequest<Ship>(where: \Ship.tonnage > limit))
        }
        switch self {
        case .raise(let limit, let amount):
            for ship in try ships(over: limit) { ship.tonnage += amount }
        case .scale(let limit, let factor):
            let found = try context.fetch(FetchRequest<Ship>(where: \Ship.tonnage < limit))
            for ship in found {
                let (product, isTooGreat) = ship.tonnage.multipliedReportingOverflow(by: factor)
                if isTooGreat {
                    throw StoreError.validation([ValidationFailure(.numberTooLarge, "Too large.")])
                }
                ship.tonnage = product
                ship.crew = ship.crew.map { $0 + 1 }
            }
        case .copy(let limit):
            for ship in try ships(over: limit) {
                (ship.spare, ship.crew) = (ship.tonnage, ship.spare)
            }
        case .anchor(let limit, let number):
            let harbour = try context.harbour(number)
            for ship in try ships(over: limit) { ship.harbour = harbour }
        case .rename(let limit): for ship in try ships(over: limit) { ship.code = "same" }
        case .sink(let limit, let count):
            var request = FetchRequest<Ship>(where: \Ship.tonnage > limit)
            request.order = [.descending(\.tonnage)]
            request.limit = count
            for ship in try context.fetch(request) { context.delete(ship) }
        case .close(let number): try context.harbour(number).map(context.delete)
        case .unload(let label):
            for barrel in try context.fetch(FetchRequest<Barrel>(where: \Barrel.label == label)) {
                context.delete(barrel)
            }
        case .dismiss:
            for inspection in try context.fetch(FetchRequest<Inspection>()) {
                context.delete(inspection)
            }
        }
        return try context.save()
    }
}

extension ManagedObjectContext {
    fileprivate func harbour(_ number: Int) throws -> Harbour? {
        let name = "H\(number)"
        return try fetch(FetchRequest<Harbour>(where: \Harbour.name == name)).first
    }
}

extension FleetStore {
    /// Makes some ships, harbours, barrels, inspections and logbooks.
    fileprivate func populate(_ random: inout SeededGenerator) throws {
        var random = random
        try inContext { (context) throws in
            let harbours = (0..<3).map { number in
                let harbour = Harbour(context: context)
                harbour.name = "H\(number)"
                return harbour
            }
            let ships = (0..<16).map { number in
                let ship =
                    number.isMultiple(of: 4) ? Ferry(context: context) : Ship(context: context)
                ship.code = "S\(number)"
                ship.tonnage = Int.random(in: 0...100, using: &random)
                ship.crew = Bool.random(using: &random) ? nil : number
                ship.harbour = harbours.randomElement(using: &random)
                return ship
            }
            for ship in ships {
                ship.escorts = Set(ships.filter { _ in Int.random(in: 0..<6, using: &random) == 0 })
            }
            for number in 0..<12 {
                let barrel = Barrel(context: context)
                barrel.label = "C\(number % 5)"
                barrel.ship = ships.randomElement(using: &random)
            }
            for _ in 0..<2 {
                Inspection(context: context).ship = ships.randomElement(using: &random)
            }
            for _ in 0..<3 {
                let logbook = Logbook(context: context)
                logbook.subject = ships.randomElement(using: &random)
                logbook.others = Set(
                    ships.filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
            }
            try context.save()
        }
    }

    /// The code of the error that some work ends with, and its entry.
    fileprivate func outcome(
        _ body: (ManagedObjectContext) throws -> SequenceNumber?
    ) -> (error: String?, entry: SequenceNumber?) {
        do {
            return (nil, try inContext(body))
        } catch let error as StoreError {
            return (error.code.description, nil)
        } catch {
            return ("\(error)", nil)
        }
    }
}
