import CDaybookCallCounts
import Daybook
import Foundation

/// An object of five attributes. Its texts have 13, 24 and 40 bytes.
final class Contact: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var mail: String = ""
    @Attribute var address: String = ""
    @Attribute var age: Int = 0
    @Attribute var balance: Double = 0

    func fill(_ number: Int) {
        let digits = String(1_000_000 + number)
        name = "Person" + digits
        mail = "mail" + digits + "@example.org "
        address = "Long Street near the Old Harbour " + digits
        age = number % 90
        balance = Double(number) * 1.25
    }
}

/// An object that may belong to another.
final class Member: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(.nullify) var team: Team?
}

/// The owner of members.
final class Team: ManagedObject {
    @Relationship(inverse: \Member.team) var members: Set<Member>
}

/// The counts, step by step, in a store that is filled first.
struct Subject {
    private let container: PersistentContainer
    private let ids: [ManagedObjectID]
    private var counts: [String: Double] = [:]

    /// A count of saves is the median of this many, after as many that are not counted.
    private static let saves = 100
    /// How many steps are many.
    private static let steps = 10_000
    private static let pageBytes = 4096.0

    /// Counts everything.
    static func counts(ofObjects count: Int) throws -> [String: Double] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("daybook-counts-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let result = Result {
            var subject = try Subject(in: folder, objects: count)
            try subject.countReading()
            try subject.countFetch()
            try subject.countSaves()
            try subject.countSteps()
            try subject.countLongSaves(in: folder)
            try subject.countBatches(in: folder, rows: count)
            return subject.counts
        }
        try FileManager.default.removeItem(at: folder)
        return try result.get()
    }

    private init(in folder: URL, objects count: Int) throws {
        let container = try PersistentContainer(
            folder.appendingPathComponent("contacts.daybook"), model: [Contact.self])
        self.container = container
        let context = container.newBackgroundContext()
        var contacts: [Contact] = []
        contacts.reserveCapacity(count)
        let made = call_counts_now()
        let filled = context.performAndWait {
            for number in 0..<count {
                let contact = Contact(context: context)
                contact.fill(number)
                contacts.append(contact)
            }
            return call_counts_now()
        }
        let saved = try context.performAndWait {
            try context.save()
            return call_counts_now()
        }
        ids = context.performAndWait { contacts.map(\.objectID) }
        let each = Double(count)
        counts["allocationsPerNewObject"] = Self.allocations(from: made, to: filled) / each
        counts["allocationsPerObjectOfALargeSave"] =
            Self.allocations(from: filled, to: saved) / each
        counts["digestedBytesPerObjectOfALargeSave"] =
            Double(saved.digested_bytes - filled.digested_bytes) / each
        counts["writtenBytesPerObjectOfALargeSave"] =
            Double(saved.written_bytes - filled.written_bytes) / each
    }

    // MARK: - Reading

    /// Faults, made and fired, and properties read.
    private mutating func countReading() throws {
        let context = container.newBackgroundContext()
        let ids = ids
        var moments: [call_counts] = []
        moments.reserveCapacity(8)
        let sum = context.performAndWait {
            var contacts: [Contact] = []
            contacts.reserveCapacity(ids.count)
            // A context's one-time allocations do not count for objects.
            _ = (context.object(with: ids[0]) as? Contact)?.age
            moments.append(call_counts_now())
            for id in ids {
                if let contact = context.object(with: id) as? Contact { contacts.append(contact) }
            }
            moments.append(call_counts_now())
            var sum = 0
            for contact in contacts { sum += contact.age }
            moments.append(call_counts_now())
            for contact in contacts { sum += contact.age }
            moments.append(call_counts_now())
            for contact in contacts { sum += contact.name.utf8.count }
            moments.append(call_counts_now())
            for contact in contacts { sum += contact.address.utf8.count }
            moments.append(call_counts_now())
            for contact in contacts {
                sum += contact.mail.utf8.count + (contact.balance < 0 ? 1 : 0)
            }
            moments.append(call_counts_now())
            return sum
        }
        let each = Double(ids.count)
        precondition(sum > 0, "What was read cannot be nothing.")
        counts["bytesOfFault"] = Double(moments[1].live_bytes - moments[0].live_bytes) / each
        counts["bytesOfObject"] = Double(moments[6].live_bytes - moments[0].live_bytes) / each
        for (index, name) in [
            "Fault", "FiredFault", "NumberRead", "ShortTextRead", "LongTextRead",
        ].enumerated() {
            counts["allocationsPer\(name)"] =
                Self.allocations(from: moments[index], to: moments[index + 1]) / each
        }
    }

    /// All objects fetched with their values.
    private mutating func countFetch() throws {
        let context = container.newBackgroundContext()
        let (before, after, found) = try context.performAndWait {
            var request = FetchRequest<Contact>()
            request.includesPropertyValues = true
            let before = call_counts_now()
            let contacts = try context.fetch(request)
            let sum = contacts.reduce(0) { $0 + $1.age }
            precondition(sum > 0, "What was read cannot be nothing.")
            return (before, call_counts_now(), contacts.count)
        }
        precondition(found == ids.count, "A fetch finds every object.")
        counts["allocationsPerFetchedObject"] =
            Self.allocations(from: before, to: after) / Double(ids.count)
    }

    // MARK: - Saving

    /// Objects inserted, and then updated, each in its own durable save.
    private mutating func countSaves() throws {
        let context = container.newBackgroundContext()
        var contacts: [Contact] = []
        var moments: [call_counts] = []
        moments.reserveCapacity(3 * Self.saves + 1)
        let first = ids.count
        try context.performAndWait {
            moments.append(call_counts_now())
            for number in 0..<(2 * Self.saves) {
                let contact = Contact(context: context)
                contact.fill(first + number)
                contacts.append(contact)
                try context.save()
                moments.append(call_counts_now())
            }
            for contact in contacts.prefix(Self.saves) {
                contact.age += 1
                try context.save()
                moments.append(call_counts_now())
            }
        }
        record("Insert", Array(moments[Self.saves...(2 * Self.saves)]))
        record("Update", Array(moments[(2 * Self.saves)...]))
    }

    /// A property set, and an update, after many steps that can be undone.
    ///
    /// Bytes are counted, since a copy of all steps is one allocation.
    private mutating func countSteps() throws {
        let context = container.newBackgroundContext()
        let id = ids[0]
        let (edits, updates) = try context.performAndWait {
            guard let contact = context.object(with: id) as? Contact else {
                preconditionFailure("The first object is a contact.")
            }
            for _ in 0..<Self.steps {
                contact.age += 1
                context.processPendingChanges()
            }
            let edits = Self.medianOfAllocatedBytes {
                contact.age += 1
                context.processPendingChanges()
            }
            try context.save()
            let updates = try Self.medianOfAllocatedBytes {
                try context.update { contact.age += 1 }
            }
            return (edits, updates)
        }
        counts["allocatedBytesPerEditAfterManySteps"] = edits
        counts["allocatedBytesPerUpdateAfterManySteps"] = updates
    }

    private static func medianOfAllocatedBytes(_ body: () throws -> Void) rethrows -> Double {
        let each = try (0..<saves).map { _ in
            let before = call_counts_now()
            try body()
            return Double(call_counts_now().allocated_bytes - before.allocated_bytes)
        }
        return each.sorted()[each.count / 2]
    }

    /// Objects saved one by one into another store, each with a text too long for a leaf page.
    ///
    /// The count is the maximum of one of them: occasionally a save does work for those before it.
    private mutating func countLongSaves(in folder: URL) throws {
        let container = try PersistentContainer(
            folder.appendingPathComponent("long.daybook"), model: [Contact.self])
        let context = container.newBackgroundContext()
        let address = String(repeating: "Long Street near the Old Harbour ", count: 100)
        let digests = try context.performAndWait {
            try (0..<Self.saves).map { number in
                let contact = Contact(context: context)
                contact.fill(number)
                contact.address = address
                let before = call_counts_now()
                try context.save()
                return call_counts_now().digests - before.digests
            }
        }
        counts["digestsPerLongSaveAtMost"] = Double(digests.max() ?? 0)
    }

    /// Rows inserted as a batch into another store, without and with a relationship to an object.
    private mutating func countBatches(in folder: URL, rows: Int) throws {
        let container = try PersistentContainer(
            folder.appendingPathComponent("teams.daybook"), model: [Member.self, Team.self])
        let context = container.newBackgroundContext()
        let (plain, related) = try context.performAndWait {
            let team = Team(context: context)
            try context.save()
            let id = team.objectID
            let before = call_counts_now()
            try context.execute(
                BatchInsertRequest<Member>(0..<rows) { _, row in row[\.name] = "plain" })
            let between = call_counts_now()
            try context.execute(
                BatchInsertRequest<Member>(0..<rows) { _, row in
                    row[\.name] = "related"
                    row.relate(\.team, to: id)
                })
            return (
                Self.allocations(from: before, to: between),
                Self.allocations(from: between, to: call_counts_now())
            )
        }
        counts["allocationsPerRowOfABatch"] = plain / Double(rows)
        counts["allocationsPerRelatedRowOfABatch"] = related / Double(rows)
    }

    /// Records the medians of the differences between moments: occasionally a save does more for
    /// later ones.
    private mutating func record(_ kind: String, _ moments: [call_counts]) {
        func median(_ count: KeyPath<call_counts, UInt64>) -> Double {
            let each = zip(moments, moments.dropFirst())
                .map { Double($1[keyPath: count] - $0[keyPath: count]) }
            return each.sorted()[each.count / 2]
        }
        counts["allocationsPerSaved\(kind)"] = median(\.allocations)
        counts["pagesPerSaved\(kind)"] =
            (median(\.written_bytes) / Self.pageBytes).rounded(.up)
        counts["writesPerSaved\(kind)"] = median(\.writes)
        counts["syncsPerSaved\(kind)"] = median(\.syncs)
        counts["digestsPerSaved\(kind)"] = median(\.digests)
        counts["digestedBytesPerSaved\(kind)"] = median(\.digested_bytes)
    }

    private static func allocations(from before: call_counts, to after: call_counts) -> Double {
        Double(after.allocations - before.allocations)
    }
}
