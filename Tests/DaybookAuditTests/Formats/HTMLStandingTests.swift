import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// The state of the journal in a report.
@Suite struct HTMLStandingTests {
    private let story: TemporaryStore
    private let key: SigningKey

    init() throws {
        story = try AtlasStory.write()
        key = try SigningKey.random(name: "example.org/atlas")
    }

    private func checkpoint(of store: Store? = nil, at sequence: UInt64 = 7) throws -> String {
        var note = try (store ?? story.store)
            .checkpoint(origin: key.verifierKey.name, at: SequenceNumber(sequence)).note
        try note.sign(with: key)
        return note.description
    }

    private func standing(_ checkpoint: String?, _ key: VerifierKey?) throws -> String {
        var options = AuditOptions()
        options.checkpoint = checkpoint
        options.key = key?.description
        return try Page(of: story.store, options: options).standing
    }

    @Test func `without a checkpoint truncation is not excluded`() throws {
        let text = try standing(nil, nil)

        #expect(text.contains("truncation is not excluded"))
        #expect(text.contains("Only a checkpoint kept elsewhere can show"))
        let last = try story.store.entry(story.store.head())
        #expect(text.contains(last.digest.hexadecimal))
        #expect(text.contains("daybook verify test.daybook --checkpoint FILE --key FILE"))
    }

    @Test(arguments: 1...10)
    func `a checkpoint of any size fits`(size: UInt64) throws {
        let text = try standing(checkpoint(at: size), key.verifierKey)

        #expect(text.contains("None of the first \(size) entries was changed"))
    }

    @Test func `a checkpoint without a key is shown with what it does not prove`() throws {
        let text = try standing(checkpoint(), nil)

        #expect(text.contains("its signature was not checked"))
        #expect(text.contains("None of the first 7 entries was changed or cut off"))
        #expect(text.contains("The 3 entries after them are not covered by it."))
        #expect(text.contains("example.org/atlas, 7 entries"))
        #expect(text.contains("Anyone may have written the checkpoint"))
    }

    @Test func `a checkpoint that the key has signed is verified`() throws {
        let text = try standing(checkpoint(at: 10), key.verifierKey)

        #expect(text.contains("Verified: the journal goes on from the signed checkpoint"))
        #expect(
            text.contains("It covers all entries there are. The signature fits the public key."))
        let id = key.verifierKey.description.split(separator: "+")[1]
        #expect(text.contains("example.org/atlas, key \(id)"))
        #expect(text.contains("\(key.verifierKey)"))
    }

    @Test func `a checkpoint of another journal is not`() throws {
        let other = try TemporaryStore(AtlasStory.model)

        let text = try standing(checkpoint(of: other.store, at: 1), key.verifierKey)

        #expect(text.contains("Not verified"))
        #expect(text.contains("The journal was rewritten: its first 1 entries are not those"))
        #expect(!text.contains("None of the first"))
    }

    @Test func `a journal that was cut off is not`() throws {
        let longer = try AtlasStory.write()
        try longer.store.commit(
            SaveRequest(changes: [
                longer.store.insert(try longer.store.newObject("Union"), ["name": .string("More")])
            ]))

        let text = try standing(checkpoint(of: longer.store, at: 11), key.verifierKey)

        #expect(text.contains("the checkpoint covers 11 entries, and there are 10."))
    }

    @Test func `a checkpoint that somebody else has signed is not`() throws {
        let stranger = try SigningKey.random(name: "example.org/stranger").verifierKey

        let text = try standing(checkpoint(), stranger)

        #expect(text.contains("The note is not signed by &#39;example.org/stranger&#39;."))
    }

    @Test func `what is no checkpoint or key is refused before anything is written`() throws {
        func refusal(_ checkpoint: String?, _ key: String?) -> String? {
            var export = AuditExport(of: AuditReader(story.store))
            export.options.checkpoint = checkpoint
            export.options.key = key
            var isWritten = false
            do {
                try export.write(HTMLFormat()) { _ in isWritten = true }
                return nil
            } catch {
                return isWritten ? "something was written" : "\(error)"
            }
        }
        let checkpoint = try checkpoint()

        #expect(
            refusal("nonsense\n", nil)?.hasPrefix("The checkpoint cannot be used: The note") == true
        )
        #expect(
            refusal(checkpoint, "a+b")?.hasPrefix(
                "The key cannot be used: This is not a verifier key")
                == true)
        #expect(
            refusal(nil, "\(key.verifierKey)")
                == "A key is for a checkpoint: add '--checkpoint FILE'.")
    }
}
