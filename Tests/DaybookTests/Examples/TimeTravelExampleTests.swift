import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on time travel, in order.
@Suite struct TimeTravelExampleTests {
    final class Country: ManagedObject {
        @Attribute(.unique) var alpha2: String
        @Attribute var name: String = ""
        @Attribute var flag: String?
    }

    @MainActor @Test func `time travel goes as its page says`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("travel.daybook"), model: [Country.self])
        let context = container.viewContext
        let turkey = Country(context: context)
        turkey.alpha2 = "TR"
        turkey.name = "Turkey"
        let newYear = Date(timeIntervalSince1970: 4e9)
        try context.save(author: "registry", at: newYear)
        turkey.name = "Türkiye"
        try context.save(
            author: "editor", note: "Newsletter VI-8", at: Date(timeIntervalSince1970: 4e9 + 1))
        let id = turkey.objectID

        // example
        let past = try container.context(at: .date(newYear))
        let oldName = try past.performAndWait {
            try past.fetch(FetchRequest<Country>(where: \Country.alpha2 == "TR")).first?.name
        }
        // end of example

        #expect(oldName == "Turkey")

        // example
        try container.setTag("audited", at: .date(newYear), author: "ann", note: "Annual accounts")
        let audited = try container.context(at: .tag("audited"))
        // end of example

        let auditedName = try audited.performAndWait {
            (try audited.existingObject(with: id) as? Country)?.name
        }
        #expect(auditedName == "Turkey")

        // example
        let origin = try context.blame(of: turkey, \.name)
        let author = origin.author  // and why: origin.note, when: origin.time
        let before = origin.previous
        // end of example

        #expect(author == "editor")
        #expect(origin.note == "Newsletter VI-8")
        #expect(before == .string("Turkey"))

        // example
        let history = try context.history(of: turkey.objectID)
        let namings = history.filter { $0.changes.contains { $0.name == "name" } }
        // end of example

        #expect(history.map(\.kind) == [.inserted, .updated])
        #expect(namings == history)

        // example
        let differences = try container.differences(from: .tag("audited"), to: .head)
        let updated = differences.filter { $0.kind == .updated }.map(\.objectID)
        // end of example

        #expect(updated == [id])

        // example
        let entry = try container.firstEntry { past in
            try past.count(FetchRequest<Country>(where: \Country.name == "Türkiye")) > 0
        }
        // end of example

        #expect(entry == origin.sequence)

        // example
        let whatIf = try container.speculativeContext(at: .tag("audited"))
        try whatIf.performAndWait {
            let country = try whatIf.existingObject(with: id) as? Country
            country?.flag = "🇹🇷"
            let preview = try whatIf.previewSave()
            if preview.conflicts.isEmpty {
                try whatIf.save(author: "ann", note: "Had it had a flag")  // merges it forward
            } else {
                whatIf.rollback()  // discards it; the context stays in the past
            }
        }
        // end of example

        _ = try context.mergeChanges()
        #expect(turkey.flag == "🇹🇷")
        #expect(turkey.name == "Türkiye")

        // example
        context.delete(turkey)
        if let deletion = try context.save(author: "intern") {
            try container.undo(deletion, author: "keeper", note: "Still there")
        }
        let kept = try context.blame(of: id, property: "name")
        let writer = kept.author  // the editor, as before
        let rescuer = kept.broughtBackBy?.author  // the keeper
        // end of example

        #expect(writer == "editor")
        #expect(rescuer == "keeper")
        #expect(kept.note == "Newsletter VI-8")
        #expect(kept.broughtBackBy?.note == "Still there")
    }
}
