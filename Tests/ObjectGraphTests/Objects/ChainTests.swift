import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A link of a chain.
final class Carriage: ManagedObject {
    @Attribute(.unique) var number: Int64
    @Relationship(.cascade, inverse: \Carriage.previous) var next: Carriage?
    @Relationship var previous: Carriage?
}

/// A store with a long chain.
private struct Train: Sendable {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init(of count: Int) throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("train.daybook"), model: [Carriage.self])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            var last: Carriage?
            for number in 0..<count {
                let carriage = Carriage(context: context)
                carriage.number = Int64(number)
                carriage.previous = last
                last = carriage
            }
            try context.save()
        }
    }

    /// The first link.
    func first(in context: ManagedObjectContext) throws -> Carriage {
        let request = FetchRequest<Carriage>(where: \.number == 0)
        return try #require(try context.fetch(request).first)
    }
}

/// A long chain of objects needs no deep stack.
@Suite struct ChainTests {
    /// Enough for a chain of a few thousand if each object released the next one recursively.
    private static let stackSize = 512 * 1024
    private static let count = 20_000

    /// Releases the last reference here.
    enum Place: CaseIterable {
        case inContext, elsewhere
    }

    /// Runs a body on a thread of its own with a small stack.
    private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
        let outcome = Outcome()
        let thread = Thread {
            outcome.set(Result { try body() })
        }
        thread.stackSize = Self.stackSize
        thread.start()
        try outcome.get()
    }

    @Test(arguments: Place.allCases)
    func `B12 a chain of objects that have been read is released on a small stack`(place: Place)
        throws
    {
        let train = try Train(of: Self.count)

        try onSmallStack {
            let context = train.container.newBackgroundContext()
            weak var last: Carriage?
            var first = try context.performAndWait { () throws -> Carriage? in
                let first = try train.first(in: context)
                var current = first
                while let next = current.next { current = next }
                last = current
                #expect(current.number == Int64(Self.count - 1))
                return place == .elsewhere ? first : nil
            }
            #expect((first == nil) == (last == nil))
            first = nil

            #expect(last == nil)
            #expect(context.performAndWait { context.registeredObjects.isEmpty })
        }
    }

    @Test func `B12 a cascade over a chain, its undo and its save need a small stack`() throws {
        let train = try Train(of: Self.count)

        try onSmallStack {
            let context = train.container.newBackgroundContext()
            context.undoManager = UndoManager()
            let left = try context.performAndWait { () throws -> Int in
                context.delete(try train.first(in: context))
                context.processPendingChanges()
                #expect(context.deletedObjects.count == Self.count)

                context.undo()
                #expect(!context.hasChanges)

                context.delete(try train.first(in: context))
                try context.save()
                context.undoManager = nil
                context.reset()
                return try context.count(FetchRequest<Carriage>())
            }
            #expect(left == 0)

            let store = train.container.persistentStoreCoordinator.persistentStores[0]
            try train.container.undo(try store.head())
            let back = try context.performAndWait { () throws -> Int in
                try context.count(FetchRequest<Carriage>())
            }
            #expect(back == Self.count)
        }
    }
}

/// The result of work on another thread.
private final class Outcome: @unchecked Sendable {
    // @unchecked Sendable because the condition guards the result.
    private let condition = NSCondition()
    private var result: Result<Void, any Error>?

    func set(_ result: Result<Void, any Error>) {
        condition.withLock {
            self.result = result
            condition.broadcast()
        }
    }

    /// Waits for it.
    func get() throws {
        let result = condition.withLock {
            while self.result == nil { condition.wait() }
            return self.result
        }
        try result?.get()
    }
}
