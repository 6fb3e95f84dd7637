import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

@Suite struct RelationMembersTests {
    private func object(_ number: UInt64) -> ObjectID {
        ObjectID(entity: EntityNumber(rawValue: 1 + UInt32(number % 2)), number: number)
    }

    /// Joining, leaving and moving, as a dictionary has it that is sorted anew each time.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `members agree with a sorted dictionary, as they were read and after each change`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var expected: [ObjectID: Double] = [:]
        for number in 0..<UInt64.random(in: 0...20, using: &random) {
            let isOrdered = seed % 2 == 0
            expected[object(number)] = isOrdered ? Double(Int.random(in: 0...5, using: &random)) : 0
        }
        func sorted() -> [Member] {
            expected.map { Member(object: $0.key, order: $0.value) }.sorted {
                ($0.order, $0.object) < ($1.order, $1.object)
            }
        }
        var members = RelationMembers(read: sorted())

        for _ in 0..<30 {
            let objects = sorted().map(\.object)
            #expect(members.sorted == objects)
            #expect(members.orders == expected)
            #expect(members.count == expected.count)
            for number in 0..<25 as Range<UInt64> {
                #expect(members.order(of: object(number)) == expected[object(number)])
            }
            func isEven(_ object: ObjectID) -> Bool { object.number.isMultiple(of: 2) }
            let even = members.filter(isEven)
            let evenOrders = expected.filter { isEven($0.key) }
            #expect(even.orders == evenOrders)
            let evenObjects = objects.filter(isEven)
            #expect(even.sorted == evenObjects)
            let changed = object(UInt64.random(in: 0..<25, using: &random))
            let order = Bool.random(using: &random) ? Double.random(in: 0...5, using: &random) : nil
            expected[changed] = order
            members.set(changed, order: order)
        }
    }

    @Test func `lists are equal that have the same members in the same order, read or changed`() {
        let read = [Member(object: object(1), order: 1), Member(object: object(2), order: 2)]
        let other = RelationMembers(read: [read[0], Member(object: object(2), order: 3)])
        var changed = RelationMembers(read: [])
        for member in read { changed.set(member.object, order: member.order) }

        #expect(RelationMembers(read: read) == RelationMembers(read: read))
        #expect(RelationMembers(read: read) == changed && changed == RelationMembers(read: read))
        #expect(RelationMembers(read: read) != other && changed != other)
        #expect(RelationMembers(read: [read[0]]) != changed)
        changed.set(object(2), order: 3)
        #expect(changed == other)
    }
}
