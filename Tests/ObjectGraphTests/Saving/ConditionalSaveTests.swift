import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

private final class Doctor: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var isOnCall: Bool = true
    @Attribute var shift: Int = 1
    @Attribute var remark: String?
    @Relationship var ward: Ward?

    /// Not part of the model.
    var onSave: (() -> Void)?

    /// Not part of the model, either.
    var afterSave: (() -> Void)?

    override func willSave() {
        let action = onSave
        onSave = nil
        action?()
    }

    override func didSave() {
        let action = afterSave
        afterSave = nil
        action?()
    }
}

private final class Ward: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(inverse: \Doctor.ward) var doctors: Set<Doctor>
}

/// A store with doctors, opened twice as by two programs.
private struct Hospital {
    private let folder: TemporaryDirectory
    let first: ManagedObjectContext
    let second: ManagedObjectContext
    private let containers: [PersistentContainer]

    /// Makes a store with two doctors on call.
    init() throws {
        let folder = try TemporaryDirectory()
        containers = try (0..<2).map { _ in
            try TestContainer.make(
                folder.url.appendingPathComponent("hospital.daybook"),
                model: [Doctor.self, Ward.self])
        }
        self.folder = folder
        first = containers[0].newBackgroundContext()
        second = containers[1].newBackgroundContext()
        try hire("Alice", "Bob")
    }

    var container: PersistentContainer { containers[0] }

    var head: SequenceNumber {
        get throws {
            try #require(containers[0].persistentStoreCoordinator.persistentStores.first).head()
        }
    }

    func hire(_ names: String...) throws {
        try first.performAndWait {
            for name in names { Doctor(context: first).name = name }
            try first.save(author: "hr")
        }
    }

    /// Changes the doctor of a name, and saves.
    @discardableResult
    func change(
        _ name: String, in context: ManagedObjectContext, _ body: (Doctor) -> Void
    ) throws -> SequenceNumber? {
        try context.performAndWait {
            body(try #require(try doctor(name, in: context)))
            return try context.save(author: "change")
        }
    }

    func doctor(_ name: String, in context: ManagedObjectContext) throws -> Doctor? {
        try context.fetch(FetchRequest<Doctor>(where: \Doctor.name == name)).first
    }

    func onCall() throws -> [String] {
        let context = containers[1].newBackgroundContext()
        return try context.performAndWait {
            try context.fetch(.onCall).map(\.name)
        }
    }
}

extension FetchRequest where Object == Doctor {
    fileprivate static var onCall: FetchRequest { FetchRequest(where: \Doctor.isOnCall == true) }
}

@Suite struct ConditionalSaveTests {
    // MARK: - Unchanged

    /// Alice and Bob each see two doctors on call and go home, in two programs.
    private func goHome(
        _ hospital: Hospital, _ save: (ManagedObjectContext, SequenceNumber) throws -> Void
    ) throws {
        let seen = try hospital.head
        let leaving = try [("Alice", hospital.first), ("Bob", hospital.second)].map {
            name, context in
            try context.performAndWait {
                guard try context.fetch(.onCall).count > 1 else { return }
                try #require(try hospital.doctor(name, in: context)).isOnCall = false
            }
            return context
        }
        for context in leaving {
            try context.performAndWait { try save(context, seen) }
        }
    }

    @Test func `without a condition two right decisions leave nobody on call`() throws {
        let hospital = try Hospital()

        try goHome(hospital) { context, _ in try context.save() }

        #expect(try hospital.onCall().isEmpty)
    }

    @Test func `on condition the second decision is refused, with object and entry`() throws {
        let hospital = try Hospital()
        var errors: [StoreError] = []

        try goHome(hospital) { context, seen in
            do {
                try context.save(ifUnchanged: .onCall, since: seen, author: "rota")
            } catch let error as StoreError {
                errors.append(error)
            }
        }

        #expect(try hospital.onCall() == ["Bob"])
        #expect(errors.map(\.code) == [.conditionFailed])
        let obstacle = try #require(errors.first?.obstacles.first)
        #expect(obstacle.objectName == "Doctor/1" && obstacle.author == "rota")
        #expect(try obstacle.entry == hospital.head)
        hospital.second.performAndWait {
            // Everything is still pending, and can be decided again.
            #expect(hospital.second.hasChanges)
            hospital.second.rollback()
        }
    }

    /// Saves a change of Alice's remark on condition, after others have done something.
    private func error(
        after others: (Hospital) throws -> Void
    ) throws -> StoreError? {
        let hospital = try Hospital()
        let seen = try hospital.head
        try others(hospital)
        return try hospital.second.performAndWait {
            try #require(try hospital.doctor("Alice", in: hospital.second)).remark = "seen"
            do {
                try hospital.second.save(ifUnchanged: .onCall, since: seen)
                return nil
            } catch let error as StoreError {
                return error
            }
        }
    }

