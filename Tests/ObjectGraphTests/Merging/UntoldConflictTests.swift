import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph
@testable import DaybookSnapshotStore

/// Conflicts that merges have met and that have not been reported yet.
@Suite struct UntoldConflictTests {
    // MARK: - Several stores

    /// Two stores with an employee each, both with the same number.
    private struct Twins {
        let set: StoreSet
        let ids: [ManagedObjectID]

        init() throws {
            let set = try StoreSet("first", "second")
            ids = try set.coordinator.persistentStores.map { store in
                try set.hire("Byron", in: store)[0]
            }
            self.set = set
            try #require(ids[0].object == ids[1].object)
        }

        func rename(_ context: ManagedObjectContext, _ indices: [Int], _ name: String) throws {
            try context.performAndWait {
                for index in indices {
                    let employee = try context.existingObject(with: ids[index]) as? Employee
                    employee?.lastName = name
                }
                context.processPendingChanges()
            }
        }

        func others(_ indices: [Int], _ name: String) throws {
            let context = set.context()
            try rename(context, indices, name)
            try context.performAndWait { _ = try context.save() }
        }
    }

    private func refusal(_ context: ManagedObjectContext) throws -> StoreError {
        try context.performAndWait {
            try #require(throws: StoreError.self) { try context.save() }
        }
    }

    @Test func `a refresh keeps the conflict of the object of that number in another store`() throws
    {
        let twins = try Twins()
        let context = twins.set.context()
        context.performAndWait {
            context.retainsRegisteredObjects = true
            context.automaticallyMergesChangesFromParent = true
        }
        try twins.rename(context, [0, 1], "Lovelace")
        try twins.others([0, 1], "King")
        context.performAndWait {}

        try context.performAndWait {
            let first = try context.existingObject(with: twins.ids[0])
            context.refresh(first, mergeChanges: true)
        }

        let conflicts = try refusal(context).conflicts
        #expect(conflicts.map(\.object) == [twins.ids[1].object])
        #expect(conflicts.map(\.storeIdentifier) == [twins.ids[1].storeIdentifier])
    }

    @Test func `a conflict that an undo has settled does not come back with its twin's edit`()
        throws
    {
        let twins = try Twins()
        let context = twins.set.context()
        context.performAndWait {
            context.retainsRegisteredObjects = true
            context.automaticallyMergesChangesFromParent = true
        }
        try twins.rename(context, [0], "Lovelace")
        try twins.others([0], "King")
        context.performAndWait {}
        try context.performAndWait {
            let first = try context.existingObject(with: twins.ids[0])
            context.undo()
            #expect(!first.hasPersistentChangedValues)
        }
        // The twin is pending for a reason of its own.
        try twins.rename(context, [1], "Lovelace")

        try context.performAndWait { _ = try context.save() }
        #expect(try StoreSet.lastNames(at: twins.set.url("first")) == ["King"])
        #expect(try StoreSet.lastNames(at: twins.set.url("second")) == ["Lovelace"])
    }

    @Test func `saves, merges, previews and children tell the store of a conflict`() throws {
        let twins = try Twins()
        let store = twins.ids[1].storeIdentifier
        let context = twins.set.context()
        context.performAndWait { context.retainsRegisteredObjects = true }
        let child = context.performAndWait { ManagedObjectContext(parent: context) }
        child.performAndWait { child.retainsRegisteredObjects = true }
        try twins.rename(child, [1], "Lovelace")
        try twins.rename(context, [1], "Noel")
        try twins.others([1], "King")

        #expect(try refusal(child).conflicts.map(\.storeIdentifier) == [store])
        #expect(try refusal(context).conflicts.map(\.storeIdentifier) == [store])
        let previews = try context.performAndWait { try context.previewSave().conflicts }
        #expect(previews.map(\.storeIdentifier) == [store])
        let merged = try context.performAndWait { try context.mergeChanges() }
        #expect(merged.map(\.storeIdentifier) == [store])
        #expect(
            try child.performAndWait { try child.mergeChanges().map(\.storeIdentifier) } == [store])
    }

    // MARK: - Entries that cannot be read

    /// Enough that its entry is read by itself, and the next one after it.
    private static let long = String(repeating: "x", count: StoreLayout.walkedBytesLimit)

    @Test func `a merge that stops at an entry has merged those before it and keeps its conflicts`()
        throws
    {
        let bank = try Bank()
        let context = bank.context()
        bank.edit(context) { $0.plain = 7 }
        let first = try bank.others {
            $0.plain = 10
            $0.holder = "Ada"
            $0.memo = Self.long
        }
        let second = try bank.others { $0.tags = ["late"] }
        let bytes = try bank.store.exchangeEntry(second, for: [0])

        #expect(throws: StoreError.self) {
            try context.performAndWait { _ = try context.mergeChanges() }
        }

        #expect(bank.edit(context) { $0.holder } == "Ada")
        #expect(bank.edit(context) { $0.plain } == 7)
        let error = bank.refusal(context)
        #expect(error?.code == .conflict)
        #expect(error?.conflicts.map(\.theirs) == [.int(10)])
        #expect(error?.conflicts.map(\.propertyName) == ["plain"])

        try bank.store.exchangeEntry(second, for: bytes)
        let told = try context.performAndWait { try context.mergeChanges() }
        #expect(told.map(\.theirs) == [.int(10)])
        #expect(bank.edit(context) { $0.tags } == ["late"])
        try bank.save(context)
        #expect(bank.stored { $0.plain } == 7)
        #expect(bank.stored { $0.holder } == "Ada")
        #expect(first < second)
    }

    @Test func `a context that is held to a state stays where its merge has ended`() throws {
        let bank = try Bank()
        let context = bank.context()
        try context.performAndWait { try context.setQueryGeneration(from: .current) }
        // The state is the one at the first read.
        bank.edit(context) {
            context.refresh($0, mergeChanges: false)
            #expect($0.holder.isEmpty)
        }
        try bank.others {
            $0.holder = "Ada"
            $0.memo = Self.long
        }
        let second = try bank.others { $0.holder = "Grace" }
        let bytes = try bank.store.exchangeEntry(second, for: [0])

        #expect(throws: StoreError.self) {
            try context.performAndWait { _ = try context.mergeChanges() }
        }

        bank.edit(context) {
            #expect($0.holder == "Ada")
            context.refresh($0, mergeChanges: false)
            #expect($0.holder == "Ada")
        }
        try bank.store.exchangeEntry(second, for: bytes)
        #expect(try context.performAndWait { try context.mergeChanges() }.isEmpty)
        #expect(bank.edit(context) { $0.holder } == "Grace")
    }
}

extension Store {
    /// Replaces the bytes of an entry, as damage would.
    ///
    /// - Returns: The original bytes.
    @discardableResult
    fileprivate func exchangeEntry(
        _ sequence: SequenceNumber, for bytes: [UInt8]
    ) throws -> [UInt8] {
        let environment = try openEnvironment()
        let table = try environment.table("journal")
        let key = withUnsafeBytes(of: sequence.rawValue.bigEndian) { Array($0) }
        let before = try environment.read { transaction in
            try transaction.get(table, key.span.bytes) { value in
                (0..<value.byteCount).map {
                    value.unsafeLoadUnaligned(fromByteOffset: $0, as: UInt8.self)
                }
            }
        }
        try environment.write { transaction in
            try transaction.put(table, key.span.bytes, bytes.span.bytes, .upsert)
        }
        return try #require(before)
    }
}
