import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A parcel whose hooks call `super` like a program's.
final class Cargo: ManagedObject {
    @Attribute(rules: [.minimum(1)]) var weight: Int = 1
    @Attribute(rules: [.maximumLength(5)]) var label: String = ""
    @Relationship(inverse: \Stamp.parcel, isOptional: false, minimumCount: 1) var stamps: Set<Stamp>

    /// The error of `super` in a hook.
    var failures: [[ValidationFailure]] = []
    var objection: (any Error)?

    private func hook(_ rules: () throws -> Void) throws {
        do {
            try rules()
        } catch let error as StoreError {
            failures.append(error.failures)
            throw error
        }
        if let objection { throw objection }
    }

    override func validateForInsert() throws { try hook { try super.validateForInsert() } }
    override func validateForUpdate() throws { try hook { try super.validateForUpdate() } }
    override func validateForDelete() throws { try hook { try super.validateForDelete() } }

    override func validate(_ value: inout Value, forKey key: String) throws {
        if key == "label", value == .string("mend") { value = .string("ok") }
        if key == "label", value == .string("forbidden") { throw PostalError(code: 7) }
    }
}

final class Stamp: ManagedObject {
    @Relationship(.deny) var parcel: Cargo?
}

/// A program's own error.
struct PostalError: Error, Equatable {
    let code: Int
}

@Suite struct ValidationCallTests {
    private let store: ClassStore

    init() throws {
        store = try ClassStore([Cargo.self, Stamp.self])
    }

    /// A valid parcel.
    private func sound(in context: ManagedObjectContext) -> Cargo {
        let parcel = Cargo(context: context)
        parcel.stamps = [Stamp(context: context)]
        return parcel
    }

    private func failures(_ body: () throws -> Void) throws -> [ValidationFailure] {
        let error = try #require(#expect(throws: StoreError.self) { try body() })
        #expect(error.code == .validation)
        return error.failures
    }

    @Test func `validateForInsert and its like check the rules of the model when they are called`()
        throws
    {
        try store.inContext { (context) throws in
            let parcel = sound(in: context)
            try parcel.validateForInsert()
            parcel.weight = 0
            parcel.label = "too long"
            parcel.stamps = []

            for check in [parcel.validateForInsert, parcel.validateForUpdate] {
                let found = try failures { try check() }
                #expect(found.map(\.number) == [1660, 1580, 1620])
                #expect(found.map(\.property) == ["label", "stamps", "weight"])
                #expect(found.allSatisfy { $0.object == parcel.objectID.object })
                #expect(
                    found.allSatisfy { $0.storeIdentifier == parcel.objectID.storeIdentifier })
            }
            #expect(context.hasChanges)
        }
    }

    @Test func `validateForInsert lets the hooks of values mend them, as a save does`() throws {
        try store.inContext { (context) throws in
            let parcel = sound(in: context)
            parcel.label = "mend"
            try parcel.validateForInsert()
            #expect(parcel.label == "ok")
        }
    }

    @Test func `validateForDelete tells a denied delete before anything is deleted`() throws {
        try store.inContext { (context) throws in
            let parcel = sound(in: context)
            try context.save()
            let stamp = try #require(parcel.stamps.first)

            let found = try failures { try stamp.validateForDelete() }

            #expect(found.map(\.reason) == [.deleteDenied])
            try parcel.validateForDelete()
            #expect(!context.hasChanges)
        }
    }

    @Test func `a fault is read before it is checked`() throws {
        try store.inContext { (context) throws in
            let parcel = sound(in: context)
            try context.save()
            context.refresh(parcel, mergeChanges: false)
            try parcel.validateForUpdate()
            #expect(!parcel.isFault)
        }
    }

    @Test func `a save tells each failure once, and super tells an override what it has found`()
        throws
    {
        try store.inContext { (context) throws in
            let parcel = sound(in: context)
            parcel.weight = 0
            let found = try failures { try context.save() }
            #expect(found.map(\.property) == ["weight"])
            #expect(parcel.failures.map { $0.map(\.property) } == [["weight"]])

            parcel.weight = 2
            try context.save()
            parcel.label = "too long"
            #expect(try failures { try context.save() }.map(\.property) == ["label"])
            #expect(parcel.failures.last?.map(\.property) == ["label"])
        }
    }

    @Test func `what a hook throws is the cause, with its own type`() throws {
        try store.inContext { (context) throws in
            let parcel = sound(in: context)
            parcel.objection = PostalError(code: 42)
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .validation)
            #expect(error?.cause as? PostalError == PostalError(code: 42))
            #expect(error?.failures.first?.cause as? PostalError == PostalError(code: 42))

            parcel.objection = nil
            parcel.label = "forbidden"
            let other = #expect(throws: StoreError.self) { try context.save() }
            #expect(other?.failures.first?.property == "label")
            #expect(other?.cause as? PostalError == PostalError(code: 7))

            parcel.objection = StoreError(.busy, "The post office is closed.")
            parcel.label = ""
            let third = #expect(throws: StoreError.self) { try context.save() }
            #expect((third?.cause as? StoreError)?.code == .busy)
        }
    }

    @Test func `a child's save keeps the cause as well`() throws {
        try store.inContext { (parent) throws in
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                sound(in: child).objection = PostalError(code: 1)
                let error = #expect(throws: StoreError.self) { try child.save() }
                #expect(error?.cause as? PostalError == PostalError(code: 1))
            }
        }
    }

    @Test func `a failure of a store's own check names the store`() throws {
        let url = store.container.persistentStoreCoordinator.persistentStores[0].identifier
        try store.inContext { (context) throws in
            let request = BatchInsertRequest<Cargo>([0]) { weight, row in row[\.weight] = weight }
            let error = #expect(throws: StoreError.self) { try context.execute(request) }
            #expect(error?.code == .validation)
            #expect(error?.failures.allSatisfy { [nil, url].contains($0.storeIdentifier) } == true)
        }
    }
}
