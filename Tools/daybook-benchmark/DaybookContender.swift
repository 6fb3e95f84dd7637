import Daybook
import Foundation

/// The measured class.
final class Contact: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var mail: String = ""
    @Attribute var address: String = ""
    @Attribute var age: Int = 0
    @Attribute var balance: Double = 0
}

/// Daybook as a program uses it: managed objects of a class, in a context with undo.
final class DaybookContender: Contender {
    static let name = "Daybook"

    // Nothing but the container and its contexts keeps the store open.
    private var container: PersistentContainer?
    private var contexts: (writing: ManagedObjectContext, reading: ManagedObjectContext)?
    private var contextsOfThreads: [ManagedObjectContext] = []
    private var contacts: [Contact] = []
    private var identifiers: [ManagedObjectID] = []

    init(in folder: URL) throws {
        let container = try PersistentContainer(
            folder.appendingPathComponent("contacts.daybook"), model: [Contact.self])
        self.container = container
        contexts = (container.newBackgroundContext(), container.newBackgroundContext())
    }

    func insertSingly(_ contacts: Contacts) throws {
        try Self.insertSingly(contacts, 0..<contacts.count, in: try open().writing)
    }

    func prepareThreads(_ count: Int) throws {
        guard let container else { throw Self.closed }
        contextsOfThreads = (0..<count).map { _ in container.newBackgroundContext() }
    }

    func insertSingly(_ contacts: Contacts, fromThreads count: Int) throws {
        let contexts = contextsOfThreads
        try Threads.run(count) { number in
            let share = contacts.share(number, of: count)
            try Self.insertSingly(contacts, share, in: contexts[number])
        }
    }

    private static func insertSingly(
        _ contacts: Contacts, _ indexes: Range<Int>, in context: ManagedObjectContext
    ) throws {
        try context.performAndWait {
            for index in indexes {
                make(contacts, index, in: context)
                try context.save()
            }
        }
    }

    func insertTogether(_ contacts: Contacts) throws {
        let context = try open().writing
        try context.performAndWait {
            self.contacts.reserveCapacity(contacts.count)
            for index in 0..<contacts.count {
                self.contacts.append(Self.make(contacts, index, in: context))
            }
            try context.save()
        }
    }

    func insertBatch(_ contacts: Contacts) throws {
        let context = try open().writing
        try context.performAndWait { () throws in
            let request = BatchInsertRequest<Contact> { row in
                let index = row.index
                guard index < contacts.count else { return .finish }
                row[\.name] = contacts.names[index]
                row[\.mail] = contacts.mails[index]
                row[\.address] = contacts.addresses[index]
                row[\.age] = contacts.ages[index]
                row[\.balance] = contacts.balances[index]
                return .insert
            }
            try context.execute(request)
        }
    }

    @discardableResult
    static func make(
        _ contacts: Contacts, _ index: Int, in context: ManagedObjectContext
    ) -> Contact {
        let contact = Contact(context: context)
        contact.name = contacts.names[index]
        contact.mail = contacts.mails[index]
        contact.address = contacts.addresses[index]
        contact.age = contacts.ages[index]
        contact.balance = contacts.balances[index]
        return contact
    }

    func prepareToRead(_ order: [Int]) throws {
        let context = try open().writing
        identifiers = context.performAndWait { order.map { contacts[$0].objectID } }
    }

    /// A fault reads its own record, so both manners are the same here.
    func readAges(_ order: [Int], _ manner: ReadingManner) throws -> Int {
        precondition(order.count == identifiers.count, "What is read has been prepared.")
        let context = try open().reading
        return context.performAndWait {
            var sum = 0
            for identifier in identifiers {
                if let contact = context.object(with: identifier) as? Contact {
                    sum += contact.age
                }
            }
            return sum
        }
    }

