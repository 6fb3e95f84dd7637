package import DaybookSnapshotStore
internal import Foundation
internal import Synchronization

/// What the stores of tests are: files of their own, or the copies of shared stores, each with a server of its own.
///
/// `DAYBOOK_TEST_BACK_END=scripted` says the latter: a ``ScriptedServer`` where all goes well. What a test makes
/// without ``TestStore`` or `TestContainer` stays a file of its own.
package enum BackEnd {
    /// Whether the stores of tests are linked to shared ones.
    package static let isShared =
        ProcessInfo.processInfo.environment["DAYBOOK_TEST_BACK_END"] == "scripted"

    private static let servers = Mutex<[String: ScriptedServer]>([:])

    /// The link of a file that a test is about to make: to a shared store without entries. Nil where the stores
    /// of tests are files of their own.
    ///
    /// - Parameters:
    ///   - identity: Which store it is to be.
    ///   - clock: The clock of its server.
    /// - Returns: The link.
    package static func newLink(
        _ identity: @autoclosure () -> StoreIdentity, clock: @escaping @Sendable () -> Int64
    ) -> SharedLink? {
        guard isShared else { return nil }
        let server = ScriptedServer(identity(), clock: clock)
        let place = "scripted:\(UUID().uuidString)"
        servers.withLock { $0[place] = server }
        return link(to: place, server)
    }

    /// The link of a file that is there; nil for one of its own.
    package static func link(ofFileAt path: String) -> SharedLink? {
        guard isShared, FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
            defer { store.closeQuietly() }
            guard let file = try store.link(),
                let server = servers.withLock({ $0[file.place] })
            else { return nil }
            return link(to: file.place, server)
        } catch {
            // Opening it for the test tells what is wrong.
            return nil
        }
    }

    private static func link(to place: String, _ server: ScriptedServer) -> SharedLink {
        SharedLink(
            to: place, identify: { server.identity },
            connect: { file, _ in ScriptedJournal(server, login: file.node.uuidString) })
    }
}
