import Daybook
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// The examples of the page on proofs, in order.
@Suite struct ProofsExampleTests {
    final class Country: ManagedObject {
        @Attribute var name: String = ""
    }

    @MainActor @Test func `proofs go as their page says`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("proofs.daybook"), model: [Country.self])
        let context = container.viewContext
        let country = Country(context: context)
        country.name = "Turkey"
        try context.save()

        // example
        let key = try SigningKey.random(name: "example.org/countries")
        let secret = key.secretText  // belongs where the store is not
        let auditorsKey = key.verifierKey  // for everybody who checks
        // end of example

        #expect(try SigningKey(secret).verifierKey == auditorsKey)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)

        // example
        let first = try store.checkpoint(signedBy: key)
        country.name = "Türkiye"
        try context.save()
        let second = try store.checkpoint(signedBy: key, after: first)
        // end of example

        // example
        try store.verify(against: first, signedBy: auditorsKey)
        // end of example

        // example
        let proved = try store.proof(of: store.head(), in: second)
        let proofFile = proved.proof.description  // a .tlog-proof, as other tools read it
        let entryFile = proved.bytes

        // Somebody else, without the store:
        let received = ProvedEntry(bytes: entryFile, proof: try EntryProof(proofFile))
        try received.verify(with: auditorsKey)
        // end of example

        #expect(received == proved)

        // example
        let growth = try store.consistencyProof(from: first, to: second)
        let older = try first.checkpoint(signedBy: auditorsKey)
        let newer = try second.checkpoint(signedBy: auditorsKey)
        let hasOnlyGrown = growth.leads(from: older.root, to: newer.root)
        // end of example

        #expect(hasOnlyGrown)
    }

    @Test func `checkpoints are signed by themselves as the page says`() throws {
        let folder = try TemporaryDirectory()
        let key = try SigningKey.random(name: "example.org/countries")
        let kept = Mutex<[SignedNote]>([])
        @Sendable func send(_ note: SignedNote) { kept.withLock { $0.append(note) } }

        // example
        var options = PersistentStoreOptions()
        options.checkpoints = CheckpointPolicy(every: 2, signedBy: key) { result in
            switch result {
            case .success(let note): send(note)
            case .failure(let error): print("No checkpoint: \(error)")
            }
        }
        // end of example

        let container = try PersistentContainer(
            folder.url.appendingPathComponent("proofs.daybook"), model: [Country.self],
            options: options)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for name in ["France", "Ghana", "Japan", "Malta"] {
                Country(context: context).name = name
                try context.save()
            }
        }
        let coordinator = container.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        try coordinator.remove(store)

        let sizes = try kept.withLock {
            try $0.map { try $0.checkpoint(signedBy: key.verifierKey).size }
        }
        // Entry 1 is the model. What is signed is the newest state, so sizes only grow.
        #expect(!sizes.isEmpty)
        #expect(sizes == sizes.sorted())
        #expect(Set(sizes).count == sizes.count)
        #expect(sizes.allSatisfy { (2...5).contains($0) })

        let lastKept = kept.withLock { $0.last }

        // example
        options.checkpoints = CheckpointPolicy(every: 2, signedBy: key, after: lastKept) { result in
            if case .success(let note) = result { send(note) }
        }
        // end of example

        let again = try coordinator.addPersistentStore(at: store.url, options: options)
        let later = container.newBackgroundContext()
        try later.performAndWait {
            for name in ["Nepal", "Oman"] {
                Country(context: later).name = name
                try later.save()
            }
        }
        try coordinator.remove(again)
        #expect(kept.withLock { $0.count } > sizes.count)
    }
}