    @Test func `a new object that the request finds is no phantom`() throws {
        let error = try error { try $0.hire("Carol") }
        #expect(error?.code == .conditionFailed)
        #expect(error?.obstacles.map(\.objectName) == ["Doctor/3"])
        #expect(error?.details.first?.hasSuffix("made Doctor/3.") == true)
    }

    @Test func `an object that is found no more, or is gone, is named`() throws {
        let left = try error { hospital in
            try hospital.change("Bob", in: hospital.first) { $0.isOnCall = false }
        }
        #expect(left?.obstacles.map(\.objectName) == ["Doctor/2"])
        let gone = try error { hospital in
            try hospital.change("Bob", in: hospital.first) { hospital.first.delete($0) }
        }
        #expect(gone?.details.first?.hasSuffix("deleted Doctor/2.") == true)
    }

    @Test func `a change of what is found counts, though it is found as before`() throws {
        let error = try error { hospital in
            try hospital.change("Bob", in: hospital.first) { $0.shift = 2 }
        }
        #expect(error?.details.first?.hasSuffix("changed Doctor/2.") == true)
    }

    @Test func `what was not found and is not found does not count`() throws {
        let error = try error { hospital in
            // Found neither at the entry nor now.
            let context = hospital.first
            try context.performAndWait {
                let doctor = Doctor(context: context)
                (doctor.name, doctor.isOnCall) = ("Dan", false)
                Ward(context: context).name = "A"
                try context.save()
            }
        }
        #expect(error == nil)
    }

    @Test func `what is again as it was does not count`() throws {
        let error = try error { hospital in
            try hospital.change("Bob", in: hospital.first) { $0.isOnCall = false }
            try hospital.change("Bob", in: hospital.first) { $0.isOnCall = true }
        }
        #expect(error == nil)
    }

    @Test func `entries of this context count like those of others`() throws {
        let hospital = try Hospital()
        let seen = try hospital.head
        try hospital.change("Bob", in: hospital.second) { $0.shift = 2 }
        try hospital.second.performAndWait {
            try #require(try hospital.doctor("Alice", in: hospital.second)).remark = "x"
            let error = #expect(throws: StoreError.self) {
                try hospital.second.save(ifUnchanged: .onCall, since: seen)
            }
            #expect(error?.code == .conditionFailed)
            let now = try hospital.head
            let entry = try hospital.second.save(ifUnchanged: .onCall, since: now)
            #expect(entry == now.next)
        }
    }

    // MARK: - None

