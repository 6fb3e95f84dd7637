import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookSnapshotStore

/// One machine's copy of a shared store, in a folder of its own.
final class SharedNode: Sendable {
    let name: String
    let path: String
    private let server: ScriptedServer
    private let folder: TemporaryDirectory
    private let opened = Mutex<(store: Store?, journal: ScriptedJournal?)>((nil, nil))
    private let script = Mutex(FaultScript())
    private let patience: Duration

    private init(
        _ name: String, _ server: ScriptedServer, patience: Duration = .zero
    ) throws {
        self.name = name
        self.patience = patience
        self.server = server
        folder = try TemporaryDirectory()
        path = folder.path("\(name).daybook")
    }

    /// The first node, whose store becomes the shared one.
    static func first(
        _ name: String, of server: ScriptedServer, model: ManagedObjectModel = .sample
    ) throws -> SharedNode {
        let node = try SharedNode(name, server)
        let version = try ModelVersion(first: model)
        try Store.makeCopy(of: node.link(), at: node.path, version: version, options: .counting())
        return node
    }

    /// A node that begins with what the shared store has, and tries so long to save.
    static func clone(
        _ name: String, of server: ScriptedServer, patience: Duration = .zero
    ) throws -> SharedNode {
        let node = try SharedNode(name, server, patience: patience)
        let store = try Store.clone(from: node.link(), into: node.path, options: .counting())
        node.opened.withLock { $0.store = store }
        return node
    }

    /// How the node reaches the server. Unless it is patient, it does not wait for one that is not there.
    func link() -> SharedLink {
        var link = SharedLink(
            to: "scripted", identify: { [server] in server.identity },
            connect: { [weak self, server, name] _, _ in
                let script = self?.script.withLock(\.self) ?? FaultScript()
                let journal = ScriptedJournal(server, login: name, script: script)
                self?.opened.withLock { $0.journal = journal }
                return journal
            })
        link.saveTimeout = patience
        return link
    }

    func options(linked: Bool = true) -> StoreOptions {
        var options = StoreOptions.counting()
        if linked { options.link = link() }
        return options
    }

    /// The open store; opened if it is not.
    var store: Store {
        get throws {
            if let store = opened.withLock({ $0.store }) { return store }
            let store = try TestStore.open(at: path, options: options())
            opened.withLock { $0.store = store }
            return store
        }
    }

    /// The connection of the open store.
    var journal: ScriptedJournal {
        get throws {
            _ = try store
            guard let journal = opened.withLock({ $0.journal }) else {
                throw StoreError(.unreachable, "The node has not connected.")
            }
            return journal
        }
    }

    /// Closes the file. The next use opens it, with a connection that fails as the script says.
    func close(andReopenWith script: FaultScript = FaultScript()) throws {
        let store = opened.withLock { opened in
            defer { opened = (nil, nil) }
            return opened.store
        }
        try store?.close()
        self.script.withLock { $0 = script }
    }

    // MARK: - Saving

    @discardableResult
    func add(_ title: String) throws -> ObjectID {
        let skill = try store.newObject("Skill")
        try store.commit(SaveRequest(changes: [try store.insert(skill, ["title": .string(title)])]))
        return skill
    }

    /// An entry of somebody else who adds a skill, after an entry of the shared journal.
    static func foreignEntry(_ title: String, after sequence: SequenceNumber) throws -> [UInt8] {
        let schema = Schema(try ModelVersion(first: .sample))
        let entity = try #require(schema.entity(named: "Skill"))
        let object = ObjectID(entity: entity.number, number: 1_000_000 + sequence.rawValue)
        let insert = Change(object: object, kind: .insert(values: [.string(title)], members: []))
        return EntryPayload.bytes(EntryHeader(author: "quick"), [insert])
    }

    /// Sets the title of a skill from what it is now.
    func rename(_ skill: ObjectID, to title: String) throws {
        let store = try store
        let (old, base) = try store.read { snapshot in
            (try snapshot.row(skill)?.values.first ?? .null, snapshot.sequence)
        }
        try store.commit(
            SaveRequest(
                header: EntryHeader(base: base),
                changes: [store.update(skill, "title", from: old, to: .string(title))]))
    }

    /// The titles of all skills, sorted.
    func titles() throws -> [String] {
        try store.world().values.compactMap { state in
            if case .string(let title) = state.values.first { title } else { nil }
        }.sorted()
    }

    /// What the tables of the projection hold, by their names.
    func tables() throws -> [String: Digest] { try store.projectionDigest() }
}

/// The code of the error that a body throws; nil when it throws none.
func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}
