package import DaybookSnapshotStore
internal import Foundation
internal import Synchronization

/// What the stores of tests are: files of their own, or the copies of shared stores.
///
/// `DAYBOOK_TEST_BACK_END` says the latter. `scripted`: each shared store has a ``ScriptedServer`` of its own, where
/// all goes well. `postgres`: all are on one real server. What a test makes without ``TestStore`` or `TestContainer`
/// stays a file of its own.
package enum BackEnd: String {
    case own, scripted, postgres

    /// What this run was asked for. A name that stands for none ends it.
    package static let current: BackEnd = {
        guard let name = ProcessInfo.processInfo.environment["DAYBOOK_TEST_BACK_END"] else {
            return .own
        }
        guard let known = BackEnd(rawValue: name) else {
            fatalError("DAYBOOK_TEST_BACK_END is '\(name)', not 'own', 'scripted' or 'postgres'.")
        }
        return known
    }()

    /// Whether the stores of tests are linked to shared ones.
    package static var isShared: Bool { current != .own }

    /// The links that were made, by their places.
    private static let links = Mutex<[String: SharedLink]>([:])

    /// The link of a file that a test is about to make: to a shared store without entries. Nil where the stores
    /// of tests are files of their own.
    ///
    /// - Parameters:
    ///   - identity: Which store it is to be.
    ///   - clock: The clock of its server.
    /// - Returns: The link.
    /// - Throws: When the server does not start, or refuses the store.
    package static func newLink(
        _ identity: @autoclosure () -> StoreIdentity, clock: @escaping @Sendable () -> Int64
    ) throws -> SharedLink? {
        let link: SharedLink
        switch current {
        case .own: return nil
        case .scripted: link = scriptedLink(identity(), clock: clock)
        case .postgres: link = try PostgresBackEnd.newLink(identity(), clock: clock)
        }
        links.withLock { $0[link.place] = link }
        return link
    }

    private static func scriptedLink(
        _ identity: StoreIdentity, clock: @escaping @Sendable () -> Int64
    ) -> SharedLink {
        let server = ScriptedServer(identity, clock: clock)
        return SharedLink(
            to: "scripted:\(UUID().uuidString)", identify: { identity },
            connect: { file, _ in ScriptedJournal(server, login: file.node.uuidString) })
    }

    /// The link of a file that is there; nil for one of its own.
    package static func link(ofFileAt path: String) -> SharedLink? {
        guard isShared, FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
            defer { store.closeQuietly() }
            guard let file = try store.link() else { return nil }
            return links.withLock { $0[file.place] }
        } catch {
            // Opening it for the test tells what is wrong.
            return nil
        }
    }
}
