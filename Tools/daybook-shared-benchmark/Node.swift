import Daybook
import DaybookPostgres
import Foundation

final class Contact: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var mail: String = ""
    @Attribute var age: Int = 0

    /// About how many bytes an entry has that makes one.
    static let payloadLength = 96

    func fill(_ number: Int) {
        name = "Contact \(number)"
        mail = "contact-\(number)@example.org"
        age = number % 90
    }
}

/// A program with a copy of a shared store, in a folder of its own.
final class Node: @unchecked Sendable {
    // @unchecked Sendable because it is set up once; containers and stores may be used from any thread.
    let container: PersistentContainer
    let store: PersistentStore
    let url: URL

    init(of name: String) throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("daybook-shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        container = try PersistentContainer(model: [Contact.self], descriptions: [])
        let description = PersistentStoreDescription(
            postgres: "service=ledger", store: name,
            cache: url.appendingPathComponent("copy.daybook"))
        store = try container.persistentStoreCoordinator.addPersistentStore(with: description)
    }

    /// Closes the copy and removes it.
    func close() throws {
        try container.persistentStoreCoordinator.remove(store)
        try FileManager.default.removeItem(at: url)
    }

    /// Saves objects one by one, in so many contexts at once.
    func save(_ count: Int, contexts: Int) throws {
        let failures = Failures()
        onThreads(contexts) { [self] _ in
            do {
                try saveInContext(count / contexts)
            } catch {
                failures.add(error)
            }
        }
        try failures.throwFirst()
    }

    private func saveInContext(_ count: Int) throws {
        let context = container.newBackgroundContext()
        for number in 0..<count {
            try context.performAndWait { () throws in
                Contact(context: context).fill(number)
                try context.save()
            }
        }
    }

    // MARK: - In a process of its own

    /// The word that makes this program a node.
    static let word = "--node"

    /// Opens a copy, says so, waits for a byte, saves, and says how long that took.
    static func run(_ words: [String]) throws {
        guard words.count == 3, let count = Int(words[1]), let contexts = Int(words[2]) else {
            return
        }
        let node = try Node(of: words[0])
        // The first save of a copy connects.
        try node.save(contexts, contexts: contexts)
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        _ = FileHandle.standardInput.readData(ofLength: 1)
        let start = ContinuousClock.now
        try node.save(count, contexts: contexts)
        let seconds = (.now - start) / Duration.seconds(1)
        FileHandle.standardOutput.write(Data("\(seconds)\n".utf8))
        try node.close()
    }
}

/// What went wrong on several threads.
final class Failures: @unchecked Sendable {
    // @unchecked Sendable because of its lock.
    private let lock = NSLock()
    private var first: (any Error)?

    func add(_ error: any Error) {
        lock.withLock { first = first ?? error }
    }

    func throwFirst() throws {
        if let first = lock.withLock({ first }) { throw first }
    }
}
