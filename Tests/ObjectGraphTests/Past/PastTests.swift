import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct PastTests {
    // MARK: - Moments

    @Test func `the head is a moment like any other`() throws {
        let whatIf = try WhatIf()
        let past = try whatIf.store.container.context(at: .head)
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }

        try past.performAndWait { () throws in
            #expect(try past.hired(whatIf.ada).lastName == "Byron")
            let error = #expect(throws: StoreError.self) {
                try past.hired(whatIf.ada).lastName = "King"
                try past.save()
            }
            #expect(error?.code == .readOnly)
        }
    }

    @Test func `a tag names an entry, and a context reads what it names`() throws {
        let whatIf = try WhatIf()
        let container = whatIf.store.container
        let tag = try container.setTag("founded", author: "dana", note: "All set")
        let head = try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        try container.setTag("married", at: .sequence(head))

        #expect(tag.sequence == whatIf.then)
        #expect(tag.author == "dana")
        #expect(tag.note == "All set")
        #expect(try container.tags().map(\.name) == ["founded", "married"])
        #expect(try container.tags().first == tag)
        #expect(try whatIf.head() == head)
        for (name, lastName) in [("founded", "Byron"), ("married", "Lovelace")] {
            let past = try container.context(at: .tag(name))
            try past.performAndWait { () throws in
                #expect(try past.hired(whatIf.ada).lastName == lastName)
            }
        }
    }

    @Test func `a tag that is not there is named, with what may have been meant`() throws {
        let whatIf = try WhatIf()
        defer { withExtendedLifetime(whatIf) {} }
        let container = whatIf.store.container
        try container.setTag("founded")

        for attempt in [
            { _ = try container.context(at: .tag("fuonded")) },
            { _ = try container.speculativeContext(at: .tag("fuonded")) },
            { _ = try container.removeTag("fuonded") },
            { _ = try container.differences(from: .tag("fuonded"), to: .head) },
        ] {
            let error = #expect(throws: StoreError.self) { try attempt() }
            #expect(error?.code == .noSuchTag)
            #expect(error?.message.contains("'founded'") == true)
        }
    }

    @Test func `a tag is set once, unless it is to be replaced, and can be removed`() throws {
        let whatIf = try WhatIf()
        let container = whatIf.store.container
        try container.setTag("current")
        let head = try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }

        let error = #expect(throws: StoreError.self) { try container.setTag("current") }
        #expect(error?.code == .tagName)
        #expect(try container.tags().map(\.sequence) == [whatIf.then])
        try container.setTag("current", existing: .replace)
        #expect(try container.tags().map(\.sequence) == [head])
        let removed = try container.removeTag("current")
        #expect(removed.sequence == head)
        #expect(try container.tags().isEmpty)
    }

    @Test(arguments: ["", "12", "head", "2011-12-15", "a/b", "a b"])
    func `a name that could be taken for something else is refused`(name: String) throws {
        let container = try WhatIf().store.container

        let error = #expect(throws: StoreError.self) { try container.setTag(name) }

        #expect(error?.code == .tagName)
        #expect(try container.tags().isEmpty)
    }

    @Test func `with several stores a tag is of the first, the others are as of then`() throws {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            model: staff, configurations: ["all": staff],
            descriptions: ["first", "second"].map {
                PersistentStoreDescription(url: folder.url.appendingPathComponent($0))
            })
        container.loadPersistentStores { #expect($1 == nil, "\($0.url)") }
        let stores = container.persistentStoreCoordinator.persistentStores
        let context = container.newBackgroundContext()
        func hire(_ name: String, in store: PersistentStore, at seconds: Double) throws {
            try context.performAndWait { () throws in
                let employee = Employee(context: context)
                try context.assign(employee, to: store)
                employee.lastName = name
                try context.save(at: Date(timeIntervalSince1970: 4e9 + seconds))
            }
        }
        try hire("Byron", in: stores[0], at: 1)
        try hire("Murray", in: stores[1], at: 2)
        try hire("Torvalds", in: stores[0], at: 3)
        let tag = try container.setTag("three")
        try hire("Wall", in: stores[1], at: 4)
        try hire("Pike", in: stores[0], at: 5)

        #expect(tag.sequence == SequenceNumber(3))
        let past = try container.context(at: .tag("three"))
        let names = try past.performAndWait { () throws in
            Set(try past.fetch(FetchRequest<Employee>()).map(\.lastName))
        }
        #expect(names == ["Byron", "Murray", "Torvalds"])
        let since = try container.differences(from: .tag("three"), to: .head)
        #expect(since.map(\.kind) == [.inserted, .inserted])
        #expect(Set(since.map(\.objectID.storeIdentifier)) == Set(stores.map(\.identifier)))
    }

    @Test func `a container without a store has no moments`() throws {
        let empty = try TestContainer.make(model: staff, descriptions: [])

        for attempt in [
            { _ = try empty.context(at: .head) }, { _ = try empty.speculativeContext(at: .head) },
            { _ = try empty.tags() }, { _ = try empty.setTag("v1") },
            { _ = try empty.firstEntry { _ in true } },
        ] {
            let error = #expect(throws: StoreError.self) { try attempt() }
            #expect(error?.code == .noSuchStore)
        }
    }

    @Test func `a moment past the end is refused with the last entry`() throws {
        let whatIf = try WhatIf()

        let error = #expect(throws: StoreError.self) {
            try whatIf.store.container.speculativeContext(at: .sequence(SequenceNumber(99)))
        }

        #expect(error?.code == .noSuchEntry)
        #expect(error?.message.contains("entry \(whatIf.then)") == true)
    }

    // MARK: - Missing entries and objects

    @Test func `what was deleted before the moment is reported with that entry, not a later one`()
        throws
    {
        let whatIf = try WhatIf()
        let store = whatIf.store.container.persistentStoreCoordinator.persistentStores[0]
        let first = try whatIf.others { $0.delete(try $0.hired(whatIf.ada)) }
        try store.undo(first)
        let second = try whatIf.others { $0.delete(try $0.hired(whatIf.ada)) }

        for (moment, deletion) in [(first, first), (second, second)] {
            let past = try whatIf.store.container.context(at: .sequence(moment))
            let error = past.performAndWait {
                #expect(throws: StoreError.self) { try past.existingObject(with: whatIf.ada) }
            }
            #expect(error?.code == .objectDeleted)
            #expect(error?.message.contains("in entry \(deletion) by 'bob'") == true)
        }
        let between = try whatIf.store.container.context(at: .sequence(first.next))
        try between.performAndWait { () throws in
            #expect(try between.hired(whatIf.ada).lastName == "Byron")
        }
    }

    // MARK: - History and blame

    @Test func `a history tells who did what to an object, why and when`() throws {
        let whatIf = try WhatIf()
        let date = Date(timeIntervalSince1970: 4e9)
        try whatIf.store.inContext { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.lastName = "Lovelace"
            ada.department = nil
            try context.save(author: "dana", note: "Married", at: date)
            context.delete(ada)
            try context.save(author: "erin")
        }

        let history = try whatIf.stored { try $0.history(of: whatIf.ada) }

        #expect(history.map(\.kind) == [.inserted, .updated, .deleted])
        #expect(history.map(\.author) == ["carol", "dana", "erin"])
        #expect(history.map(\.note) == ["Founded", "Married", nil])
        #expect(history[1].time == date)
        #expect(
            history[1].changes == [
                PropertyChange(
                    name: "department", old: .object(whatIf.research.object), new: .null,
                    removed: [whatIf.research], added: []),
                PropertyChange(
                    name: "lastName", old: .string("Byron"), new: .string("Lovelace"),
                    removed: [], added: []),
            ])
        #expect(history[0].changes.allSatisfy { $0.old == .null })
        #expect(history[2].changes.allSatisfy { $0.new == .null })
        #expect(history[2].changes.contains { $0.old == .string("Lovelace") })
    }

    @Test func `an object that never was has no history`() throws {
        let whatIf = try WhatIf()

        try whatIf.stored { (context) throws in
            let fresh = Employee(context: context)
            #expect(try context.history(of: fresh.objectID).isEmpty)
            let error = #expect(throws: StoreError.self) {
                try context.blame(of: fresh.objectID)
            }
            #expect(error?.code == .noSuchObject)
        }
        let stranger = try WhatIf()
        let error = #expect(throws: StoreError.self) {
            try whatIf.stored { try $0.history(of: stranger.ada) }
        }
        #expect(error?.code == .noSuchObject)
    }

    @Test func `blame names the last to change each property, and what it was before`() throws {
        let whatIf = try WhatIf()
        let later = try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        try whatIf.others(edit: whatIf.ada) { $0.salary = 20 }

        try whatIf.stored { (context) throws in
            let ada = try context.hired(whatIf.ada)
            let origin = try context.blame(of: ada, \.lastName)
            #expect(origin.name == "lastName")
            #expect(origin.sequence == later)
            #expect(origin.author == "bob")
            #expect(origin.note == "Later")
            #expect(origin.value == .string("Lovelace"))
            #expect(origin.previous == .string("Byron"))
            #expect(!origin.isInsert)
            let department = try context.blame(of: whatIf.ada, property: "department")
            #expect(department.author == "carol")
            #expect(department.isInsert)
            #expect(department.objects == [whatIf.research])
            #expect(try context.blame(of: whatIf.ada).contains(origin))
            let employees = try context.blame(of: whatIf.research, property: "employees")
            #expect(Set(employees.objects) == [whatIf.ada, whatIf.grace])
        }
        let child = ManagedObjectContext(parent: whatIf.context)
        try child.performAndWait { () throws in
            let origin = try child.blame(of: whatIf.ada, property: "lastName")
            #expect(origin.value == .string("Byron"))
            #expect(origin.author == "carol")
            #expect(try child.history(of: whatIf.ada).count == 1)
        }
    }

    @Test func `blame of a deleted object names the entry that deleted it`() throws {
        let whatIf = try WhatIf()
        let deletion = try whatIf.others { $0.delete(try $0.hired(whatIf.ada)) }

        let error = #expect(throws: StoreError.self) {
            try whatIf.stored { try $0.blame(of: whatIf.ada) }
        }

        #expect(error?.code == .objectDeleted)
        #expect(error?.message.contains("entry \(deletion)") == true)
    }

    @Test func `blaming a property that is in no entry stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let whatIf = try WhatIf()
            try whatIf.here { _ = try $0.blame(of: whatIf.ada, property: "fullName") }
        }
    }

    @Test func `blaming a path of two properties stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let whatIf = try WhatIf()
            try whatIf.here { context in
                let ada = try context.hired(whatIf.ada)
                _ = try context.blame(of: ada, \.department?.name)
            }
        }
    }

    // MARK: - Differences and halving

    @Test func `differences lead from one moment to another and back`() throws {
        let whatIf = try WhatIf()
        let container = whatIf.store.container
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "King" }
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Lovelace" }
        try whatIf.others { Employee(context: $0).lastName = "Torvalds" }

        let forth = try container.differences(from: .sequence(whatIf.then), to: .head)
        let back = try container.differences(from: .head, to: .sequence(whatIf.then))

        #expect(forth.map(\.kind) == [.updated, .inserted])
        #expect(forth.first?.objectID == whatIf.ada)
        #expect(forth.first?.changes.map(\.old) == [.string("Byron")])
        #expect(forth.first?.changes.map(\.new) == [.string("Lovelace")])
        #expect(back.map(\.kind) == [.updated, .deleted])
        #expect(back.first?.changes.map(\.new) == [.string("Byron")])
        #expect(try container.differences(from: .head, to: .head).isEmpty)
    }

    @Test func `what was changed and changed back is no difference`() throws {
        let whatIf = try WhatIf()
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "King" }
        try whatIf.others(edit: whatIf.ada) { $0.lastName = "Byron" }
        let linus = try whatIf.others { Employee(context: $0).lastName = "Torvalds" }
        try whatIf.store.container.persistentStoreCoordinator.persistentStores[0].undo(linus)

        let differences = try whatIf.store.container.differences(
            from: .sequence(whatIf.then), to: .head)

        #expect(differences.isEmpty)
    }

    @Test func `halving finds an entry in few looks, and says when there is none`() throws {
        let whatIf = try WhatIf()
        let container = whatIf.store.container
        var entries: [SequenceNumber] = []
        for salary in 11...60 {
            entries.append(try whatIf.others(edit: whatIf.ada) { $0.salary = Decimal(salary) })
        }
        var looks = 0
        func earns(_ salary: Decimal, _ past: ManagedObjectContext) throws -> Bool {
            looks += 1
            let rich = FetchRequest<Employee>(where: \Employee.salary >= salary)
            return try past.count(rich) > 0
        }

        #expect(try container.firstEntry { try earns(42, $0) } == entries[31])
        #expect(looks <= 8)
        #expect(try container.firstEntry { try earns(61, $0) } == nil)
        #expect(
            try container.firstEntry(from: .sequence(entries[40])) { try earns(42, $0) }
                == entries[40])
        #expect(try container.firstEntry(to: .sequence(entries[20])) { try earns(42, $0) } == nil)
        #expect(
            try container.firstEntry(from: .head, to: .sequence(entries[0])) { _ in true } == nil)
        #expect(try container.firstEntry { _ in true } == .zero)
        let error = #expect(throws: StoreError.self) {
            try container.firstEntry { past in
                try past.hired(whatIf.ada).salary = 1
                return try past.save() != nil
            }
        }
        #expect(error?.code == .readOnly)
    }
}
