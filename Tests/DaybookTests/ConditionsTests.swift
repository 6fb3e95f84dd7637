import Daybook
import DaybookTestSupport
import Foundation
import Testing

private final class Clerk: ManagedObject {
    @Attribute var name: String?
    @Attribute var bonus: Int?
    @Relationship(inverse: \Clerk.reports) var manager: Clerk?
    @Relationship var reports: Set<Clerk>
}

/// What the page *Conditions* says.
struct ConditionsTests {
    private struct NoTable: Error {}

    /// The rows of the page's table about nothing: each condition, and whether it holds.
    private static func table() throws -> [(condition: String, holds: Bool)] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appending(path: "Sources/Daybook/Daybook.docc/Conditions.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        guard
            let section = text.components(separatedBy: "## Nothing").last?
                .components(separatedBy: "\n## ").first
        else { throw NoTable() }
        return section.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 2, cells[0].hasPrefix("`") else { return nil }
            return (cells[0].trimmingCharacters(in: ["`"]), cells[1] == "yes")
        }
    }

    @Test func `F58 conditions on nothing hold as the table says, stored and pending`() throws {
        let table = try Self.table()
        #expect(table.count > 20)
        let container = try PersistentContainer(inMemory: [Clerk.self])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let clerk = Clerk(context: context)
            for isSaved in [false, true] {
                if isSaved { try context.save() }
                for (condition, holds) in table {
                    let found = try context.fetch(FetchRequest<Clerk>(where: Condition(condition)))
                    #expect(found == (holds ? [clerk] : []), "\(condition), saved: \(isSaved)")
                }
            }
        }
    }

    @Test func `what stands for numbers in a format of Core Data stands for arguments`() throws {
        let container = try PersistentContainer(inMemory: [Clerk.self])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let clerk = Clerk(context: context)
            clerk.bonus = 5
            let found: [Condition<Clerk>] = [
                Condition("bonus == %d", 5), Condition("%K == %i", "bonus", 5),
                Condition("bonus > %ld AND bonus < %lu", 4, 6), Condition("bonus < %f", 5.5),
            ]

            for condition in found {
                #expect(try context.fetch(FetchRequest(where: condition)) == [clerk])
            }
            let other = FetchRequest<Clerk>(where: Condition("name == %s", "Ada"))
            let error = try #require(throws: QueryError.self) { try context.fetch(other) }
            #expect("\(error)".contains("'%@' stands for a value of any type"), "\(error)")
        }
    }
}
