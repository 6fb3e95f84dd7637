import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// The descriptions of history, blame, differences, conflicts and previews: names, and no numbers
/// of the model.
@Suite struct DescriptionTests {
    // A time that is not a binary fraction, like most times.
    private static let day = Date(timeIntervalSince1970: 1_000_000_000.996_008)
    private static let time = "2001-09-09T01:46:40.996008Z"

    /// Checks that a description does not reveal the layout of the Swift type.
    private func expectReadable(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for word in [
            "rawValue", "(", "Optional", "nil", "DaybookObjectModel", "DaybookObjectGraph",
        ] {
            #expect(!text.contains(word), "\(text)", sourceLocation: sourceLocation)
        }
    }

    /// Ada gets a new name, leaves her department, and is then deleted.
    private func story() throws -> WhatIf {
        let whatIf = try WhatIf()
        try whatIf.stored { (context) throws in
            let ada = try context.hired(whatIf.ada)
            ada.lastName = "Love\"lace"
            ada.department = nil
            try context.save(author: "dana", note: "Married", at: Self.day)
            context.delete(ada)
            try context.save(author: "erin", at: Self.day)
        }
        return whatIf
    }

    @Test func `a history can be shown as it is, with names and values`() throws {
        let whatIf = try story()

        let history = try whatIf.stored { try $0.history(of: whatIf.ada) }

        let research = whatIf.research.description
        #expect(research == "Department/\(whatIf.research.object.number)")
        #expect(
            history[1].description == """
                updated by entry 3 by 'dana' at \(Self.time): "Married"
                  department: \(research) → none
                  lastName: "Byron" → "Love\\"lace"
                """)
        #expect(
            history[2].description == """
                deleted by entry 4 by 'erin' at \(Self.time)
                  firstName: "Ada"
                  grade: "junior"
                  lastName: "Love\\"lace"
                  salary: 10
                """)
        #expect(history[0].description.hasPrefix("inserted by entry 2 by 'carol' at "))
        #expect(history[0].description.hasSuffix(#"lastName: "Byron"\#n  salary: 10"#))
        expectReadable("\(history)")
    }

    @Test func `blame can be shown as it is, with who wrote and who brought back`() throws {
        let whatIf = try story()
        let container = whatIf.store.container
        try container.undo(SequenceNumber(4), author: "finn", note: "Not yet")

        let origins = try whatIf.stored { try $0.blame(of: whatIf.ada) }
        let name = try #require(origins.first { $0.name == "lastName" }).description
        let members = try whatIf.stored { try $0.blame(of: whatIf.research, property: "employees") }

        #expect(
            name.hasPrefix(
                #"lastName is "Love\"lace", was "Byron": entry 3 by 'dana' at "#
                    + Self.time + #": "Married"; brought back by entry 5 by 'finn' at 2"#))
        #expect(name.hasSuffix(#"Z: "Not yet""#))
        #expect(
            members.description.hasPrefix(
                "employees is \(whatIf.grace), was \(whatIf.ada), \(whatIf.grace): entry 3 "))
        let text = try #require(origins.first { $0.name == "firstName" }).description
        #expect(text.hasPrefix(#"firstName is "Ada": entry 2 by 'carol' at "#))
        expectReadable("\(origins) \(members)")
    }

    @Test func `differences can be shown as they are`() throws {
        let whatIf = try story()

        let differences = try whatIf.store.container.differences(
            from: .sequence(SequenceNumber(2)), to: .sequence(SequenceNumber(3)))
        let back = try whatIf.store.container.differences(
            from: .head, to: .sequence(SequenceNumber(3)))

        #expect(
            "\(differences[0])" == """
                updated \(whatIf.ada)
                  department: \(whatIf.research) → none
                  lastName: "Byron" → "Love\\"lace"
                """)
        #expect("\(back[0])".hasPrefix("inserted \(whatIf.ada)\n  firstName: \"Ada\"\n"))
        expectReadable("\(differences) \(back)")
    }

    @Test func `members that join, leave and move are named`() {
        func id(_ number: UInt64) -> ManagedObjectID {
            ManagedObjectID(
                storeIdentifier: UUID(),
                object: ObjectID(entity: EntityNumber(rawValue: 3), number: number),
                entityName: "Task", isTemporaryID: false)
        }
        let (first, second, third) = (id(1), id(2), id(3))

        let change = PropertyChange(
            name: "tasks", old: .null, new: .null, removed: [first, second], added: [second, third])

        #expect(
            change.description
                == "tasks: without Task/1; with Task/3; in another order: Task/2")
    }

    @Test func `a conflict names object, property and entry, and no value`() throws {
        let whatIf = try WhatIf()
        try whatIf.here { try $0.hired(whatIf.ada).salary = 31 }
        try whatIf.stored { (context) throws in
            try context.hired(whatIf.ada).salary = 47
            try context.save(author: "bob", at: Self.day)
        }

        let preview = try whatIf.here { try $0.previewSave() }
        let refusal = try whatIf.refusal()

        let conflict = try #require(refusal.conflicts.first)
        #expect(
            conflict.description
                == "'salary' of \(whatIf.ada) was changed by both sides; theirs is entry 3 by 'bob' "
                + "at \(Self.time).")
        #expect(conflict.objectName == whatIf.ada.description)
        #expect(refusal.details == [conflict.description])
        #expect(preview.conflicts == refusal.conflicts)
        #expect(preview.description.hasPrefix("The save would be refused. Nothing was saved: "))
        #expect(preview.description.contains("\n  " + conflict.description))
        for text in [conflict.description, preview.description, "\(refusal)"] {
            #expect(!text.contains("31") && !text.contains("47") && !text.contains("10"), "\(text)")
        }
        expectReadable(conflict.description)
        #expect("\(try whatIf.stored { try $0.previewSave() })" == "The save would go through.")
    }

    @Test func `a conflict with a parent has names as well`() throws {
        let whatIf = try WhatIf()
        let parent = whatIf.store.container.newBackgroundContext()
        let child = ManagedObjectContext(parent: parent)
        try child.performAndWait { try child.hired(whatIf.ada).salary = 31 }
        try parent.performAndWait { try parent.hired(whatIf.ada).salary = 47 }

        let (preview, merged) = try child.performAndWait {
            (try child.previewSave(), try child.mergeChanges())
        }

        for conflict in [preview.refusal?.conflicts.first ?? preview.conflicts.first, merged.first]
        {
            #expect(
                try #require(conflict).description
                    == "'salary' of \(whatIf.ada) was changed by both sides.")
        }
    }

    @Test func `a clash of unique values names both objects, and no value`() throws {
        let whatIf = try WhatIf()

        let refusal = try whatIf.stored { (context) throws in
            let other = Department(context: context)
            other.name = "R&D"
            let error = try #require(#expect(throws: StoreError.self) { try context.save() })
            return (error, other.objectID)
        }

        let clash = try #require(refusal.0.constraintConflicts.first)
        #expect(
            clash.description
                == "'name' of \(refusal.1) must be unique, and \(whatIf.research) has the same value."
        )
        #expect(refusal.0.message == "Nothing was saved: " + clash.description)
        expectReadable(clash.description)
    }

    @Test func `a custom policy can show the values to choose from`() throws {
        final class Asking: CustomMergePolicy {
            let shown = Mutex<[String]>([])
            func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
                let texts = conflicts.map(\.description)
                shown.withLock { $0 += texts }
            }
        }
        let whatIf = try WhatIf()
        let policy = Asking()
        let context = whatIf.store.container.newBackgroundContext()
        try context.performAndWait {
            context.customMergePolicy = policy
            let ada = try context.hired(whatIf.ada)
            ada.salary = 31
            ada.department = nil
        }
        try whatIf.stored { (other) throws in
            let ada = try other.hired(whatIf.ada)
            ada.salary = 47
            let sales = Department(context: other)
            sales.name = "Sales"
            ada.department = sales
            try other.save(author: "bob", at: Self.day)
        }

        #expect(throws: StoreError.self) { try context.performAndWait { _ = try context.save() } }

        let text = try #require(policy.shown.withLock { $0.first })
        let end = "; theirs is entry 3 by 'bob' at \(Self.time)"
        let lines = text.split(separator: "\n")
        #expect(lines.first.map(String.init) == whatIf.ada.description)
        #expect(lines.contains("  salary: base 10, theirs 47, ours 31\(end)"), "\(text)")
        #expect(
            lines.contains {
                $0.hasPrefix("  department: base \(whatIf.research), theirs Department/")
                    && $0.hasSuffix(", ours none\(end)")
            }, "\(text)")
    }

    @Test func `what an undo does, would do and leaves out is described by names`() throws {
        let whatIf = try story()
        let container = whatIf.store.container

        let preview = try container.previewUndo(of: SequenceNumber(4)...SequenceNumber(4))
        let outcome = try container.undo(SequenceNumber(4))
        let kept = try container.undo(
            whatIf.then, policy: .overwrite)

        #expect("\(preview)" == "A new entry would take back entry 4: inserted \(whatIf.ada)")
        #expect("\(outcome)" == "Entry 5 takes back entry 4: inserted \(whatIf.ada)")
        #expect("\(kept)".hasPrefix("Entry 6 takes back entry 2: deleted "))
        expectReadable("\(preview) \(outcome)")
    }

    @Test(
        arguments: [
            (.null, "none"), (.bool(true), "true"), (.int(-3), "-3"), (.double(0.5), "0.5"),
            (.string(""), "\"\""),
            (.string("a\nb\u{202E}\u{9B}\"\\"), #""a\nb\u{202E}\u{9B}\"\\""#),
            (.data(Data([1])), "1 byte"), (.data(Data([1, 2])), "2 bytes"),
            (.date(Date(timeIntervalSince1970: 0.5)), "1970-01-01T00:00:00.5Z"),
            (.object(ObjectID(entity: EntityNumber(rawValue: 3), number: 17)), "object 17"),
        ] as [(Value, String)])
    func `a value is shown on one line, and text differs from no value`(value: Value, text: String)
    {
        #expect(value.description == text)
    }
}
