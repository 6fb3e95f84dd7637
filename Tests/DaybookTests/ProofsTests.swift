import Daybook
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// Refusals to sign, prove and verify.
@Suite struct ProofsTests {
    final class Country: ManagedObject {
        @Attribute var name: String = ""
    }

    private let folder: TemporaryDirectory
    private let container: PersistentContainer
    private let store: PersistentStore
    private let key: SigningKey

    /// A store of five entries: the model, and four countries.
    init() throws {
        folder = try TemporaryDirectory()
        container = try PersistentContainer(
            folder.url.appendingPathComponent("proofs.daybook"), model: [Country.self])
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        key = try SigningKey.random(name: "example.org/countries")
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for name in ["France", "Ghana", "Japan", "Malta"] {
                Country(context: context).name = name
                try context.save()
            }
        }
    }

    private func signed(size: UInt64, root: Digest) throws -> SignedNote {
        var note = Checkpoint(origin: key.verifierKey.name, size: size, root: root).note
        try note.sign(with: key)
        return note
    }

    private func refusal(_ body: () throws -> Void) -> ProofError.Code? {
        #expect(throws: ProofError.self) { try body() }?.code
    }

    @Test func `a store is verified against each of its checkpoints`() throws {
        for size in 1...5 {
            let note = try store.checkpoint(signedBy: key, at: SequenceNumber(UInt64(size)))

            let known = try store.verify(against: note, signedBy: key.verifierKey)

            #expect(known.size == UInt64(size))
        }
    }

    @Test func `a store that was cut off or rewritten is not verified`() throws {
        let cutOff = try signed(size: 6, root: Digest.of([1]))
        let rewritten = try signed(size: 5, root: Digest.of([1]))

        for note in [cutOff, rewritten] {
            let code = refusal { try store.verify(against: note, signedBy: key.verifierKey) }
            #expect(code == .mismatch)
            #expect(refusal { _ = try store.proof(of: SequenceNumber(2), in: note) } == .mismatch)
            #expect(refusal { _ = try store.checkpoint(signedBy: key, after: note) } == .mismatch)
        }
    }

    @Test func `a checkpoint by another key is not taken`() throws {
        let other = try SigningKey.random(name: key.verifierKey.name)
        let note = try store.checkpoint(signedBy: key)

        #expect(
            refusal { try store.verify(against: note, signedBy: other.verifierKey) } == .unsigned)
        #expect(refusal { _ = try store.checkpoint(signedBy: other, after: note) } == .unsigned)
    }

    @Test func `no checkpoint is signed behind one that was signed`() throws {
        let newest = try store.checkpoint(signedBy: key)

        let code = refusal {
            _ = try store.checkpoint(signedBy: key, at: SequenceNumber(3), after: newest)
        }

        #expect(code == .mismatch)
    }

    @Test func `an entry that a checkpoint does not count is not proved by it`() throws {
        let note = try store.checkpoint(signedBy: key, at: SequenceNumber(3))

        for number: UInt64 in [0, 4, 5, 99, .max] {
            let error = #expect(throws: StoreError.self) {
                try store.proof(of: SequenceNumber(number), in: note)
            }
            #expect(error?.code == .noSuchEntry, "\(number)")
        }
        for number: UInt64 in 1...3 {
            try store.proof(of: SequenceNumber(number), in: note).verify(with: key.verifierKey)
        }
    }

    @Test func `bytes that were changed are not those of the entry`() throws {
        let note = try store.checkpoint(signedBy: key)
        let proved = try store.proof(of: SequenceNumber(2), in: note)
        var bytes = proved.bytes
        bytes[bytes.count - 1] ^= 1

        let forged = ProvedEntry(bytes: bytes, proof: proved.proof)

        #expect(refusal { try forged.verify(with: key.verifierKey) } == .badProof)
    }

    @Test func `growth is shown forwards only`() throws {
        let notes = try (1...5).map {
            try store.checkpoint(signedBy: key, at: SequenceNumber(UInt64($0)))
        }

        for (index, older) in notes.enumerated() {
            for newer in notes[index...] {
                let growth = try store.consistencyProof(from: older, to: newer)
                let first = try Checkpoint(older.text)
                let second = try Checkpoint(newer.text)
                #expect(growth.leads(from: first.root, to: second.root))
                #expect(!growth.leads(from: first.root, to: Digest.of([1])))
            }
        }
        #expect(
            refusal { _ = try store.consistencyProof(from: notes[4], to: notes[0]) } == .mismatch)
    }

    // MARK: - Automatic checkpoints

    /// Adds the store again with a policy, saves a country for each name, and removes the store.
    private func save(_ names: [String], under policy: CheckpointPolicy) throws {
        let coordinator = container.persistentStoreCoordinator
        var options = PersistentStoreOptions()
        options.checkpoints = policy
        let store = try coordinator.addPersistentStore(at: self.store.url, options: options)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for name in names {
                Country(context: context).name = name
                try context.save()
            }
        }
        try coordinator.remove(store)
    }

    /// Replaces the store by an earlier copy after `body` has changed it.
    private func bringBack(_ body: () throws -> Void) throws {
        let older = folder.url.appendingPathComponent("older.daybook")
        try FileManager.default.copyItem(at: store.url, to: older)
        try body()
        try FileManager.default.removeItem(at: store.url)
        try FileManager.default.moveItem(at: older, to: store.url)
    }

    private func sizes(
        _ results: [Result<SignedNote, any Error>]
    ) throws -> [Result<UInt64, ProofError>] {
        try results.map { result in
            switch result {
            case .success(let note):
                .success(try note.checkpoint(signedBy: key.verifierKey).size)
            case .failure(let error): .failure(try #require(error as? ProofError))
            }
        }
    }

    private func code(_ result: Result<UInt64, ProofError>) -> ProofError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func `a policy signs nothing of an older copy that was put in place of the store`() throws
    {
        let told = Mutex<[Result<SignedNote, any Error>]>([])
        let policy = CheckpointPolicy(every: 1, signedBy: key) { result in
            told.withLock { $0.append(result) }
        }
        try container.persistentStoreCoordinator.remove(store)
        try bringBack { try save(["Nauru"], under: policy) }

        try save(["Oman"], under: policy)
        try save(["Peru"], under: policy)

        let results = try sizes(told.withLock { $0 })
        #expect(results.count == 3)
        #expect(try results.first?.get() == 6)
        #expect(results.dropFirst().allSatisfy { code($0) == .mismatch })
    }

    @Test func `a policy that is given the last checkpoint continues from it after a restart`()
        throws
    {
        let told = Mutex<[Result<SignedNote, any Error>]>([])
        @Sendable func tell(_ result: Result<SignedNote, any Error>) {
            told.withLock { $0.append(result) }
        }
        try container.persistentStoreCoordinator.remove(store)
        let first = CheckpointPolicy(every: 1, signedBy: key, handler: tell)
        try bringBack {
            try save(["Nauru"], under: first)
            let last = try #require(try told.withLock { $0.last }?.get())
            try save(["Oman"], under: .init(every: 1, signedBy: key, after: last, handler: tell))
        }
        let last = try #require(try told.withLock { $0.last }?.get())

        try save(["Peru"], under: .init(every: 1, signedBy: key, after: last, handler: tell))
        let stranger = try SigningKey.random(name: key.verifierKey.name)
        try save(["Qatar"], under: .init(every: 1, signedBy: stranger, after: last, handler: tell))

        let results = try sizes(told.withLock { $0 })
        #expect(try results.prefix(2).map { try $0.get() } == [6, 7])
        #expect(results.dropFirst(2).map(code) == [.mismatch, .unsigned])
    }

    @Test func `a checkpoint policy without an interval stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let key = try SigningKey.random(name: "example.org/countries")
            _ = CheckpointPolicy(every: 0, signedBy: key) { _ in }
        }
    }
}
