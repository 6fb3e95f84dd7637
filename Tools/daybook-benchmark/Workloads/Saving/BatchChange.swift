import CDaybookSQLite
import Daybook
import Foundation

/// (d') and (d''): every object that meets a condition changed or deleted in one durable save, with its
/// history, by a request that names the condition.
///
/// SQLite runs `UPDATE … WHERE` and `DELETE … WHERE`, and its triggers keep old and new columns.
struct BatchChange: Workload {
    enum Manner {
        case update, delete
    }

    let manner: Manner
    let objects: Int

    let measure = Measure.perSecond
    let target: Target? = .toSQLite(1.5)
    var letter: String { manner == .update ? "d'" : "d''" }
    var title: String {
        "a third of \(objects.grouped) objects \(manner == .update ? "updated" : "deleted") by a request"
    }

    func concerns(_ contender: any Contender.Type) -> Bool { contender is any ChangesMany.Type }

    func measure(_ stage: Stage) throws -> Double {
        let made = try stage.type.init(in: try stage.makeFolder("batch-\(letter)"))
        guard let contender = made as? any ChangesMany else { return .nan }
        try contender.insertBatch(stage.contacts)
        let ages = stage.contacts.ages
        let limit = ages.sorted()[ages.count / 3]
        let chosen = ages.filter { $0 < limit }
        switch manner {
        case .update:
            let rate = try rate(chosen.count) { try contender.update(agesBelow: limit) }
            let sum = ages.reduce(0, +) + chosen.count * ChangesManyAmount.years
            try stage.expect(sum, "the sum of the ages", try contender.scanAll().ages)
            try contender.close()
            return rate
        case .delete:
            let rate = try rate(chosen.count) { try contender.delete(agesBelow: limit) }
            try stage.expect(
                ages.count - chosen.count, "the number of objects", try contender.count())
            try contender.close()
            return rate
        }
    }
}

/// What an update adds to an age.
private enum ChangesManyAmount {
    static let years = 100
}

/// A contender that changes what meets a condition.
protocol ChangesMany: Contender {
    /// Makes the young older, and doubles their balance.
    func update(agesBelow limit: Int) throws
    /// Deletes the young.
    func delete(agesBelow limit: Int) throws
}

extension DaybookContender: ChangesMany {
    func update(agesBelow limit: Int) throws {
        let context = try open().writing
        try context.performAndWait { () throws in
            _ = try context.execute(
                BatchUpdateRequest<Contact>(
                    where: \.age < limit,
                    assigning: [
                        .add(ChangesManyAmount.years, to: \.age), .multiply(\.balance, by: 2),
                    ]))
        }
    }

    func delete(agesBelow limit: Int) throws {
        let context = try open().writing
        try context.performAndWait { () throws in
            _ = try context.execute(BatchDeleteRequest<Contact>(where: \.age < limit))
        }
    }
}

extension SQLiteContender: ChangesMany {
    func update(agesBelow limit: Int) throws {
        try save(
            "UPDATE contact SET age = age + \(ChangesManyAmount.years), balance = balance * 2 "
                + "WHERE age < \(limit)")
    }

    func delete(agesBelow limit: Int) throws {
        try save("DELETE FROM contact WHERE age < \(limit)")
    }
}