    func readAll() throws -> (ages: Int, nameBytes: Int) {
        let context = try open().reading
        return try context.performAndWait {
            var request = FetchRequest<Contact>()
            // The setting of a program that will read all of them.
            request.returnsObjectsAsFaults = false
            var read = (ages: 0, nameBytes: 0)
            for contact in try context.fetch(request) {
                read.ages += contact.age
                read.nameBytes += contact.name.utf8.count
            }
            return read
        }
    }

    /// Here every record read is an object.
    func scanAll() throws -> (ages: Int, nameBytes: Int) { try readAll() }

    func registerAndRelease(_ count: Int) throws -> (held: Int, left: Int) {
        let context = try open().reading
        return context.performAndWait {
            var faults: [ManagedObject] = []
            faults.reserveCapacity(count)
            for identifier in identifiers.prefix(count) {
                if let fault = context.object(with: identifier) { faults.append(fault) }
            }
            let held = faults.count
            faults = []
            return (held, context.registeredObjects.count)
        }
    }

    func updateTogether(_ contacts: Contacts) throws {
        let context = try open().writing
        try context.performAndWait {
            for index in 0..<contacts.count {
                let contact = self.contacts[index]
                contact.mail = contacts.mails[index]
                contact.age = contacts.ages[index]
                contact.balance = contacts.balances[index]
            }
            try context.save()
        }
    }

    func undoLastSave() throws {
        let context = try open().writing
        try context.performAndWait {
            context.undo()
            try context.save()
        }
    }

    func count() throws -> Int {
        let context = try open().reading
        return try context.performAndWait { try context.count(FetchRequest<Contact>()) }
    }

    func settle() throws {}

    func close() throws {
        contacts = []
        identifiers = []
        contextsOfThreads = []
        contexts = nil
        container = nil
    }

    func open() throws -> (writing: ManagedObjectContext, reading: ManagedObjectContext) {
        guard let contexts else { throw Self.closed }
        return contexts
    }

    private static let closed = PeerFailure("open", "the store was closed")
}

extension DaybookContender: OpensIdly {
    static func openIdly(_ folder: URL) throws {
        var options = PersistentStoreOptions()
        options.migration = .automatic
        try open(folder, options)
    }

    /// Opens and closes the store in a folder.
    static func open(_ folder: URL, _ options: PersistentStoreOptions) throws {
        let container = try PersistentContainer(
            folder.appendingPathComponent("contacts.daybook"), model: [Contact.self],
            options: options)
        withExtendedLifetime(container) {}
    }
}

extension DaybookContender: Migrates {
    static func migrate(_ folder: URL, _ change: ModelChange, _ number: Int) throws -> Double {
        let model = try model(after: change, number)
        var opened: PersistentContainer?
        let seconds = try Stopwatch.seconds { opened = try open(folder, model) }
        withExtendedLifetime(opened) {}
        return seconds
    }

    static func count(in folder: URL, after change: ModelChange, _ number: Int) throws -> Int {
        let context = try open(folder, model(after: change, number)).newBackgroundContext()
        return try context.performAndWait {
            try context.count(FetchRequest<ManagedObject>(entityName: Contact.entityName))
        }
    }

    private static func open(
        _ folder: URL, _ model: ManagedObjectModel
    ) throws -> PersistentContainer {
        try PersistentContainer(
            folder.appendingPathComponent("contacts.daybook"), managedObjectModel: model)
    }

    private static func model(
        after change: ModelChange, _ number: Int
    ) throws -> ManagedObjectModel {
        var model = try PersistentStoreCoordinator(classes: [Contact.self]).managedObjectModel
        switch change {
        case .attribute:
            for index in 1...number {
                model.entities[0].attributes.append(
                    AttributeDescription(name: "remark\(index)", type: .string))
            }
        case .index:
            for index in model.entities[0].attributes.indices
            where model.entities[0].attributes[index].name == "name" {
                model.entities[0].attributes[index].isIndexed = true
            }
        }
        return model
    }
}
