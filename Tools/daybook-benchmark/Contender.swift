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
    /// Inserts objects in one durable save, with their history.
    func insertTogether(_ contacts: Contacts) throws
    /// Gathers what a program would have at hand when it reads.
    func prepareToRead() throws
    /// Reads one attribute of each of these objects, each in a read of its own.
    ///
    /// - Returns: The sum of what was read.
    func readAges(_ order: [Int]) throws -> Int
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
