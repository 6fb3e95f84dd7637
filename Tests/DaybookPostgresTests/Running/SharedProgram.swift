import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// A program with a copy of a store on the server of the tests.
final class SharedProgram: Sendable {
    /// Something that is counted, and its parts.
    final class Account: ManagedObject {
        @Attribute(.unique) var name: String
        @Attribute var balance: Int = 0
        @Relationship(inverse: \Booking.account) var bookings: Set<Booking>
    }
    final class Booking: ManagedObject {
        @Attribute var text: String = ""
        @Relationship var account: Account?
    }

    let container: PersistentContainer
    let path: String
    private let folder: TemporaryDirectory

    /// Opens a copy, or makes it where there is none.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - servers: How the program reaches it; nil for the way that nothing disturbs.
    ///   - limits: How long it waits.
    ///   - folder: Where its copy is; nil for a new place.
    ///   - model: Its classes.
    /// - Throws: What opening throws.
    convenience init(
        _ store: SharedStore, through servers: ServerDescription? = nil,
        limits: PostgresTerms.Limits = .patient, in folder: TemporaryDirectory? = nil,
        model: [ManagedObject.Type] = [Account.self, Booking.self]
    ) throws {
        let servers = try servers ?? store.server.description(as: store.login)
        let (identity, name) = (store.identity, store.name)
        try self.init(
            SharedLink(
                to: "tests:\(name)", identify: { identity },
                connect: { file, identity in
                    PostgresJournal(
                        PostgresTerms(
                            servers: servers, store: name, node: file.node, program: "tests",
                            protection: .waived, limits: limits, clock: microseconds), identity)
                }), in: folder, model: model)
    }

    /// Opens a copy, or makes it where there is none.
    ///
    /// - Parameters:
    ///   - link: How it reaches its store.
    ///   - folder: Where its copy is; nil for a new place.
    ///   - model: Its classes.
    /// - Throws: What opening throws.
    init(
        _ link: SharedLink, in folder: TemporaryDirectory? = nil, model: [ManagedObject.Type]
    ) throws {
        self.folder = try folder ?? TemporaryDirectory()
        path = self.folder.path("copy.daybook")
        var description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
        description.sharing = StoreSharing(link)
        container = try TestContainer.make(model: model, descriptions: [])
        try container.persistentStoreCoordinator.addPersistentStore(with: description)
    }

    /// Opens a program that waits for servers so briefly that a busy one may answer later, until it has answered.
    ///
    /// - Parameter open: Opens it.
    /// - Returns: The program.
    /// - Throws: What `open` throws; that the server cannot be reached only after a minute.
    static func reached(by open: () throws -> SharedProgram) throws -> SharedProgram {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try open()
            } catch let error as StoreError where error.code == .unreachable {
                guard .now < end else { throw error }
            }
        }
    }

    /// The store of the program.
    var store: PersistentStore {
        get throws {
            guard let store = container.persistentStoreCoordinator.persistentStores.first else {
                throw StoreError(.closed, "The program has no store.")
            }
            return store
        }
    }

    /// Closes the copy.
    func close() throws {
        try container.persistentStoreCoordinator.remove(store)
    }

    /// Closes the copies and expects them to be sound, and to have the same tables.
    static func expectAlike(_ programs: [SharedProgram], _ about: Comment? = nil) throws {
        var tables: [[String: Digest]] = []
        for program in programs {
            try program.close()
            let copy = try Store.open(at: program.path, options: StoreOptions(isReadOnly: true))
            let findings = try copy.verify().findings.map(\.message)
            #expect(findings == [], about)
            tables.append(try copy.projectionDigest())
            try copy.close()
        }
        #expect(tables.allSatisfy { $0 == tables[0] }, about)
    }

    /// The names, and how often each is there, after catching up.
    func bookings() throws -> [String] {
        try store.catchUp(within: .seconds(30))
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try context.fetch(FetchRequest<Booking>()).map(\.text).sorted()
        }
    }

    /// What each account has, after catching up.
    func balances() throws -> [String: Int] {
        try store.catchUp(within: .seconds(30))
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            Dictionary(
                uniqueKeysWithValues: try context.fetch(FetchRequest<Account>()).map {
                    ($0.name, $0.balance)
                })
        }
    }
}
