import Foundation

/// A system that is measured, with one store in a folder of its own.
///
/// What is not a workload of its own (making the data, checking the results) is never timed.
protocol Contender: AnyObject {
    /// The name in the report.
    static var name: String { get }

    /// Opens the store in a folder, making it when there is none.
    init(in folder: URL) throws

    /// Inserts objects, each in a durable save of its own.
    func insertSingly(_ contacts: Contacts) throws
    /// Makes ready for ``insertSingly(_:fromThreads:)``, such as with a context for each thread.
    func prepareThreads(_ count: Int) throws
    /// Inserts objects, each in a durable save of its own, from as many threads at once as were made
    /// ready, each its share.
    func insertSingly(_ contacts: Contacts, fromThreads count: Int) throws
    /// Inserts objects in one durable save, with their history.
    func insertTogether(_ contacts: Contacts) throws
    /// Inserts objects in one durable save, with their history, in the quickest way there is.
    func insertBatch(_ contacts: Contacts) throws
    /// Gathers what a program would have at hand when it reads objects at these places: their keys, in
    /// the order in which they will be read.
    func prepareToRead(_ order: [Int]) throws
    /// Reads one attribute of each of these objects.
    ///
    /// - Parameters:
    ///   - order: The places of the objects, as ``prepareToRead(_:)`` was told them last.
    ///   - manner: Whether one read may serve for all of them.
    /// - Returns: The sum of what was read.
    /// - Throws: What the library throws.
    func readAges(_ order: [Int], _ manner: ReadingManner) throws -> Int
    /// Has every object in memory at once, as an instance of five attributes, and reads a number and
    /// a text of each.
    ///
    /// - Returns: The sums of the numbers and of the lengths of the texts.
    /// - Throws: What the library throws.
    func readAll() throws -> (ages: Int, nameBytes: Int)
    /// Reads a number and a text of every record, without making instances where the contender can
    /// do without.
    ///
    /// - Returns: The sums of the numbers and of the lengths of the texts.
    /// - Throws: What the library throws.
    func scanAll() throws -> (ages: Int, nameBytes: Int)
    /// Has an instance for each of the first objects, unread, of which there is one for each as long
    /// as somebody holds it; and lets all of them go.
    ///
    /// - Returns: How many there were, and how many were left.
    func registerAndRelease(_ count: Int) throws -> (held: Int, left: Int)
    /// Gives the first objects a new mail, age and balance in one durable save, with history.
    func updateTogether(_ contacts: Contacts) throws
    /// Takes the last save back by means of its history, which is itself saved as history.
    func undoLastSave() throws
    /// How many objects there are.
    func count() throws -> Int
    /// Brings everything into the files that count as the store.
    func settle() throws
    /// Lets go of the files.
    func close() throws
}

/// How many objects are read in one read of the store.
enum ReadingManner {
    /// Each object in a read of its own, which sees the newest save.
    case each
    /// All objects in one read, which sees one state, where the contender has that.
    case together
}

extension Contender {
    /// Where nothing is quicker.
    func insertBatch(_ contacts: Contacts) throws {
        try insertTogether(contacts)
    }

    /// What a program does by itself over a library that has no objects: a dictionary of weak
    /// references.
    func registerAndRelease(_ count: Int) -> (held: Int, left: Int) {
        var registry: [Int: WeakInstance] = [:]
        var instances: [Instance] = []
        instances.reserveCapacity(count)
        for number in 0..<count {
            if let known = registry[number]?.instance {
                instances.append(known)
                continue
            }
            let instance = Instance(number: number)
            registry[number] = WeakInstance(instance: instance)
            instances.append(instance)
        }
        let held = instances.count
        instances = []
        return (held, registry.values.count { $0.instance != nil })
    }
}

/// What a program makes of a record by itself over a library that has no objects.
final class PlainContact {
    let name: String
    let mail: String
    let address: String
    let age: Int
    let balance: Double

    init(name: String, mail: String, address: String, age: Int, balance: Double) {
        self.name = name
        self.mail = mail
        self.address = address
        self.age = age
        self.balance = balance
    }

    /// The sums over many.
    static func sums(_ contacts: [PlainContact]) -> (ages: Int, nameBytes: Int) {
        var sums = (ages: 0, nameBytes: 0)
        for contact in contacts {
            sums.ages += contact.age
            sums.nameBytes += contact.name.utf8.count
        }
        return sums
    }
}

/// An object that knows which record it stands for.
private final class Instance {
    let number: Int

    init(number: Int) {
        self.number = number
    }
}

private struct WeakInstance {
    weak var instance: Instance?
}

/// What a contender did was not what it was told to do, so its time means nothing.
struct WrongResult: Error, CustomStringConvertible {
    let description: String

    init(_ contender: String, _ what: String, expected: Int, found: Int) {
        description = "\(contender): \(what) should be \(expected), not \(found)."
    }
}

/// A library call that failed.
struct PeerFailure: Error, CustomStringConvertible {
    let description: String

    init(_ call: String, _ reason: String) {
        description = "'\(call)' failed: \(reason)."
    }
}
