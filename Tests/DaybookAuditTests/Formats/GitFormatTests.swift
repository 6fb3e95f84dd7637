import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The stream for git fast-import, read by its rules.
@Suite struct GitFormatTests {
    @Test(.ownStores("The server's clock is read more often."))
    func `an export is the same as ever`() throws {
        let story = try AtlasStory.write()

        let bytes = try Exporting.bytes(of: story.store, as: "git")

        try Fixture.expect(Data(bytes), equals: "exports/atlas.git-fast-import")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a file holds what its object was`(seed: UInt64) throws {
        let temporary = try RandomValues.write(seed: seed, entries: 40)
        let store = temporary.store

        let commits = try Self.commits(of: store)

        #expect(UInt64(commits.count) == (try store.head()).rawValue)
        var fileCount = 0
        for (index, commit) in commits.enumerated() {
            for (path, content) in commit.files where path != "model.json" {
                let object = try #require(store.schema.object(named: String(path.dropLast(5))))
                let expected = try StateJSON.members(
                    of: object, at: SequenceNumber(UInt64(index + 1)), in: store)
                guard case .object(let members) = try JSONValue(parsing: content) else {
                    Issue.record("\(path) is no object")
                    continue
                }
                let found = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
                #expect(found == expected, "\(path), seed \(seed)")
                let lines = content.split(separator: 0x0a)
                #expect(lines.count == members.count + 2, "a property on each line, seed \(seed)")
                fileCount += 1
            }
        }
        #expect(fileCount > 30, "seed \(seed)")
    }

    @Test func `a delete removes the file`() throws {
        let story = try AtlasStory.write()

        let commits = try Self.commits(of: story.store)

        #expect(commits[4].deletes == ["Country/3.json", "Subdivision/6.json"])
        #expect(commits[4].files.isEmpty)
    }

    @Test func `a note is the message, and without one the changes are`() throws {
        let story = try AtlasStory.write()

        let commits = try Self.commits(of: story.store)

        #expect(commits[0].message.hasPrefix("Set the model\n\nDaybook-Entry: 1\n"))
        #expect(
            commits[3].message.hasPrefix(
                "A name that was missing\n\nThe department, not the metropolis.\n\n"
                    + "Daybook-Entry: 4\n"))
        #expect(commits[2].message.hasPrefix("Insert 3 objects\n\n"))
        #expect(commits[6].message.hasPrefix("Insert Union/7\n\n"))
        #expect(commits[9].message.contains("\nDaybook-Kind: undo\nDaybook-Undoes: 9\n"))
        #expect(commits[2].message.contains("\nDaybook-Context: import\n"))
    }

    @Test(arguments: [
        ("Ada", "Ada <>", false),
        ("Ada Lovelace <ada@example.org>", "Ada Lovelace <ada@example.org>", false),
        ("a<b>c\nd\u{0}", "abc d <>", true),
        ("<>", "unknown <>", true),
        ("", "unknown <>", true),
        ("unknown", "unknown <>", true),
        ("unknown <>", "unknown <>", true),
        ("Ada <>", "Ada <>", true),
        ("\u{202E}adA\u{202C}", "adA <>", true),
    ])
    func `an author is made safe and told in full`(
        author: String, expected: String, isTold: Bool
    ) throws {
        let commit = try Self.commit(EntryHeader(author: author))

        #expect(commit.author == "\(expected) 1700000000 +0000")
        #expect(commit.message.contains("\nDaybook-Author: ") == isTold)
    }

    @Test func `nobody is unknown`() throws {
        let commit = try Self.commit(EntryHeader())

        #expect(commit.author == "unknown <> 1700000000 +0000")
        #expect(!commit.message.contains("Daybook-Author"))
    }

    @Test func `a time that git cannot have stands in the trailer`() throws {
        let commit = try Self.commit(EntryHeader(occurredAt: -1_500_000))

        #expect(commit.author == "unknown <> 0 +0000")
        #expect(commit.message.contains("\nDaybook-Time: 1969-12-31T23:59:58.5Z\n"))
    }

    @Test func `a note of nothing but spaces or with a null leaves a message that git takes`()
        throws
    {
        let blank = try Self.commit(EntryHeader(note: " \n\t"))
        let null = try Self.commit(EntryHeader(note: "a\u{0}b\n\n\n"))

        #expect(blank.message.hasPrefix("Insert Person/1\n\n"))
        #expect(null.message.hasPrefix("a\u{FFFD}b\n\nDaybook-Entry"))
    }

    @Test func `an export that is resumed goes on from the branch`() throws {
        let story = try AtlasStory.write()
        let format = try #require(AuditFormats.format(named: "git"))
        var export = AuditExport(of: AuditReader(story.store))
        export.resumesAfter = SequenceNumber(8)
        var bytes: [UInt8] = []

        try export.write(format) { bytes += $0 }

        let commits = try Self.commits(in: bytes)
        #expect(commits.map(\.from) == ["refs/heads/main^0", nil])
        let whole = try Self.commits(of: story.store)
        #expect(whole.allSatisfy { $0.from == nil })
        #expect(commits.map(\.message) == whole.suffix(2).map(\.message))
    }

    @Test(arguments: 201...206 as ClosedRange<UInt64>)
    func `every commit is the store as it was, in the words of then`(seed: UInt64) throws {
        let history = try EvolvingHistory(seed: seed)
        for _ in 1...6 {
            for _ in 1...3 { _ = try history.save(by: history.versions.count - 1) }
            _ = try history.migrate()
        }
        let store = history.store

        let commits = try Self.commits(
            in: try Exporting.bytes(of: store, as: "git", confidentiality: .none))

        var tree: [String: [UInt8]] = [:]
        for (index, commit) in commits.enumerated() {
            if commit.isAnew { tree = [:] }
            for path in commit.deletes { tree[path] = nil }
            tree.merge(commit.files.map { ($0.path, $0.content) }) { $1 }
            let sequence = SequenceNumber(UInt64(index + 1))
            let files = try tree.filter { $0.key != "model.json" }.mapValues { bytes in
                try JSONValue(parsing: bytes)
            }
            #expect(
                try files == Self.files(at: sequence, of: store), "entry \(sequence), seed \(seed)")
        }
        #expect(UInt64(commits.count) == (try store.head()).rawValue)
        #expect(history.versions.count > 1, "seed \(seed)")
    }

    /// What there was after an entry, in the words of then.
    private static func files(
        at sequence: SequenceNumber, of store: Store
    ) throws -> [String: JSONValue] {
        let then = try store.withModel(at: sequence)
        var objects: [ObjectID] = []
        try then.read(at: sequence) { snapshot in
            try snapshot.objects(of: then.schema.entities.map(\.number)) { object in
                objects.append(object)
                return .proceed
            }
        }
        var files: [String: JSONValue] = [:]
        for object in objects {
            let members = try StateJSON.members(of: object, at: sequence, in: then)
            let order = then.schema.entity(object.entity)?.properties.map(\.name) ?? []
            files[then.schema.name(of: object) + ".json"] = .object(
                order.compactMap { name in members[name].map { JSONMember(name, $0) } }
            )
        }
        return files
    }

    // MARK: - Reading

    private struct Commit {
        var author = ""
        /// Whether all earlier files are gone.
        var isAnew = false
        var message = ""
        var from: String?
        var files: [(path: String, content: [UInt8])] = []
        var deletes: [String] = []
    }

    /// The only commit after the model of an entry with this header.
    private static func commit(_ header: EntryHeader) throws -> Commit {
        var options = StoreOptions.counting()
        options.clock = { 1_700_000_000_000_000 }
        let temporary = try TemporaryStore(options: options)
        let store = temporary.store
        var header = header
        header.base = try store.head()
        let person = try store.newObject("Person")
        _ = try store.commit(SaveRequest(header: header, changes: [store.insert(person, [:])]))
        return try #require(try commits(of: store).last)
    }

    private static func commits(of store: Store) throws -> [Commit] {
        try commits(in: try Exporting.bytes(of: store, as: "git"))
    }

    private static func commits(in bytes: [UInt8]) throws -> [Commit] {
        var rest = bytes[...]
        func line() throws -> String {
            let end = try #require(rest.firstIndex(of: 0x0a))
            defer { rest = rest[(end + 1)...] }
            return String(decoding: rest[..<end], as: UTF8.self)
        }
        func data() throws -> [UInt8] {
            let head = try line()
            let count = try #require(Int(head.dropFirst("data ".count)))
            defer { rest = rest.dropFirst(count + 1) }
            try #require(rest.count > count && rest[rest.startIndex + count] == 0x0a)
            return Array(rest.prefix(count))
        }
        #expect(try line() == "feature done")
        var commits: [Commit] = []
        while true {
            let command = try line()
            let words = command.split(separator: " ", maxSplits: 1).map(String.init)
            switch words[0] {
            case "done":
                #expect(rest.isEmpty)
                return commits
            case "commit":
                var commit = Commit()
                commit.author = String(try line().dropFirst("author ".count))
                #expect(try line().hasPrefix("committer daybook <> "))
                commit.message = String(decoding: try data(), as: UTF8.self)
                commits.append(commit)
            case "from": commits[commits.count - 1].from = words[1]
            case "M":
                let path = try #require(command.split(separator: " ").last)
                commits[commits.count - 1].files.append((String(path), try data()))
            case "deleteall": commits[commits.count - 1].isAnew = true
            case "D": commits[commits.count - 1].deletes.append(words[1])
            default: Issue.record("'\(command)' is no command.")
            }
        }
    }
}
