import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// Transient values, after "Merging Changes with Transient Properties".
@Suite struct CoreDataTransientTests {
    @Test func `S46 a transient property is in no store and no entry`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Lovelace")
        try store.inContext { (context) throws in
            let before = try store.head
            let ada = try context.employee(id)
            ada.fullName = "The Enchantress of Numbers"

            try context.save()

            #expect(try store.head == before)
        }
        try store.inContext { (context) throws in
            #expect(try context.employee(id).fullName == "Ada Lovelace")
        }
    }

    @Test func `S47 S49 a merging refresh restores transient values after awakeFromFetch`() throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Ada", "Byron")
        try store.inContext { (context) throws in
            let ada = try context.employee(id)
            #expect(ada.fullName == "Ada Byron")
            ada.fullName = "Countess"
            try store.edit(id) { $0.lastName = "Lovelace" }
            let awakened = ada.calls.awakeFromFetch

            context.refresh(ada, mergeChanges: true)

            #expect(ada.calls.awakeFromFetch == awakened + 1)
            #expect(ada.lastName == "Lovelace")
            #expect(ada.fullName == "Countess")
        }
    }

    @Test(arguments: [(false, "Sarit Jones"), (true, "Fiona Jones")])
    func `S48 S50 WE2 Sarit Smith: the cached full name is stale unless a hook computes it again`(
        renewsFullName: Bool, fullName: String
    ) throws {
        let store = try CompanyStore()
        let id = try store.addEmployee("Sarit", "Smith")
        let (one, two) = (store.context(), store.context())
        try two.performAndWait { () throws in
            let sarit = try two.employee(id)
            sarit.renewsFullName = renewsFullName
            #expect(sarit.fullName == "Sarit Smith")
            try one.performAndWait { () throws in
                let sarit = try one.employee(id)
                sarit.firstName = "Fiona"
                sarit.cacheFullName()
                #expect(sarit.fullName == "Fiona Smith")
                try one.save()
            }
            sarit.lastName = "Jones"
            sarit.cacheFullName()
            #expect(sarit.fullName == "Sarit Jones")

            two.refresh(sarit, mergeChanges: true)

            #expect(sarit.firstName == "Fiona")
            #expect(sarit.lastName == "Jones")
            #expect(sarit.fullName == fullName)
            try store.inContext { (third) throws in
                #expect(try third.employee(id).fullName == "Fiona Smith")
            }
            try two.save()
        }
        try store.inContext { (third) throws in
            #expect(try third.employee(id).fullName == "Fiona Jones")
        }
    }
}
