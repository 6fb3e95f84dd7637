import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Numbers at their limits, which only a forged store has.
struct NumberLimitTests {
    private static let maximum: UInt64 = (1 << 48) - 1

    /// Says in a store which object numbers are taken.
    private static func forgeReserved(_ number: UInt64, in path: String) throws {
        let environment = try Environment.open(
            at: path, options: EnvironmentOptions(tables: ["meta"], create: false))
        let meta = try environment.table("meta")
        try environment.write { try StoreMetadata.setReserved(number, meta, in: $0) }
    }

    @Test(
        .ownStores("The servers of a shared store give the numbers."),
        arguments: [.max, .max - 4_096, 1 << 48 + 1, 0] as [UInt64])
    func `a forged count of object numbers is an error, and verify finds it`(number: UInt64) throws
    {
        let temporary = try TemporaryStore()
        try temporary.store.close()
        try Self.forgeReserved(number, in: temporary.path)
        let store = try TestStore.open(at: temporary.path)

        let takings: [() throws -> Void] = [
            { _ = try store.allocateObjectNumber() }, { _ = try store.allocateObjectNumbers(10) },
            { try store.skipObjectNumbers(1) },
        ]
        for body in takings {
            let refusal = #expect(throws: StoreError.self) { try body() }
            #expect(refusal?.code == .corrupt)
        }

        try store.close()
        let report = try Store.verify(path: temporary.path)
        #expect(report.findings.map(\.place) == ["meta, 'reservedNumbers'"])
    }

    @Test func `verify finds numbers that would be given out a second time`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [store.insert(skill, ["title": .string("Rowing")])]))
        try store.commit(SaveRequest(changes: [try store.delete(skill)]))
        try store.close()
        try Self.forgeReserved(skill.number, in: temporary.path)

        let report = try Store.verify(path: temporary.path)

        #expect(
            report.findings.map(\.message) == [
                "The store says that the object numbers from \(skill.number) on are free, but there is "
                    + "Skill/\(skill.number)."
            ])
    }

    @Test(.ownStores("The servers of a shared store give the numbers."))
    func `a store without free object numbers says so and does everything else`() throws {
        let temporary = try TemporaryStore()
        try temporary.store.close()
        try Self.forgeReserved(Self.maximum + 1 - 10, in: temporary.path)
        let store = try TestStore.open(at: temporary.path)

        let first = try store.allocateObjectNumbers(10)
        let refusal = #expect(throws: StoreError.self) { try store.allocateObjectNumber() }

        #expect(first == Self.maximum - 9)
        #expect(refusal?.code == .full)
        let entity = try #require(store.schema.entity(named: "Skill"))
        let last = ObjectID(entity: entity.number, number: Self.maximum)
        try store.commit(SaveRequest(changes: [store.insert(last, ["title": .string("Last")])]))
        #expect(try store.read { try $0.state(of: last) } != nil)
        try store.close()
        #expect(try Store.verify(path: temporary.path).isSound)
    }

    @Test(arguments: [
        ObjectID(entity: EntityNumber(rawValue: 4), number: 0),
        ObjectID(entity: EntityNumber(rawValue: 4), number: 1 << 48),
        ObjectID(entity: EntityNumber(rawValue: 4), number: .max),
        ObjectID(entity: EntityNumber(rawValue: .max), number: 1),
        ObjectID(entity: EntityNumber(rawValue: .max), number: .max),
        ObjectID(entity: EntityNumber(rawValue: 0), number: 1),
    ])
    func `an object with an impossible number in the journal is an error, and verify finds it`(
        object: ObjectID
    ) throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try #require(store.schema.entity(named: "Skill"))
        let change = store.insert(
            ObjectID(entity: skill.number, number: 1), ["title": .string("Rowing")])
        let forged = Change(object: object, kind: change.kind)
        let payload = EntryPayload.bytes(EntryHeader(), [forged])
        _ = try store.writing { [parts = store.parts] in
            try parts.journal.append(payload: payload, recordedAt: 0, in: $0)
        }

        let refusal = #expect(throws: StoreError.self) { try store.rebuild() }

        #expect(refusal?.code == .corrupt)
        _ = try store.read { try $0.state(of: object) }
        _ = try store.history(of: object)
        try store.close()
        #expect(try !Store.verify(path: temporary.path).isSound)
    }

    @Test(
        arguments: [2...2, 1...2, 3...4, 1...(1 << 62), 1...(.max), (.max)...(.max)]
            as [ClosedRange<UInt64>])
    func `an entry that undoes itself or later ones is an error, and verify finds it`(
        undone: ClosedRange<UInt64>
    ) throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let second = SequenceNumber(2)
        let range = SequenceNumber(undone.lowerBound)...SequenceNumber(undone.upperBound)
        let payload = EntryPayload.bytes(EntryHeader(kind: .undo, undoes: range), [])
        _ = try store.writing { [parts = store.parts] in
            try parts.journal.append(payload: payload, recordedAt: 0, in: $0)
        }

        let readings: [() throws -> Void] = [
            { _ = try store.entry(second) }, { try store.rebuild() },
            { try store.entries(from: .zero) { _ in .proceed } },
            { _ = try store.undoPlan(of: second...second) },
            { _ = try store.standingUndo(of: SequenceNumber(1)...SequenceNumber(1)) },
            { _ = try store.lastSaves(limit: 5) { _, _ in true } },
        ]
        let words = "Entry 2 cannot be decoded: it says that it undoes entry \(undone.upperBound)"
        for body in readings {
            let refusal = #expect(throws: StoreError.self) { try body() }
            #expect(refusal?.code == .corrupt)
            #expect(refusal?.message.hasPrefix(words) == true, "\(String(describing: refusal))")
        }

        try store.close()
        let report = try Store.verify(path: temporary.path)
        #expect(report.findings.map(\.place) == ["entry 2"])
        #expect(report.findings.first?.message.hasPrefix(words) == true)
    }

    @Test(arguments: [2...2, 1...2, (.max)...(.max)] as [ClosedRange<UInt64>])
    func `a save cannot claim to undo an entry that does not exist`(undone: ClosedRange<UInt64>)
        throws
    {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        let range = SequenceNumber(undone.lowerBound)...SequenceNumber(undone.upperBound)
        let request = SaveRequest(
            header: EntryHeader(kind: .undo, undoes: range),
            changes: [store.insert(skill, ["title": .string("Rowing")])])

        let refusal = #expect(throws: StoreError.self) { try store.commit(request) }

        #expect(refusal?.code == .noSuchEntry)
        #expect(try store.head() == SequenceNumber(1))
    }

    @Test func `a number that no journal has is reported as a missing entry`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        for number in [2, 1 << 62, .max - 1, .max] as [UInt64] {
            let sequence = SequenceNumber(number)
            let readings: [() throws -> Void] = [
                { _ = try store.entry(sequence) }, { _ = try store.undoRequest(of: sequence) },
                { try store.read(at: sequence) { _ in } },
                { _ = try store.standingUndo(of: sequence...sequence) },
            ]
            for body in readings {
                let refusal = #expect(throws: StoreError.self) { try body() }
                #expect(refusal?.code == .noSuchEntry, "\(number): \(String(describing: refusal))")
            }
            try store.entries(from: sequence) { _ in .proceed }
            try store.entries(from: .zero, through: sequence) { _ in .proceed }
        }
    }
}
