import DaybookObjectModel
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// Files that are opened while their servers do not answer.
@Suite struct OpeningTests {
    @Test func `nobody who opens another file waits for servers that do not answer`() async throws {
        let server = ScriptedServer()
        let folder = try TemporaryDirectory()
        let path = folder.path("copy.daybook")
        let scripted = SharedLink(
            to: "servers", identify: { server.identity },
            connect: { _, _ in ScriptedJournal(server, login: "ada") })
        try Store.makeCopy(
            of: scripted, at: path, version: ModelVersion(first: .sample), options: .counting())
        // It takes connections, and says nothing.
        let (file, port) = try listeningSocket()
        let servers = try ServerDescription(
            "host=127.0.0.1 port=\(port) user=nobody dbname=none sslmode=disable")
        let silent = SharedLink(
            to: "servers", identify: { server.identity },
            connect: { link, identity in
                let terms = PostgresTerms(
                    servers: servers, store: "none", node: link.node, program: "tests",
                    limits: .patient, clock: microseconds)
                return PostgresJournal(terms, identity)
            })
        let isOpen = Atomic(false)

        async let opened = onThread { [silent] in
            var options = StoreOptions.counting()
            options.link = silent
            let store = try Store.open(at: path, options: options)
            isOpen.store(true, ordering: .releasing)
            return store
        }
        let wasOpen = try await onThread {
            let connection = accept(file, nil, nil)
            defer {
                close(connection)
                close(file)
            }
            let other = try Store.create(
                at: folder.path("other.daybook"), model: .sample, options: .counting())
            let wasOpen = isOpen.load(ordering: .acquiring)
            try other.close()
            return wasOpen
        }
        let store = try await opened

        #expect(!wasOpen)
        guard case .offline? = store.condition else {
            Issue.record("The store does not say that nobody answers.")
            return
        }
        try store.close()
    }
}
