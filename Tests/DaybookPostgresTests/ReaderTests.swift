import DaybookJournalLog
import DaybookObjectModel
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Copies of a login that may read a store, and not write to it.
@Suite struct ReaderTests {
    @Test func `a login that only reads makes a copy and brings it up, and its saves are refused`()
        async throws
    {
        let shared = try await onThread { try SharedStore() }
        let folder = try TemporaryDirectory()

        try await onThread {
            let writer = try shared.firstCopy(at: folder.path("writer.daybook"))
            let skill = try writer.newObject("Skill")
            try writer.commit(
                SaveRequest(changes: [writer.insert(skill, ["title": .string("Sailing")])]))
            let link = try shared.link(as: "\(shared.name)_reader")

            let reader = try Store.clone(from: link, into: folder.path("reader.daybook"))
            #expect(try reader.headDigest() == writer.headDigest())

            try writer.rename(skill, from: "Sailing", to: "Rowing")
            try writer.setUserValues(["owner": .string("Ada")])
            try writer.pull()
            try reader.setUserValues(["window": .int(3)])
            try reader.pull()
            #expect(try reader.headDigest() == writer.headDigest())
            #expect(
                try reader.userValues() == ["owner": .string("Ada"), "window": .int(3)])

            let refusals = [
                #expect(throws: StoreError.self) {
                    try reader.rename(skill, from: "Rowing", to: "Swimming")
                },
                #expect(throws: StoreError.self) { try reader.setTag("audited") },
            ]
            #expect(refusals.map { $0?.code } == [.permission, .permission])
            try reader.pull()
            #expect(try reader.headDigest() == writer.headDigest())
            #expect(try reader.tags().isEmpty)
            try reader.close()
            try writer.close()
        }
    }

    @Test func `a login that only reads has one row, and appends nothing with it`() async throws {
        let shared = try await onThread { try SharedStore() }
        let login = "\(shared.name)_reader"
        let first = group(after: .start, [1])

        let rows = try await onThread {
            #expect(try shared.journal().append(first) == .accepted)
            for _ in 0..<2 {
                let journal = PostgresJournal(try shared.terms(as: login), shared.identity)
                #expect(try journal.page(after: .start, bytes: 1).entries.map(\.payload) == [[1]])
                let error = #expect(throws: SharedJournalError.self) {
                    try journal.append(group(after: first.after, [2]))
                }
                #expect(error?.code == .refused)
            }
            return try shared.number(
                "SELECT count(*) FROM daybook.writer WHERE login = '\(login)'")
        }

        #expect(rows == 1)
    }

    @Test func `a login that only reads is asked for the same proof as one that writes`()
        async throws
    {
        let shared = try await onThread { try SharedStore() }

        let error = try await onThread {
            let terms = try shared.terms(as: "\(shared.name)_reader", protection: .required)
            return #expect(throws: SharedJournalError.self) {
                try PostgresJournal(terms, shared.identity).page(after: .start, bytes: 1)
            }
        }

        #expect(error?.code == .unprotected)
    }
}

extension SharedStore {
    /// How a copy of a login reaches it.
    fileprivate func link(as login: String) throws -> SharedLink {
        let terms = try terms(as: login)
        return SharedLink(
            to: "tests:\(name)", identify: { try PostgresJournal.identity(terms) },
            connect: { file, identity in
                let terms = PostgresTerms(
                    servers: terms.servers, store: terms.store, node: file.node, program: "tests",
                    protection: .waived, limits: .patient, clock: microseconds)
                return PostgresJournal(terms, identity)
            })
    }

    /// The first copy, whose model becomes the store's.
    fileprivate func firstCopy(at path: String) throws -> Store {
        var options = StoreOptions()
        options.link = try link(as: name)
        let version = try ModelVersion(first: .sample)
        try Store.makeCopy(of: link(as: name), at: path, version: version, options: options)
        return try TestStore.open(at: path, options: options)
    }
}

extension Store {
    fileprivate func rename(_ skill: ObjectID, from old: String, to new: String) throws {
        let change = update(skill, "title", from: .string(old), to: .string(new))
        try commit(SaveRequest(header: EntryHeader(base: head()), changes: [change]))
    }
}
