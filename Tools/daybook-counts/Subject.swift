import CallCounts
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

/// What is counted, step by step, in a store that is filled first.
struct Subject {
    private let container: PersistentContainer
    private let ids: [ManagedObjectID]
    private var counts: [String: Double] = [:]

    /// How many saves a count of saves is the mean of, after as many that are not counted.
    private static let saves = 100
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
            // What a context makes once is not the objects'.
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
        for (place, name) in [
            "Fault", "FiredFault", "NumberRead", "ShortTextRead", "LongTextRead",
        ].enumerated() {
            counts["allocationsPer\(name)"] =
                Self.allocations(from: moments[place], to: moments[place + 1]) / each
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

    /// Objects inserted, and then updated, each in a durable save of its own.
    private mutating func countSaves() throws {
        let context = container.newBackgroundContext()
        var contacts: [Contact] = []
        var moments: [call_counts] = []
        moments.reserveCapacity(4)
        let first = ids.count
        try context.performAndWait {
            for round in 0..<2 {
                moments.append(call_counts_now())
                for number in 0..<Self.saves {
                    let contact = Contact(context: context)
                    contact.fill(first + round * Self.saves + number)
                    contacts.append(contact)
                    try context.save()
                }
            }
            moments.append(call_counts_now())
            for contact in contacts.prefix(Self.saves) {
                contact.age += 1
                try context.save()
            }
            moments.append(call_counts_now())
        }
        note("Insert", from: moments[1], to: moments[2])
        note("Update", from: moments[2], to: moments[3])
    }

    private mutating func note(
        _ kind: String, from before: call_counts, to after: call_counts
    ) {
        let saves = Double(Self.saves)
        let written = Double(after.written_bytes - before.written_bytes)
        counts["allocationsPerSaved\(kind)"] = Self.allocations(from: before, to: after) / saves
        counts["pagesPerSaved\(kind)"] = written / Self.pageBytes / saves
        counts["writesPerSaved\(kind)"] = Double(after.writes - before.writes) / saves
        counts["syncsPerSaved\(kind)"] = Double(after.syncs - before.syncs) / saves
        counts["digestsPerSaved\(kind)"] = Double(after.digests - before.digests) / saves
        counts["digestedBytesPerSaved\(kind)"] =
            Double(after.digested_bytes - before.digested_bytes) / saves
    }

    private static func allocations(from before: call_counts, to after: call_counts) -> Double {
        Double(after.allocations - before.allocations)
    }
}
