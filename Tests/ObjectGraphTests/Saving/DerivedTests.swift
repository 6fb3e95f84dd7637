import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct DerivedTests {
    @Test func `a context shows what is derived once it is saved, and the default before`() throws {
        let payroll = try Payroll()
        try payroll.with { context in
            let team = Team(context: context)
            team.name = "LAB"
            let ada = Worker(context: context)
            ada.salary = 7
            ada.team = team
            #expect(team.headcount == 0)
            #expect(team.sortName == nil)

            try context.save()
            #expect(team.headcount == 1)
            #expect(team.sortName == "lab")
            #expect(team.payroll == 7)
            #expect(!context.hasChanges)

            ada.salary = 9
            #expect(team.payroll == 7)
            try context.save()
            #expect(team.payroll == 9)
            #expect(team.highest == 9)
        }
    }

    @Test func `an object that was not changed itself is told of as refreshed`() throws {
        let payroll = try Payroll()
        try payroll.with { context in
            let team = Team(context: context)
            try context.save()
            let recorder = Recorder(.managedObjectContextObjectsDidChange, from: context)
            let ada = Worker(context: context)
            ada.team = team
            try context.save()

            #expect(recorder.objects(ManagedObjectContext.refreshedObjectsKey) == [team])
            #expect(team.headcount == 1)
        }
    }

    @Test func `another context shows it after merging, and nothing collides`() throws {
        let payroll = try Payroll()
        let other = payroll.container.newBackgroundContext()
        try payroll.with { context in
            let team = Team(context: context)
            team.name = "a"
            try context.save()
            let doomed = Team(context: context)
            try context.save()

            let (twin, lost) = try payroll.with(other) { context in
                let twin = try #require(try context.existingObject(with: team.objectID) as? Team)
                let lost = try #require(try context.existingObject(with: doomed.objectID) as? Team)
                #expect(twin.headcount == 0 && lost.headcount == 0)
                twin.name = "B"
                context.delete(lost)
                return (twin.objectID, lost.objectID)
            }
            for home in [team, doomed] {
                let ada = Worker(context: context)
                ada.team = home
            }
            try context.save()
            doomed.workers = []
            try context.save()
            try payroll.with(other) { context in
                #expect(try context.mergeChanges().isEmpty)
                let twin = try #require(try context.existingObject(with: twin) as? Team)
                #expect(twin.headcount == 1)
                #expect(twin.name == "B")
                try context.save()
                #expect(twin.sortName == "b")
            }
            _ = try context.mergeChanges()
            #expect(team.sortName == "b")
            #expect(try context.count(FetchRequest<Team>()) == 1)
            _ = lost
        }
    }

    @Test func `undoing a save in the context names the entry, and derived values follow`() throws {
        let payroll = try Payroll()
        try payroll.with { context in
            context.undoManager = UndoManager()
            let team = Team(context: context)
            try context.save()
            let ada = Worker(context: context)
            ada.salary = 5
            ada.team = team
            let hired = try #require(try context.save())
            #expect(team.payroll == 5)

            context.undo()
            let fired = try #require(try context.save())
            #expect(team.payroll == 0)
            let store = payroll.container.persistentStoreCoordinator.persistentStores[0].store
            #expect(try store.entry(fired).header.undoes == hired...hired)

            context.redo()
            try context.save()
            #expect(team.payroll == 5)
            #expect(try Payroll.wrong(in: context).isEmpty)
        }
    }

    @Test func `a delete of a new object is an undo of its insert, whatever was derived`() throws {
        let payroll = try Payroll()
        try payroll.with { context in
            context.undoManager = UndoManager()
            let team = Team(context: context)
            team.name = "X"
            let made = try #require(try context.save())
            let ada = Worker(context: context)
            ada.team = team
            try context.save()
            context.undo()
            try context.save()
            context.undo()
            let gone = try #require(try context.save())

            let store = payroll.container.persistentStoreCoordinator.persistentStores[0].store
            #expect(try store.entry(gone).header.undoes == made...made)
        }
    }

    @Test func `children and their parents show it once the root has saved`() throws {
        let payroll = try Payroll()
        try payroll.with { root in
            let team = Team(context: root)
            try root.save()
            let child = ManagedObjectContext(parent: root)
            child.automaticallyMergesChangesFromParent = true
            let twin = try child.performAndWait { () throws in
                let twin = try #require(try child.existingObject(with: team.objectID) as? Team)
                #expect(twin.headcount == 0)
                let ada = Worker(context: child)
                ada.team = twin
                try child.save()
                #expect(twin.headcount == 0)
                return twin.objectID
            }
            #expect(team.headcount == 0)
            try root.save()
            #expect(team.headcount == 1)
            try child.performAndWait { () throws in
                _ = try child.mergeChanges()
                let twin = try #require(try child.existingObject(with: twin) as? Team)
                #expect(twin.headcount == 1)
            }
        }
    }

    @Test func `predicates, order, blame and the past know it`() throws {
        let payroll = try Payroll()
        try payroll.with { context in
            for (name, count) in [("b", 1), ("a", 3), ("c", 2)] {
                let team = Team(context: context)
                team.name = name
                for _ in 0..<count { Worker(context: context).team = team }
            }
            let before = try #require(try context.save(author: "Ann"))
            let team = try #require(
                try context.fetch(FetchRequest<Team>(where: \Team.headcount == 1)).first)
            Worker(context: context).team = team
            try context.save(author: "Ben")

            var request = FetchRequest<Team>(where: Condition("headcount >= 2"))
            request.order = [.descending("headcount"), .ascending("sortName")]
            #expect(try context.fetch(request).map(\.name) == ["a", "b", "c"])
            #expect(try context.blame(of: team.objectID, property: "headcount").author == "Ben")
            let past = try payroll.container.context(at: .sequence(before))
            try past.performAndWait { () throws in
                #expect(try past.fetch(request).map(\.name) == ["a", "c"])
                #expect(try Payroll.wrong(in: past).isEmpty)
            }
        }
    }

    @Test func `a program that sets a derived value by name is stopped`() async {
        await #expect(processExitsWith: .failure) {
            let payroll = try Payroll()
            try payroll.with { context in
                Team(context: context).setValue(5, forKey: "headcount")
            }
        }
    }

    @Test func `an expression that means nothing is a mistake of the model`() throws {
        final class Odd: ManagedObject {
            @Attribute(.derived("things.@average")) private(set) var mean: Double = 0
        }
        #expect {
            _ = try TestContainer.make(inMemory: [Odd.self])
        } throws: { error in
            "\(error)".contains("'things.@average'")
        }
    }

    @Test func `a batch insert has derived values and sets none`() throws {
        let payroll = try Payroll()
        try payroll.with { context in
            let team = Team(context: context)
            try context.save()
            let workers = BatchInsertRequest<Worker>(0..<3) { number, row in
                row[\.salary] = number
                row.relate(\.team, to: team.objectID)
            }
            #expect(try context.execute(workers).count == 3)
            _ = try context.mergeChanges()
            #expect(team.headcount == 3)
            #expect(team.payroll == 3)

            let forged = BatchInsertRequest<Worker>(0..<1) { _, row in
                row["reportCount"] = .int(7)
            }
            #expect {
                try context.execute(forged)
            } throws: { error in
                "\(error)".contains("'reportCount' is derived and cannot be set")
            }
        }
    }
}
