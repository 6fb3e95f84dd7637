import DaybookGraphTestSupport
public import DaybookObjectGraph
public import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

extension UInt64: EmptyAttributeValue {
    /// The widest integers that a store has.
    public static var attributeType: AttributeType { .int64 }
}

private enum Mask: UInt64, AttributeValue {
    case one = 1
    case all = 0xffff_ffff_ffff_ffff
}

private final class Disk: ManagedObject {
    @Attribute(.indexed) var size: UInt64 = 0
    @Attribute var mask: Mask = .one
    @Attribute var free: UInt64?
}

private final class FullDisk: ManagedObject {
    @Attribute(default: .max) var size: UInt64
}

/// Attributes of a type with numbers that no store holds.
@Suite struct WideNumberTests {
    private static let limits = "holds 64-bit integers, from \(Int64.min) to \(Int64.max)"

    private func withDisks(
        _ sizes: [UInt64], _ body: (ManagedObjectContext, [Disk]) throws -> Void
    ) throws {
        let context = try TestContainer.make(inMemory: [Disk.self]).newBackgroundContext()
        try context.performAndWait { () throws in
            let disks = sizes.map { size in
                let disk = Disk(context: context)
                disk.size = size
                return disk
            }
            try context.save()
            try body(context, disks)
        }
    }

    private func lines(_ error: StoreError?) -> [String] {
        (error?.failures ?? []).map { "\($0.property ?? ""): \($0.reason): \($0.message)" }
    }

    @Test func `a number beyond those of stores is read as it was set, and not saved`() throws {
        try withDisks([7]) { (context, disks) throws in
            disks[0].size = .max
            disks[0].free = UInt64(Int64.max) + 1
            disks[0].mask = .all

            #expect(disks[0].size == .max)
            #expect(disks[0].free == UInt64(Int64.max) + 1)
            #expect(disks[0].mask == .all)
            #expect(disks[0].value(forKey: "size") as? UInt64 == .max)
            let object = "Disk/\(disks[0].objectID.object.number)"
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(
                lines(error)
                    == ["free", "mask", "size"].map {
                        "\($0): numberTooLarge: '\($0)' of \(object) \(Self.limits)."
                    })
            context.undo()
            #expect(disks[0].size == 7)

            disks[0].size = UInt64(Int64.max)
            try context.save()
            context.refreshAllObjects()
            #expect(disks[0].size == UInt64(Int64.max))
        }
    }

    @Test func `conditions compare with numbers beyond those of stores`() throws {
        let most = UInt64(Int64.max)
        try withDisks([1, most]) { (context, _) throws in
            func sizes(_ condition: Condition<Disk>) throws -> [UInt64] {
                try context.fetch(FetchRequest(where: condition)).map(\.size).sorted()
            }
            let (beyond, greatest) = (most + 1, UInt64.max)

            for hasPending in [false, true] {
                if hasPending { Disk(context: context).size = greatest }
                let last = hasPending ? [greatest] : []
                #expect(try sizes(\.size < beyond) == [1, most])
                #expect(try sizes(\.size <= greatest) == [1, most] + last)
                #expect(try sizes(\.size >= beyond) == last)
                #expect(try sizes(\.size == greatest) == last)
                #expect(try sizes((\Disk.size).isIn([1, greatest])) == [1] + last)
                #expect(try sizes(Condition("size < %@", beyond)) == [1, most])
                if !hasPending {
                    // Such a number in text is compared as the nearest binary one, which no saved one is.
                    #expect(try sizes(Condition("size == %@", greatest)).isEmpty)
                    #expect(try sizes(Condition("size < 18446744073709551615")) == [1, most])
                }
                #expect(
                    try sizes(Condition(#Predicate<Disk> { $0.size > beyond })) == last)
            }
        }
    }

    @Test func `batches refuse numbers beyond those of stores`() throws {
        try withDisks([7]) { (context, disks) throws in
            let object = "Disk/\(disks[0].objectID.object.number)"

            let set = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchUpdateRequest<Disk>(assigning: [.set(\.size, to: .max)]))
            }
            let sum = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchUpdateRequest<Disk>(assigning: [.add(UInt64.max, to: \.size)]))
            }
            let insert = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Disk>([UInt64.max]) { size, row in row[\.size] = size })
            }

            #expect(
                lines(set) == ["size: numberTooLarge: 'size' of \(object) \(Self.limits)."])
            #expect(
                lines(sum) == [
                    "size: numberTooLarge: 'size' of \(object) would become a number that its "
                        + "type cannot hold."
                ])
            #expect(lines(insert).count == 1)
            #expect(lines(insert).first?.contains(Self.limits) == true)
            context.refreshAllObjects()
            #expect(try context.fetch(FetchRequest<Disk>()).map(\.size) == [7])
        }
    }

    @Test func `an aggregate of integers that takes in a number beyond them is an error`() throws {
        try withDisks([7, 8]) { (context, _) throws in
            #expect(try context.fetch(.sum(\Disk.size), of: FetchRequest()) == 15)
            Disk(context: context).size = .max

            #expect(throws: QueryError.self) {
                try context.fetch(.sum(\Disk.size), of: FetchRequest())
            }
            #expect(throws: QueryError.self) {
                try context.fetch(.average(\Disk.size), of: FetchRequest())
            }
            #expect(throws: QueryError.self) {
                try context.fetch(.median(\Disk.size), of: FetchRequest())
            }
            #expect(try context.fetch(.maximum(\Disk.size), of: FetchRequest()) == UInt64.max)
        }
    }

    @Test func `a default beyond the numbers of stores is a mistake in the model`() {
        let error = #expect(throws: (any Error).self) {
            try TestContainer.make(inMemory: [FullDisk.self])
        }

        #expect(error.map { "\($0)" }?.contains(Self.limits) == true)
    }
}
