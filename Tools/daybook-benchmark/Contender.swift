import Foundation

/// A measured system, with one store in its own folder.
///
/// Work outside of the workloads (making the data, checking the results) is never timed.
protocol Contender: AnyObject {
    /// The name in the report.
    static var name: String { get }

    /// Opens the store in a folder, making it when there is none.
    init(in folder: URL) throws

    /// Inserts objects, each in a durable save of its own.
    func insertSingly(_ contacts: Contacts) throws
    /// Prepares ``insertSingly(_:fromThreads:)``, for example with a context for each thread.
    func prepareThreads(_ count: Int) throws
    /// Inserts objects, each in its own durable save, from as many concurrent threads as were
    /// prepared, each its share.
    func insertSingly(_ contacts: Contacts, fromThreads count: Int) throws
    /// Inserts objects in one durable save, with their history.
    func insertTogether(_ contacts: Contacts) throws
    /// Inserts objects in one durable save, with their history, in the fastest way.
    func insertBatch(_ contacts: Contacts) throws
    /// Collects what a program would have when it reads these objects: their keys, in the order of
    /// reading.
    func prepareToRead(_ order: [Int]) throws
    /// Reads one attribute of each of these objects.
    ///
    /// - Parameters:
    ///   - order: The indexes of the objects, as last given to ``prepareToRead(_:)``.
    ///   - manner: Whether one read may serve for all of them.
    /// - Returns: The sum of the values read.
    /// - Throws: Errors of the library.
    func readAges(_ order: [Int], _ manner: ReadingManner) throws -> Int
    /// Loads every object into memory, as an instance of five attributes, and reads a number and a
    /// text of each.
    ///
    /// - Returns: The sums of the numbers and of the lengths of the texts.
    /// - Throws: Errors of the library.
    func readAll() throws -> (ages: Int, nameBytes: Int)
    /// Reads a number and a text of every record, without making instances if the contender can
    /// avoid that.
    ///
    /// - Returns: The sums of the numbers and of the lengths of the texts.
    /// - Throws: Errors of the library.
    func scanAll() throws -> (ages: Int, nameBytes: Int)
    /// Makes one unread instance for each of the first objects, unique as long as it is held, and
    /// releases all of them.
    ///
    /// - Returns: The number of instances, and the number left after the release.
    func registerAndRelease(_ count: Int) throws -> (held: Int, left: Int)
    /// Gives the first objects a new mail, age and balance in one durable save, with history.
    func updateTogether(_ contacts: Contacts) throws
    /// Takes the last save back by means of its history, which is itself saved as history.
    func undoLastSave() throws
    /// How many objects there are.
    func count() throws -> Int
    /// Writes everything into the files that count as the store.
    func settle() throws
    /// Closes the files.
    func close() throws
}

/// The number of objects read in one read transaction.
enum ReadingManner {
    /// Each object in a read of its own, which sees the newest save.
    case each
    /// All objects in one read, which sees one state, if the contender supports that.
    case together
}

extension Contender {
    /// The default: there is no faster way.
    func insertBatch(_ contacts: Contacts) throws {
        try insertTogether(contacts)
    }

    /// A program's own registry over a library without objects: a dictionary of weak references.
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

/// A program's own instance of a record over a library without objects.
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

/// An object that knows its record.
private final class Instance {
    let number: Int

    init(number: Int) {
        self.number = number
    }
}

private struct WeakInstance {
    weak var instance: Instance?
}

/// A contender's result is wrong, so its time is meaningless.
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
