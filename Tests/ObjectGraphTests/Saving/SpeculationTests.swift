import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct SpeculationTests {
    // MARK: - Speculating

    @Test func `a speculative context reads the past and takes edits on top`() throws {
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        let count = try whatIf.head()

        try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            #expect(context.isSpeculative)
            #expect(ada.lastName == "Byron")
            ada.salary = 20
            let linus = Employee(context: context)
            linus.lastName = "Torvalds"
            linus.department = try context.unit(whatIf.research)

            let rich = FetchRequest<Employee>(where: \Employee.salary == 20)
            #expect(try context.fetch(rich) == [ada])
            #expect(try context.unit(whatIf.research).employees.count == 3)
            let inResearch = Condition<Employee>("department.name == 'R&D'")
            #expect(try context.count(FetchRequest(where: inResearch)) == 3)
        }
        #expect(try whatIf.head() == count)
        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Lovelace", salary: 10))
    }

    @Test func `a speculative context stays in the past while others save`() throws {
        let whatIf = try WhatIf()
        let ada = try whatIf.here { (context) throws in
            context.automaticallyMergesChangesFromParent = true
            return try context.hired(whatIf.ada)
        }
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }

        try whatIf.here { (context) throws in
            context.refreshAllObjects()
            #expect(ada.lastName == "Byron")
            ada.salary = 20
            try context.save()
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `what if the store had begun otherwise`() throws {
        let whatIf = try WhatIf()
        let empty = try whatIf.store.container.speculativeContext(at: .sequence(.zero))

        try empty.performAndWait { () throws in
            #expect(try empty.count(FetchRequest<Employee>()) == 0)
            Employee(context: empty).lastName = "Babbage"
            #expect(try empty.count(FetchRequest<Employee>()) == 1)
            try empty.save()
            #expect(try empty.count(FetchRequest<Employee>()) == 3)
        }
    }

    @Test func `what was tried is undone and made again step by step`() throws {
        let whatIf = try WhatIf()

        try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.salary = 20
            context.processPendingChanges()
            ada.salary = 30
            context.undo()
            #expect(ada.salary == 20)
            context.undo()
            #expect(ada.salary == 10)
            #expect(!context.hasChanges)
            context.redo()
            #expect(ada.salary == 20)
        }
    }

    @Test(arguments: [true, false])
    func `discarding what was tried leads back to the past`(isReset: Bool) throws {
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }

        try whatIf.here { (context) throws in
            try context.hired(whatIf.ada).salary = 20
            context.delete(try context.hired(whatIf.grace))
            context.processPendingChanges()
            if isReset { context.reset() } else { context.rollback() }

            #expect(!context.hasChanges)
            #expect(context.isSpeculative)
            let ada = try context.hired(whatIf.ada)
            #expect(ada.lastName == "Byron")
            #expect(ada.salary == 10)
            #expect(try context.count(FetchRequest<Employee>()) == 2)
            #expect(try context.save() == nil)
            ada.firstName = "Augusta"
            try context.save()
            #expect(ada.lastName == "Lovelace")
        }
        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Lovelace", salary: 10))
    }

    @Test func `a context that only reads the past says how to try a change`() throws {
        let whatIf = try WhatIf()
        let past = try whatIf.store.container.context(at: .sequence(whatIf.then))

        try past.performAndWait { () throws in
            #expect(!past.isSpeculative)
            try past.hired(whatIf.ada).salary = 20
            for attempt in [{ _ = try past.save() }, { _ = try past.previewSave() }] {
                let error = #expect(throws: StoreError.self) { try attempt() }
                #expect(error?.code == .readOnly)
                #expect(error?.message.contains("speculativeContext(at:)") == true)
            }
        }
    }

    // MARK: - Merging forward

    @Test func `a save is merged with what was saved since, and the context is at the head`()
        throws
    {
        let whatIf = try WhatIf()
        let (ada, grace) = try whatIf.here { (context) throws in
            (try context.hired(whatIf.ada), try context.hired(whatIf.grace))
        }
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        let linus = try whatIf.others { (context) throws in
            context.delete(try context.hired(whatIf.grace))
            Employee(context: context).lastName = "Torvalds"
        }

        let saved = try whatIf.here { (context) throws in
            ada.salary = 20
            return try context.save(author: "dana", note: "Had we paid more")
        }

        #expect(saved == linus.next)
        let entry = try whatIf.store.container.persistentStoreCoordinator.persistentStores[0]
            .store.entry(linus.next)
        #expect(entry.header.base == whatIf.then)
        #expect(entry.changes.map(\.object) == [whatIf.ada.object])
        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Lovelace", salary: 20))
        try whatIf.here { (context) throws in
            #expect(!context.isSpeculative)
            #expect(context.queryGenerationToken == nil)
            #expect(ada.lastName == "Lovelace")
            #expect(ada.salary == 20)
            #expect(grace.isDeleted)
            #expect(try context.fetch(FetchRequest<Employee>()).count == 2)
        }
        try whatIf.others(edit: whatIf.ada) { $0.firstName = "Augusta" }
        try whatIf.here { (context) throws in
            context.refreshAllObjects()
            #expect(ada.firstName == "Augusta")
        }
    }

    @Test func `a save with nothing to save leaves the context in the past`() throws {
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }

        try whatIf.here { (context) throws in
            #expect(try context.save() == nil)
            #expect(context.isSpeculative)
            #expect(try context.hired(whatIf.ada).lastName == "Byron")
        }
    }

    @Test func `what others have saved as well is not an entry under a policy that settles`() throws
    {
        let whatIf = try WhatIf()
        let head = try whatIf.others(edit: whatIf.ada) {
            $0.lastName = "Lovelace"
            $0.firstName = "Augusta"
        }

        try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.lastName = "Lovelace"
            #expect(throws: StoreError.self) { try context.save() }
            #expect(context.isSpeculative)
            context.mergePolicy = .mergeByPropertyStoreTrump
            #expect(try context.save() == nil)
            #expect(!context.isSpeculative)
            #expect(!context.hasChanges)
            #expect(ada.firstName == "Augusta")
        }
        #expect(try whatIf.head() == head)
    }

    @Test func `a conflict tells base, theirs with entry, author and time, and ours`() throws {
        let whatIf = try WhatIf()
        let later = try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        try whatIf.others(edit: whatIf.ada) { $0.salary = 11 }
        let head = try whatIf.head()
        try whatIf.here { (context) throws in
            try context.hired(whatIf.ada).lastName = "King"
            try context.hired(whatIf.grace).salary = 12
        }

        let error = try whatIf.refusal()

        #expect(error.code == .conflict)
        let conflict = try #require(error.conflicts.first)
        #expect(error.conflicts.count == 1)
        #expect(conflict.kind == .value)
        #expect(conflict.object == whatIf.ada.object)
        #expect(conflict.propertyName == "lastName")
        #expect(conflict.base == .string("Byron"))
        #expect(conflict.theirs == .string("Lovelace"))
        #expect(conflict.ours == .string("King"))
        #expect(conflict.sequence == later)
        #expect(conflict.author == "bob")
        #expect(conflict.time != nil)
        #expect(try whatIf.head() == head)
        try whatIf.here { (context) throws in
            #expect(context.isSpeculative)
            #expect(context.updatedObjects.count == 2)
            #expect(try context.hired(whatIf.ada).salary == 10)
        }
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, Pay(name: "Lovelace", salary: 20)),
        (.mergeByPropertyObjectTrump, Pay(name: "King", salary: 20)),
        (.overwrite, Pay(name: "King", salary: 20)),
        (.rollback, Pay(name: "Lovelace", salary: 10)),
    ])
    func `a policy settles a conflict with what was saved since`(
        policy: MergePolicy, outcome: Pay
    ) throws {
        let whatIf = try WhatIf(policy)
        try whatIf.others(edit: whatIf.ada) {
            $0.lastName = "Lovelace"
            $0.firstName = "Augusta"
        }

        let (name, salary, firstName) = try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            (ada.lastName, ada.salary) = ("King", 20)
            try context.save()
            #expect(!context.isSpeculative)
            return (ada.lastName, ada.salary, ada.firstName)
        }

        #expect(try whatIf.pay(whatIf.ada) == outcome)
        #expect(Pay(name: name, salary: salary) == outcome)
        #expect(firstName == (policy == .overwrite ? "Ada" : "Augusta"))
    }

    @Test func `a custom policy is asked about the past and the head`() throws {
        struct Highest: CustomMergePolicy {
            func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
                for index in conflicts.indices {
                    conflicts[index].resolve("salary", with: .value(.decimal(99)))
                }
            }
        }
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) { $0.salary = 11 }

        try whatIf.here { (context) throws in
            context.customMergePolicy = Highest()
            let ada = try context.hired(whatIf.ada)
            ada.salary = 20
            try context.save()
            #expect(ada.salary == 99)
        }

        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Byron", salary: 99))
    }

    @Test func `an object that was only looked at can be watched for changes since`() throws {
        let whatIf = try WhatIf()
        try whatIf.here { (context) throws in
            context.detectConflicts(for: try context.hired(whatIf.grace))
            try context.hired(whatIf.ada).salary = 20
            #expect(try context.previewSave().refusal == nil)
        }
        let later = try whatIf.others(edit: whatIf.grace) { $0.salary = 11 }

        let error = try whatIf.refusal()

        #expect(error.conflicts.map(\.object) == [whatIf.grace.object])
        #expect(error.conflicts.map(\.sequence) == [later])
    }

    // MARK: - Inserts and deletes since

    @Test func `an edit of an object deleted since names the entry that deleted it`() throws {
        let whatIf = try WhatIf()
        let deletion = try whatIf.others { $0.delete(try $0.hired(whatIf.ada)) }
        try whatIf.here { try $0.hired(whatIf.ada).salary = 20 }

        let error = try whatIf.refusal()

        let conflict = try #require(error.conflicts.first)
        #expect(error.conflicts.count == 1)
        #expect(conflict.kind == .deletedByThem)
        #expect(conflict.sequence == deletion)
        #expect(conflict.author == "bob")
        #expect(conflict.ours == .decimal(20))
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyObjectTrump, true), (.overwrite, true),
        (.mergeByPropertyStoreTrump, false), (.rollback, false),
    ])
    func `the policy says whether an object deleted since comes back`(
        policy: MergePolicy, comesBack: Bool
    ) throws {
        let whatIf = try WhatIf(policy)
        try whatIf.others { $0.delete(try $0.hired(whatIf.ada)) }

        try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.salary = 20
            try context.save()
            #expect(ada.isDeleted == !comesBack)
            #expect(!context.hasChanges)
        }

        #expect(try whatIf.stored { try $0.count(FetchRequest<Employee>()) } == (comesBack ? 2 : 1))
        if comesBack {
            #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Byron", salary: 20))
        }
    }

    @Test func `deleting what others have changed since is a conflict`() throws {
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) { $0.salary = 11 }
        try whatIf.here { $0.delete(try $0.hired(whatIf.ada)) }

        let error = try whatIf.refusal()

        #expect(error.conflicts.map(\.kind) == [.deletedByUs])
        #expect(error.conflicts.first?.base == .decimal(10))
        #expect(error.conflicts.first?.theirs == .decimal(11))
        try whatIf.here { (context) throws in
            context.mergePolicy = .mergeByPropertyObjectTrump
            try context.save()
        }
        #expect(try whatIf.stored { try $0.count(FetchRequest<Employee>()) } == 1)
    }

    @Test func `a unique value taken since is refused with its owner`() throws {
        let whatIf = try WhatIf()
        try whatIf.others { Department(context: $0).name = "Sales" }
        try whatIf.here { Department(context: $0).name = "Sales" }

        let error = try whatIf.refusal()

        #expect(error.code == .duplicate)
        #expect(error.constraintConflicts.first?.owner != nil)
        #expect(error.constraintConflicts.first?.values == [.string("Sales")])
    }

    @Test func `an object with a unique value taken since becomes one with its owner`() throws {
        let whatIf = try WhatIf(.mergeByPropertyStoreTrump)
        try whatIf.others { Department(context: $0).name = "Sales" }

        try whatIf.here { (context) throws in
            let sales = Department(context: context)
            sales.name = "Sales"
            try context.hired(whatIf.ada).department = sales
            try context.save()
            #expect(try context.hired(whatIf.ada).department?.name == "Sales")
        }

        try whatIf.stored { (context) throws in
            let sales = FetchRequest<Department>(where: \Department.name == "Sales")
            #expect(try context.fetch(sales).map { $0.employees.map(\.firstName) } == [["Ada"]])
        }
    }

    @Test func `a value that was unique then may have been freed since`() throws {
        let whatIf = try WhatIf()
        try whatIf.others { try $0.unit(whatIf.research).name = "Research" }

        try whatIf.here { (context) throws in
            let second = Department(context: context)
            second.name = "R&D"
            try context.save()
        }

        let names = try whatIf.stored { try $0.fetch(FetchRequest<Department>()).map(\.name) }
        #expect(names == ["Research", "R&D"])
    }

    @Test func `an object unknown then is not there, but can be referred to`() throws {
        let whatIf = try WhatIf()
        var sales: ManagedObjectID?
        try whatIf.others { (context) throws in
            let department = Department(context: context)
            department.name = "Sales"
            sales = department.objectID
        }
        let id = try #require(sales)

        try whatIf.here { (context) throws in
            let error = #expect(throws: StoreError.self) { try context.existingObject(with: id) }
            #expect(error?.code == .noSuchObject)
            try context.hired(whatIf.ada).department = context.object(with: id) as? Department
            try context.save()
            #expect(try context.hired(whatIf.ada).department?.name == "Sales")
        }

        let name = try whatIf.stored { try $0.hired(whatIf.ada).department?.name }
        #expect(name == "Sales")
    }

    @Test func `a reference to what was deleted since is a conflict that a policy drops`() throws {
        let whatIf = try WhatIf()
        try whatIf.others { try $0.hired(whatIf.ada).department = nil }
        let deletion = try whatIf.others { $0.delete(try $0.unit(whatIf.research)) }
        try whatIf.here { (context) throws in
            let linus = Employee(context: context)
            linus.lastName = "Torvalds"
            linus.department = try context.unit(whatIf.research)
        }

        let error = try whatIf.refusal()

        #expect(error.conflicts.map(\.kind) == [.reference])
        #expect(error.conflicts.first?.sequence == deletion)
        try whatIf.here { (context) throws in
            context.mergePolicy = .mergeByPropertyStoreTrump
            try context.save()
            let linus = FetchRequest<Employee>(where: \Employee.lastName == "Torvalds")
            #expect(try context.fetch(linus).map { $0.department == nil } == [true])
        }
    }

    @Test func `deleting what others now refer to leaves nothing dangling`() throws {
        let whatIf = try WhatIf(.mergeByPropertyObjectTrump)
        try whatIf.others { (context) throws in
            let linus = Employee(context: context)
            linus.lastName = "Torvalds"
            linus.department = try context.unit(whatIf.research)
        }

        try whatIf.here { (context) throws in
            context.delete(try context.unit(whatIf.research))
            try context.save()
            #expect(try context.fetch(FetchRequest<Employee>()).count == 3)
            #expect(try context.fetch(FetchRequest<Employee>()).allSatisfy { $0.department == nil })
        }

        let report = try Store.verify(path: whatIf.store.url.path)
        #expect(report.findings.isEmpty)
    }

    @Test func `members that both sides added are all there, in order`() throws {
        let whatIf = try WhatIf()
        let project = try whatIf.store.inContext { (context) throws in
            let project = Project(context: context)
            project.tasks = ["plan", "ship"].map { title in
                let task = Task(context: context)
                task.title = title
                return task
            }
            try context.save()
            return project.objectID
        }
        let whatIfLater = try whatIf.store.container.speculativeContext(at: .head)
        func add(_ title: String, in context: ManagedObjectContext) throws {
            let object = try #require(try context.existingObject(with: project) as? Project)
            let task = Task(context: context)
            task.title = title
            object.tasks.insert(task, at: 1)
            object.members.insert(
                try context.hired(title == "build" ? whatIf.ada : whatIf.grace))
        }
        try whatIf.others { try add("test", in: $0) }

        try whatIfLater.performAndWait { () throws in
            try add("build", in: whatIfLater)
            try whatIfLater.save()
            let object = try whatIfLater.existingObject(with: project) as? Project
            let titles = object?.tasks.map(\.title) ?? []
            #expect(titles.first == "plan" && titles.last == "ship")
            #expect(Set(titles) == ["plan", "build", "test", "ship"])
            #expect(object?.members.count == 2)
        }

        try whatIf.stored { (context) throws in
            let object = try context.existingObject(with: project) as? Project
            #expect(object?.tasks.count == 4)
            #expect(object?.members.count == 2)
        }
    }

    // MARK: - Children, undo, several stores

    @Test func `a child of a speculative context saves into it, and it merges forward`() throws {
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        let child = ManagedObjectContext(parent: whatIf.context)

        try child.performAndWait { () throws in
            let ada = try child.hired(whatIf.ada)
            #expect(ada.lastName == "Byron")
            ada.salary = 20
            try child.save(author: "dana", note: "Tried in a child")
        }
        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Lovelace", salary: 10))
        try whatIf.here { (context) throws in
            #expect(context.hasChanges)
            try context.save()
        }

        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Lovelace", salary: 20))
        try child.performAndWait { () throws in
            _ = try child.mergeChanges()
            #expect(try child.hired(whatIf.ada).lastName == "Lovelace")
        }
    }

    @Test func `undo after the save takes back what was tried and nothing of others`() throws {
        let whatIf = try WhatIf(.mergeByPropertyObjectTrump)
        try whatIf.others(edit: whatIf.ada) {
            $0.lastName = "Lovelace"
            $0.salary = 11
        }

        try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.firstName = "Augusta"
            try context.save()
            context.undo()
            #expect(ada.firstName == "Ada")
            #expect(ada.lastName == "Lovelace")
            #expect(ada.salary == 11)
            try context.save()
        }

        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "Lovelace", salary: 11))
        #expect(try whatIf.stored { try $0.hired(whatIf.ada).firstName } == "Ada")
    }

    @Test func `with several stores each is merged forward from its own past`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        let ada = try #require(set.hire("Byron", in: stores[0]).first)
        let grace = try #require(set.hire("Murray", in: stores[1]).first)
        let sequences = try set.coordinator.sequences(at: .head)
        let whatIf = ManagedObjectContext(
            set.coordinator,
            on: CoordinatedStores(of: set.coordinator, speculatingFrom: sequences))
        try set.inContext { (context) throws in
            try context.hired(ada).firstName = "Ada"
            try context.hired(grace).firstName = "Grace"
            try context.save()
        }

        try whatIf.performAndWait { () throws in
            #expect(try whatIf.hired(grace).firstName.isEmpty)
            try whatIf.hired(ada).lastName = "Lovelace"
            try whatIf.hired(grace).lastName = "Hopper"
            try whatIf.save()
            #expect(try whatIf.hired(ada).firstName == "Ada")
            #expect(try whatIf.hired(grace).firstName == "Grace")
        }

        try set.inContext { (context) throws in
            #expect(try context.hired(ada).fullName == "Ada Lovelace")
            #expect(try context.hired(grace).fullName == "Grace Hopper")
        }
    }

    // MARK: - Previews

    @Test func `a preview tells what a save would meet, and saves nothing`() throws {
        let whatIf = try WhatIf()
        let later = try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        try whatIf.others { Department(context: $0).name = "Sales" }
        let head = try whatIf.head()

        try whatIf.here { (context) throws in
            let clean = try context.previewSave()
            #expect(clean.refusal == nil)
            #expect(clean.conflicts.isEmpty)
            let ada = try context.hired(whatIf.ada)
            ada.lastName = "King"
            let preview = try context.previewSave()
            #expect(preview.refusal?.code == .conflict)
            #expect(preview.conflicts.map(\.sequence) == [later])
            #expect(preview.conflicts.first?.author == "bob")

            context.mergePolicy = .mergeByPropertyObjectTrump
            let settled = try context.previewSave()
            #expect(settled.refusal == nil)
            #expect(settled.conflicts == preview.conflicts)

            context.mergePolicy = .error
            ada.lastName = "Byron"
            Department(context: context).name = "Sales"
            let taken = try context.previewSave()
            #expect(taken.refusal?.code == .duplicate)
            #expect(taken.constraintConflicts.first?.owner != nil)
            #expect(context.isSpeculative)
            #expect(context.hasChanges)
        }
        #expect(try whatIf.head() == head)
    }

    @Test func `a preview sees nothing wrong with references to what is deleted here`() throws {
        let whatIf = try WhatIf()
        try whatIf.here { (context) throws in
            try context.hired(whatIf.ada).mentor = try context.hired(whatIf.grace)
            context.delete(try context.hired(whatIf.grace))

            let preview = try context.previewSave()

            #expect(preview.conflicts.isEmpty)
            #expect(preview.refusal == nil)
            try context.save()
            #expect(try context.hired(whatIf.ada).mentor == nil)
        }
    }

    @Test func `a preview tells of values that do not fit the model`() throws {
        let store = try ClassStore(motorpool)
        let context = try store.container.speculativeContext(at: .head)

        try context.performAndWait { () throws in
            let truck = Truck.valid(in: context)
            #expect(try context.previewSave().refusal == nil)
            truck.name = "c"

            let refusal = try context.previewSave().refusal

            #expect(refusal?.code == .validation)
            #expect(refusal?.failures.map(\.property) == ["name"])
            #expect(context.insertedObjects.contains(truck))
        }
    }

    @Test func `a preview refuses with the words of the save`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let department = Department(context: context)
            let project = Project(context: context)
            (department.name, project.sponsor) = ("R&D", department)
            try context.save()
            context.delete(department)

            let preview = try context.previewSave()

            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .validation)
            #expect(preview.refusal?.message == error?.message)
            #expect(preview.refusal?.failures == error?.failures)
            #expect(preview.conflicts.isEmpty)
        }
    }

    @Test func `a preview tells of a blocked undo, which the save still throws`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let blocked = StoreError(.undoBlocked, "Entry 3 cannot be undone.")
            Department(context: context).name = "R&D"
            context.rememberUndoFailure(blocked)

            let refusals = try (0..<2).map { _ in try context.previewSave().refusal }

            #expect(refusals.map { $0?.code } == [.undoBlocked, .undoBlocked])
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.message == refusals[0]?.message)
            #expect(try context.previewSave().refusal == nil)
            #expect(try context.save() != nil)
        }
    }

    @Test func `a preview calls no hooks of objects`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let updated = Diary(context: context)
            let deleted = Diary(context: context)
            try context.save()
            let inserted = Diary(context: context)
            updated.title = "  two"
            context.delete(deleted)
            let diaries = [inserted, updated, deleted]
            for diary in diaries { diary.log.removeAll() }

            let preview = try context.previewSave()

            #expect(preview.refusal == nil)
            #expect(diaries.allSatisfy { $0.log.isEmpty })
            #expect(updated.title == "  two")
        }
    }

    @Test(arguments: [MergePolicy.error, .mergeByPropertyObjectTrump])
    func `the preview of a child's save tells what collides in its parent`(
        policy: MergePolicy
    ) throws {
        let store = try StaffStore()
        let parent = store.context()
        let child = ManagedObjectContext(parent: parent)
        let id = try parent.performAndWait {
            let ada = Employee(context: parent)
            ada.firstName = "Ada"
            try parent.save()
            return ada.objectID
        }
        let clean = try child.performAndWait {
            child.mergePolicy = policy
            let ada = try #require(child.object(with: id) as? Employee)
            ada.firstName = "Augusta"
            return try child.previewSave()
        }
        parent.performAndWait { (parent.object(with: id) as? Employee)?.firstName = "Adele" }

        try child.performAndWait {
            let preview = try child.previewSave()

            #expect(clean.conflicts.isEmpty && clean.refusal == nil)
            #expect(preview.conflicts.map(\.kind) == [.value])
            #expect(preview.refusal?.code == (policy == .error ? .conflict : nil))
            #expect(child.hasChanges)
            let refusal: StoreError?
            do {
                try child.save()
                refusal = nil
            } catch let error as StoreError {
                refusal = error
            }
            #expect(refusal?.code == preview.refusal?.code)
        }
        withExtendedLifetime(store) {}
    }

    @Test func `the preview of a child's save leaves its parent without change or step of undo`()
        throws
    {
        let store = try StaffStore()
        let parent = store.context()
        let child = ManagedObjectContext(parent: parent)
        let (adaID, graceID) = try store.inContext { (context) throws in
            let people = (0..<2).map { _ in Employee(context: context) }
            try context.save()
            return (people[0].objectID, people[1].objectID)
        }

        try child.performAndWait { () throws in
            try #require(child.object(with: adaID) as? Employee).firstName = "Augusta"
            child.delete(try #require(child.object(with: graceID)))
            Employee(context: child).firstName = "Linus"
            #expect(try child.previewSave().refusal == nil)
        }

        try parent.performAndWait { () throws in
            #expect(!parent.hasChanges)
            #expect(parent.undoManager?.canUndo == false)
            #expect(try parent.count(FetchRequest<Employee>()) == 2)
            #expect(try parent.hired(adaID).firstName == "")
        }
    }

    @Test func `what is pending can be brought to the head before it is saved`() throws {
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) {
            $0.lastName = "Lovelace"
            $0.firstName = "Augusta"
        }

        try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.lastName = "King"
            let conflicts = try context.mergeChanges()
            #expect(conflicts.map(\.theirs) == [.string("Lovelace")])
            #expect(conflicts.map(\.base) == [.string("Byron")])
            #expect(!context.isSpeculative)
            #expect(ada.lastName == "King")
            #expect(ada.firstName == "Augusta")
            try context.save()
        }

        #expect(try whatIf.pay(whatIf.ada) == Pay(name: "King", salary: 10))
    }

    @Test func `the point in the past can be moved on entry by entry`() throws {
        let whatIf = try WhatIf()
        let first = try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "King" }

        try whatIf.here { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.salary = 20
            _ = try context.mergeChanges(through: first)
            #expect(context.isSpeculative)
            #expect(ada.lastName == "Lovelace")
            context.refresh(ada, mergeChanges: true)
            #expect(ada.lastName == "Lovelace")
            #expect(ada.salary == 20)
            try context.save()
            #expect(ada.lastName == "King")
        }
    }

    // MARK: - Query generations

    @Test func `a context held to an older state merges everything since`() throws {
        let whatIf = try WhatIf()
        let older = whatIf.store.context()
        let token = try older.performAndWait { () throws in
            try older.setQueryGeneration(from: .current)
            _ = try older.hired(whatIf.ada)
            return try #require(older.queryGenerationToken)
        }
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        let younger = whatIf.store.context()

        try younger.performAndWait { () throws in
            try younger.setQueryGeneration(from: token)
            let ada = try younger.hired(whatIf.ada)
            #expect(ada.lastName == "Byron")
            _ = try younger.mergeChanges()
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `a context held to a state shows what it saved after others did`() throws {
        let whatIf = try WhatIf()
        let context = whatIf.store.context()
        let ada = try context.performAndWait { () throws in
            try context.setQueryGeneration(from: .current)
            return try context.hired(whatIf.ada)
        }
        try whatIf.others(edit: whatIf.grace) { $0.salary = 11 }

        try context.performAndWait { () throws in
            ada.salary = 20
            try context.save()
            #expect(ada.salary == 20)
            #expect(!ada.hasChanges)
        }
    }
}
