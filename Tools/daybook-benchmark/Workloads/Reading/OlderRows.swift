import Daybook
import Foundation

/// (l) All objects fetched whose rows are older than the model, against objects whose rows are not:
/// Daybook alone.
struct OlderRows: Workload {
    let letter = "l"
    let count: Int

    let measure = Measure.times
    var title: String { "\(count.grouped) rows of an older model read, against current ones" }
    var target: Target? { .figure(1.1) }

    func concerns(_ contender: any Contender.Type) -> Bool { contender == DaybookContender.self }

    func measure(_ stage: Stage) throws -> Double {
        let contacts = Contacts(count: count, revision: 0)
        let folder = try stage.makeFolder("rows-older")
        let contender = try DaybookContender(in: folder)
        try contender.insertBatch(contacts)
        try contender.close()
        let older = try open(folder)
        let current = try open(stage.makeFolder("rows-current"))
        try fill(current, contacts)
        // In turns, so that other load affects both.
        var times: (older: [Double], current: [Double]) = ([], [])
        for _ in 0..<Self.repeats {
            times.older.append(try Stopwatch.seconds { try read(older, stage) })
            times.current.append(try Stopwatch.seconds { try read(current, stage) })
        }
        return times.older.sorted()[Self.repeats / 2] / times.current.sorted()[Self.repeats / 2]
    }

    private static let repeats = 5

    private func open(_ folder: URL) throws -> PersistentContainer {
        try PersistentContainer(
            folder.appendingPathComponent("contacts.daybook"), model: [WiderContact.self])
    }

    private func fill(_ container: PersistentContainer, _ contacts: Contacts) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let request = BatchInsertRequest<WiderContact> { row in
                let index = row.index
                guard index < contacts.count else { return .finish }
                row[\.name] = contacts.names[index]
                row[\.mail] = contacts.mails[index]
                row[\.address] = contacts.addresses[index]
                row[\.age] = contacts.ages[index]
                row[\.balance] = contacts.balances[index]
                return .insert
            }
            try context.execute(request)
        }
    }

    private func read(_ container: PersistentContainer, _ stage: Stage) throws {
        let context = container.newBackgroundContext()
        let bytes = try context.performAndWait {
            var request = FetchRequest<WiderContact>()
            request.returnsObjectsAsFaults = false
            return try context.fetch(request).reduce(0) { $0 + $1.name.utf8.count }
        }
        try stage.expect(count * Contacts.nameLength, "the length of all names", bytes)
    }
}

/// The measured class after an attribute was added.
private final class WiderContact: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var mail: String = ""
    @Attribute var address: String = ""
    @Attribute var age: Int = 0
    @Attribute var balance: Double = 0
    @Attribute var remark: String? = "none"

    override class var entityName: String { "Contact" }
}
