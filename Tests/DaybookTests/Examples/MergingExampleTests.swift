import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The example of the article on merging.
@Suite struct MergingExampleTests {
    final class Page: ManagedObject {
        @Attribute var title: String = ""
        @Attribute var updatedAt: Date?
    }

    // example
    struct NewestPage: CustomMergePolicy {
        func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
            for index in conflicts.indices {
                let (ours, theirs) = (conflicts[index].ours, conflicts[index].theirs)
                if case .date(let here) = ours["updatedAt"],
                    case .date(let there) = theirs["updatedAt"]
                {
                    conflicts[index].resolve("title", with: here > there ? .ours : .theirs)
                    conflicts[index].resolve("updatedAt", with: here > there ? .ours : .theirs)
                }
            }
        }
    }
    // end of example

    @Test func `F69 the newest title wins`() throws {
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
                try other.save()
            }
            page.title = "Ours"
            page.updatedAt = Date(timeIntervalSince1970: 200)

            context.customMergePolicy = NewestPage()
            try context.save()

            #expect(page.title == "Theirs")
        }
    }

    @Test func `F69 a merge returns its conflicts, and the pending value stays`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("pages.daybook"), model: [Page.self])
        let context = container.newBackgroundContext()
        let other = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let page = Page(context: context)
            try context.save()
            let id = page.objectID
            try other.performAndWait { () throws in
                (try other.existingObject(with: id) as? Page)?.title = "Theirs"
                try other.save()
            }
            page.title = "Ours"

            // example
            let conflicts = try context.mergeChanges()
            if conflicts.isEmpty { try context.save() }
            // end of example

            #expect(conflicts.map(\.theirs) == [.string("Theirs")])
            #expect(page.title == "Ours")
            #expect(context.hasChanges)
        }
    }

    // example
    final class Article: ManagedObject {
        @Attribute var title: String = ""
        @Attribute(merge: .sum) var views: Int = 0
        @Attribute(merge: .maximum) var longestVisit: Double = 0
        @Attribute(merge: .union) var tags: Set<String> = []
        @Attribute(merge: .text) var text: String = ""
    }
    // end of example

    @Test func `what two contexts have made of an article merges`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("articles.daybook"), model: [Article.self])
        let context = container.newBackgroundContext()
        let other = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let article = Article(context: context)
            article.text = "Ada was born in London. She died in Paris."
            try context.save()
            let id = article.objectID
            try other.performAndWait { () throws in
                let same = try #require(try other.existingObject(with: id) as? Article)
                same.views += 1
                same.longestVisit = 12.5
                same.tags.insert("people")
                same.text = "Ada was born in London. She died in London."
                try other.save()
            }
            article.views += 1
            article.longestVisit = 7
            article.tags.insert("history")
            article.text = "Ada Lovelace was born in London. She died in Paris."

            try context.save()

            #expect(article.views == 2)
            #expect(article.longestVisit == 12.5)
            #expect(article.tags == ["people", "history"])
            #expect(article.text == "Ada Lovelace was born in London. She died in London.")
            #expect(context.mergedValues.count == 4)
        }
    }

    final class Account: ManagedObject {
        @Attribute var available: Int = 0
    }

    enum Refusal: Error {
        case insufficientFunds
    }

    // example
    func withdraw(_ amount: Int, from id: ManagedObjectID, by teller: ManagedObjectContext) throws {
        try teller.update(author: "teller") {
            guard let account = try teller.existingObject(with: id) as? Account,
                account.available >= amount
            else { throw Refusal.insufficientFunds }
            account.available -= amount
        }
    }
    // end of example

    @Test func `two tellers never pay out what is there once`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("accounts.daybook"), model: [Account.self])
        let tellers = [container.newBackgroundContext(), container.newBackgroundContext()]
        let id = try tellers[0].performAndWait { () throws in
            let account = Account(context: tellers[0])
            account.available = 100
            try tellers[0].save()
            return account.objectID
        }

        // Both have read 100 before either pays.
        for teller in tellers {
            let seen = teller.performAndWait { (teller.object(with: id) as? Account)?.available }
            #expect(seen == 100)
        }
        try tellers[0].performAndWait { try withdraw(60, from: id, by: tellers[0]) }
        let refusal = tellers[1].performAndWait {
            #expect(throws: Refusal.self) { try withdraw(60, from: id, by: tellers[1]) }
        }
        #expect(refusal == .insufficientFunds)
        try tellers[1].performAndWait { try withdraw(40, from: id, by: tellers[1]) }

        let reader = container.newBackgroundContext()
        #expect(reader.performAndWait { (reader.object(with: id) as? Account)?.available } == 0)
    }
}
