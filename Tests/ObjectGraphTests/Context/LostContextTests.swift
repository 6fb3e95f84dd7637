import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Objects that outlive their context or a reset.
@Suite struct LostContextTests {
    /// An object whose context is gone, because the program holds nothing else.
    private static func outliving(
        _ body: (ManagedObjectContext) throws -> ManagedObject
    ) throws -> ManagedObject {
        let store = try StaffStore()
        defer { withExtendedLifetime(store) {} }
        let context = store.context()
        return try context.performAndWait { () throws in try body(context) }
    }

    private static func hired(_ context: ManagedObjectContext) throws -> Employee {
        let ada = Employee(context: context)
        ada.lastName = "Lovelace"
        ada.department = Department(context: context)
        ada.department?.name = "Research"
        try context.save()
        return ada
    }

    private func talk(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `reading a fault whose context is gone stops a debug build with a sentence`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let ada = try Self.outliving { context in
                let ada = try Self.hired(context)
                context.refresh(ada, mergeChanges: false)
                return ada
            }
            _ = (ada as? Employee)?.lastName
        }

        #expect(talk(result).contains("An object 'Employee' cannot be read"))
        #expect(talk(result).contains("its context is gone"))
    }

    @Test func `asking for members whose context is gone stops a debug build with a sentence`()
        async
    {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let ada = try Self.outliving { try Self.hired($0) }
            _ = (ada as? Employee)?.projects
        }

        #expect(talk(result).contains("An object 'Employee' cannot be read"))
    }

    @Test func `S3 what was read before stays readable when the context has gone`() throws {
        let ada = try #require(
            try Self.outliving { context in
                let ada = try Self.hired(context)
                _ = ada.department?.employees
                return ada
            } as? Employee)

        #expect(ada.managedObjectContext == nil)
        #expect(ada.lastName == "Lovelace")
        #expect(ada.mentor == nil)
        #expect(ada.department?.name == "Research")
        #expect(ada.department?.employees == [ada])
        #expect(!ada.isFault)
    }

    @Test func `a fault whose context is gone says so where it can throw`() throws {
        let ada = try Self.outliving { context in
            let ada = try Self.hired(context)
            context.refresh(ada, mergeChanges: false)
            return ada
        }

        let error = #expect(throws: StoreError.self) { try ada.willAccessValue(forKey: nil) }
        #expect(error?.code == .closed)
        #expect(ada.isFault)
    }

    @Test func `an object from before a reset says so, is reported once and reads as empty`() async
    {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            let store = try StaffStore()
            try store.inContext { (context) throws in
                let ada = try Self.hired(context)
                let research = try #require(ada.department)
                context.reset()

                #expect(ada.isFault && ada.managedObjectContext == nil)
                let error = #expect(throws: StoreError.self) {
                    try ada.willAccessValue(forKey: "lastName")
                }
                #expect(error?.code == .closed)
                #expect(ada.lastName == "")
                #expect(ada.salary == nil)
                #expect(research.name == "")
            }
        }

        let lines = talk(result).split(separator: "\n").filter { $0.hasPrefix("warning: ") }
        #expect(lines.count == 2)
        #expect(lines.first?.contains("'Employee' cannot be read") == true)
        #expect(lines.last?.contains("'Department' cannot be read") == true)
    }

    @Test func `an edit of an object from before a reset reaches neither context nor store`() throws
    {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try Self.hired(context)
            context.reset()

            ada.lastName = "King"

            #expect(!context.hasChanges)
            #expect(try context.save() == nil)
            #expect(try context.fetch(FetchRequest<Employee>()).map(\.lastName) == ["Lovelace"])
        }
    }
}