    @Test func `a save is refused where the request finds something`() throws {
        let hospital = try Hospital()
        try hospital.change("Bob", in: hospital.first) { $0.shift = 2 }
        try hospital.second.performAndWait {
            let doctor = Doctor(context: hospital.second)
            (doctor.name, doctor.shift) = ("Carol", 2)
            let error = #expect(throws: StoreError.self) {
                try hospital.second.save(ifNone: FetchRequest<Doctor>(where: \.shift == 2))
            }
            #expect(error?.code == .conditionFailed)
            let obstacle = try #require(error?.obstacles.first)
            #expect(obstacle.objectName == "Doctor/2" && obstacle.author == "change")
            #expect(try obstacle.entry == hospital.head)

            doctor.shift = 3
            // What is pending does not count.
            let entry = try hospital.second.save(
                ifNone: FetchRequest<Doctor>(where: \.shift == 3), author: "hr")
            #expect(entry != nil)
        }
    }

    @Test func `a save that a hook makes afterwards is not on the condition`() throws {
        let hospital = try Hospital()
        let context = hospital.first
        try context.performAndWait {
            let doctor = Doctor(context: context)
            (doctor.name, doctor.shift) = ("Carol", 7)
            var saved: Result<SequenceNumber?, any Error>?
            doctor.afterSave = {
                doctor.remark = "on her own"
                saved = Result { try context.save() }
            }
            let entry = try #require(
                try context.save(ifNone: FetchRequest<Doctor>(where: \.shift == 7)))

            #expect(try saved?.get() == entry.next)
        }
    }

    @Test func `nobody comes between the question and the save`() throws {
        let hospital = try Hospital()
        let context = hospital.second
        context.performAndWait {
            let doctor = Doctor(context: context)
            (doctor.name, doctor.shift) = ("Carol", 2)
            // Hooks run after the store was asked.
            doctor.onSave = {
                do {
                    try hospital.change("Bob", in: hospital.first) { $0.shift = 2 }
                } catch {
                    Issue.record(error)
                }
            }

            let error = #expect(throws: StoreError.self) {
                try context.save(ifNone: FetchRequest<Doctor>(where: \.shift == 2))
            }

            #expect(error?.code == .conditionFailed)
            #expect(error?.obstacles.map(\.objectName) == ["Doctor/2"])
        }
    }

    // MARK: - Mistakes

    private func mistake(
        _ request: FetchRequest<Doctor>, _ body: (Hospital) -> ManagedObjectContext = { $0.first }
    ) throws -> String {
        let hospital = try Hospital()
        let context = body(hospital)
        return context.performAndWait {
            Doctor(context: context).name = "Carol"
            let error = #expect(throws: QueryError.self) { try context.save(ifNone: request) }
            #expect(context.hasChanges)
            return error?.message ?? ""
        }
    }

    @Test func `conditions that cannot be judged are refused`() throws {
        #expect(
            try mistake(FetchRequest(where: Condition("ward.name == 'A'")))
                .contains("looks at other objects through relationships"))
        #expect(
            try mistake(.onCall) { ManagedObjectContext(parent: $0.first) }
                .hasPrefix("A child saves into its parent"))
    }

    @Test func `an entry that there is not is refused`() throws {
        let hospital = try Hospital()
        let later = try hospital.head.next
        try hospital.first.performAndWait {
            Doctor(context: hospital.first).name = "Carol"
            let error = #expect(throws: StoreError.self) {
                try hospital.first.save(ifUnchanged: .onCall, since: later)
            }
            #expect(error?.code == .noSuchEntry)
            // The next save is without condition.
            try hospital.first.save()
        }
    }

    @Test func `a reference to one object is judged by the objects themselves`() throws {
        let hospital = try Hospital()
        try hospital.first.performAndWait {
            let ward = Ward(context: hospital.first)
            try hospital.first.save()
            let seen = try hospital.head
            let request = FetchRequest<Doctor>(where: \.ward == ward)
            // The ward changes, and no doctor.
            ward.name = "A"
            try hospital.first.save()
            let doctor = try #require(try hospital.doctor("Bob", in: hospital.first))
            doctor.ward = ward
            try hospital.first.save(ifUnchanged: request, since: seen)
            doctor.remark = "x"
            let error = #expect(throws: StoreError.self) {
                try hospital.first.save(ifUnchanged: request, since: seen)
            }
            #expect(error?.obstacles.map(\.objectName) == ["Doctor/2"])
        }
    }

    // MARK: - Law

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `a save is refused just when the request finds something else than then`(
        seed: UInt64
    ) throws {
        let hospital = try Hospital()
        var random = SeededGenerator(seed: seed)
        var found: [(SequenceNumber, [Int: String])] = []
        func answer(_ shift: Int) throws -> String {
            try hospital.second.performAndWait {
                let request = FetchRequest<Doctor>(where: \Doctor.shift == shift)
                let doctors = try hospital.second.fetch(request)
                for doctor in doctors { hospital.second.refresh(doctor, mergeChanges: false) }
                return doctors.map { "\($0.objectID) \($0.isOnCall)" }.joined(separator: ", ")
            }
        }
        for step in 0..<30 {
            found.append((try hospital.head, try [0: answer(0), 1: answer(1), 2: answer(2)]))
            try hospital.first.performAndWait {
                let doctors = try hospital.first.fetch(FetchRequest<Doctor>())
                let doctor = doctors.randomElement(using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    Doctor(context: hospital.first).shift = Int.random(in: 0...2, using: &random)
                case 1: if doctors.count > 3 { doctor.map(hospital.first.delete) }
                case 2, 3: doctor?.shift = Int.random(in: 0...2, using: &random)
                default: doctor?.isOnCall.toggle()
                }
                try hospital.first.save()
            }
            let shift = Int.random(in: 0...2, using: &random)
            let (entry, answers) = try #require(
                found.suffix(Int.random(in: 1...4, using: &random)).first)
            let isUnchanged = try answer(shift) == answers[shift]
            let error = try hospital.second.performAndWait { () throws -> StoreError.Code? in
                Ward(context: hospital.second).name = "\(step)"
                defer { hospital.second.rollback() }
                do {
                    try hospital.second.save(
                        ifUnchanged: FetchRequest<Doctor>(where: \.shift == shift), since: entry)
                    return nil
                } catch let error as StoreError {
                    return error.code
                }
            }
            #expect(
                error == (isUnchanged ? nil : .conditionFailed), "seed \(seed), step \(step)")
        }
    }
}
