import Daybook
import Foundation
import TestSupport
import Testing

/// The example of the article on merging.
@Suite struct MergingExampleTests {
    final class Page: ManagedObject {
        @Attribute var title: String = ""
        @Attribute var updatedAt: Date?
        @Attribute var views: Int = 0
    }

    // example
    struct NewestPage: CustomMergePolicy {
        func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
            for index in conflicts.indices {
                let (base, theirs) = (conflicts[index].base, conflicts[index].theirs)
                let ours = conflicts[index].ours
                if case .date(let here) = ours["updatedAt"],
                    case .date(let there) = theirs["updatedAt"]
                {
                    conflicts[index].resolve("title", with: here > there ? .ours : .theirs)
                    conflicts[index].resolve("updatedAt", with: here > there ? .ours : .theirs)
                }
                if case .int(let before) = base["views"], case .int(let here) = ours["views"],
                    case .int(let there) = theirs["views"]
                {
                    conflicts[index].resolve("views", with: .value(.int(there + here - before)))
                }
            }
        }
    }
    // end of example

    @Test func `F69 the newest title wins and views add up`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("pages.daybook"), model: [Page.self])
        let context = container.newBackgroundContext()
        let other = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let page = Page(context: context)
            page.updatedAt = Date(timeIntervalSince1970: 100)
            try context.save()
            let id = page.objectID
            try other.performAndWait { () throws in
                let same = try other.existingObject(with: id) as? Page
                same?.title = "Theirs"
                same?.updatedAt = Date(timeIntervalSince1970: 300)
                same?.views = 3
                try other.save()
            }
            page.title = "Ours"
            page.updatedAt = Date(timeIntervalSince1970: 200)
            page.views = 4

            context.customMergePolicy = NewestPage()
            try context.save()

            #expect(page.title == "Theirs")
            #expect(page.views == 7)
        }
    }
}
