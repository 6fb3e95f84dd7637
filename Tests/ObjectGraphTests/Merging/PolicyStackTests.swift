import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

private final class User: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var isLeaving: Bool = false
    @Relationship(.cascade, inverse: \Post.user) var posts: Set<Post>
}

private final class Post: ManagedObject {
    @Attribute var title: String = ""
    @Relationship var user: User?
}

/// A store with one user who has two posts.
private final class Blog {
    let folder: TemporaryDirectory
    let container: PersistentContainer
    let user: ManagedObjectID

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("blog.daybook"), model: [User.self, Post.self])
        let context = container.newBackgroundContext()
        user = try context.performAndWait { () throws in
            let user = User(context: context)
            user.name = "ada"
            for title in ["One", "Two"] {
                let post = Post(context: context)
                post.title = title
                post.user = user
            }
            try context.save()
            return user.objectID
        }
    }

    func context(_ policy: MergePolicy) -> ManagedObjectContext {
        let context = container.newBackgroundContext()
        context.mergePolicy = policy
        return context
    }

    /// The titles of all posts, whether each has an existing user, and the number of users.
    func record() throws -> Record {
        let context = container.newBackgroundContext()
        return try context.performAndWait { () throws in
            let posts = try context.fetch(FetchRequest<Post>())
            return Record(
                users: try context.count(FetchRequest<User>()), titles: posts.map(\.title).sorted(),
                orphans: posts.count { $0.user == nil })
        }
    }

    struct Record: Equatable {
        var users: Int
        var titles: [String]
        var orphans = 0
    }
}

/// The result of one of two sides' saves.
private enum Ending: Equatable {
    case saved
    case refused(StoreError.Code)

    init(_ save: () throws -> SequenceNumber?) throws {
        do {
            _ = try save()
            self = .saved
        } catch let error as StoreError {
            self = .refused(error.code)
        }
    }
}

/// The worked examples of sibling contexts.
@Suite struct PolicyStackTests {
    static let trumps: [MergePolicy] = [.mergeByPropertyObjectTrump, .overwrite]
    static let yields: [MergePolicy] = [.mergeByPropertyStoreTrump, .rollback]

    // MARK: - WE7

    @Test func `S100 WE7 main yields to the import in what both edit and keeps its own besides`()
        throws
    {
        let rivals = try Rivals(.mergeByPropertyObjectTrump)
        let (main, other) = (rivals.first, rivals.second)
        main.performAndWait {
            main.mergePolicy = .mergeByPropertyStoreTrump
            rivals.theirs.lastName = "FromMain"
            rivals.theirs.firstName = "Main"
        }

        try other.performAndWait { () throws in
            rivals.ours.lastName = "FromImport"
            rivals.ours.salary = 50
            try other.save()
        }
        try main.performAndWait { _ = try main.save() }

        #expect(try rivals.record() == Pay(name: "FromImport", salary: 50))
        #expect(try rivals.stored(\.firstName) == "Main")
        main.performAndWait {
            #expect(rivals.theirs.lastName == "FromImport")
            #expect(rivals.theirs.firstName == "Main")
            #expect(rivals.theirs.salary == 50)
        }
    }

    @Test func `S100 WE7 an import that saves last wins over the store`() throws {
        let rivals = try Rivals(.mergeByPropertyObjectTrump)
        let (main, other) = (rivals.first, rivals.second)
        other.performAndWait { rivals.ours.lastName = "FromImport" }

        try main.performAndWait { () throws in
            main.mergePolicy = .mergeByPropertyStoreTrump
            rivals.theirs.lastName = "FromMain"
            rivals.theirs.firstName = "Main"
            try main.save()
        }
        try other.performAndWait { _ = try other.save() }
        try main.performAndWait { _ = try main.mergeChanges() }

        #expect(try rivals.record()?.name == "FromImport")
        #expect(try rivals.stored(\.firstName) == "Main")
        main.performAndWait { #expect(rivals.theirs.lastName == "FromImport") }
    }

    // MARK: - WE8

    /// Operation A deletes the department that operation B, in its own context, gives an employee.
    private func runOperations(
        _ policy: MergePolicy, deletesFirst: Bool
    ) throws -> (a: Ending, b: Ending, departments: Int, employees: Int, assigned: Int) {
        let store = try StaffStore()
        let contexts = [store.context("A"), store.context("B")]
        let (contextA, contextB) = (contexts[0], contexts[1])
        for context in contexts { context.mergePolicy = policy }
        let ids = try contextA.performAndWait { () throws in
            let department = Department(context: contextA)
            department.name = "Research"
            let employee = Employee(context: contextA)
            try contextA.save()
            return (department.objectID, employee.objectID)
        }
        let department = try contextA.performAndWait { try contextA.existingObject(with: ids.0) }
        let employee = try contextB.performAndWait { () throws in
            let employee = try contextB.existingObject(with: ids.1) as? Employee
            employee?.department = try contextB.existingObject(with: ids.0) as? Department
            return employee
        }
        contextA.performAndWait { contextA.delete(department) }
        func save(_ context: ManagedObjectContext) throws -> Ending {
            try Ending { try context.performAndWait { try context.save() } }
        }
        let endings: (a: Ending, b: Ending)
        if deletesFirst {
            let first = try save(contextA)
            endings = (first, try save(contextB))
        } else {
            let first = try save(contextB)
            endings = (try save(contextA), first)
        }
        for context in contexts {
            try context.performAndWait { () throws in
                context.rollback()
                _ = try context.mergeChanges()
            }
        }
        let found = try store.inContext { context in
            (
                try context.count(FetchRequest<Department>()),
                try context.fetch(FetchRequest<Employee>())
                    .map { $0.department != nil }
            )
        }
        contextB.performAndWait {
            #expect((employee?.department != nil) == found.1.contains(true))
        }
        contextA.performAndWait {
            #expect((department.managedObjectContext == nil) == (found.0 == 0))
        }
        return (
            endings.a, endings.b, found.0, found.1.count, found.1.count { $0 }
        )
    }

    @Test func `S104 WE8 without a policy the second of the two operations is refused`() throws {
        let deleted = try runOperations(.error, deletesFirst: true)
        let assigned = try runOperations(.error, deletesFirst: false)

        #expect(deleted == (.saved, .refused(.conflict), 0, 1, 0))
        #expect(assigned == (.refused(.conflict), .saved, 1, 1, 1))
    }

    @Test(arguments: yields)
    func `S104 WE8 if the store wins, the first of the two operations stands`(
        policy: MergePolicy
    ) throws {
        let deleted = try runOperations(policy, deletesFirst: true)
        let assigned = try runOperations(policy, deletesFirst: false)

        #expect(deleted == (.saved, .saved, 0, 1, 0))
        // A reference to the object cannot be dropped on behalf of the side that made it.
        #expect(assigned == (.refused(.conflict), .saved, 1, 1, 1))
    }

    @Test(arguments: trumps)
    func `S104 WE8 if the context wins, the delete stands and the reference goes`(
        policy: MergePolicy
    ) throws {
        let deleted = try runOperations(policy, deletesFirst: true)
        let assigned = try runOperations(policy, deletesFirst: false)

        #expect(deleted == (.saved, .saved, 0, 1, 0))
        #expect(assigned == (.saved, .saved, 0, 1, 0))
    }

    @Test func `S105 both operations in one context one after the other do not collide`() throws {
        let store = try StaffStore()
        let context = store.context()
        try context.performAndWait { () throws in
            let department = Department(context: context)
            let employee = Employee(context: context)
            try context.save()
            employee.department = department
            try context.save()
            context.delete(department)
            #expect(throws: Never.self) { try context.save() }
            #expect(employee.department == nil)
            #expect(!employee.isDeleted)
        }
    }

    // MARK: - WE9

    /// The background renames all posts and adds one while main deletes the user, posts included.
    private func runLogout(
        _ policy: MergePolicy, deletesFirst: Bool
    ) throws -> (update: Ending, logout: Ending, record: Blog.Record) {
        let blog = try Blog()
        let (main, background) = (blog.context(policy), blog.context(policy))
        let user = try main.performAndWait { try main.existingObject(with: blog.user) }
        let posts = try background.performAndWait { () throws in
            let posts = try background.fetch(FetchRequest<Post>())
            for post in posts { post.title += " updated" }
            let post = Post(context: background)
            post.title = "Three"
            post.user = try background.existingObject(with: blog.user) as? User
            return posts + [post]
        }
        main.performAndWait { main.delete(user) }
        func save(_ context: ManagedObjectContext) throws -> Ending {
            try Ending { try context.performAndWait { try context.save() } }
        }
        let endings: (update: Ending, logout: Ending)
        if deletesFirst {
            let logout = try save(main)
            endings = (try save(background), logout)
        } else {
            let update = try save(background)
            endings = (update, try save(main))
        }
        for context in [main, background] {
            try context.performAndWait { () throws in
                context.rollback()
                _ = try context.mergeChanges()
            }
        }
        let record = try blog.record()
        main.performAndWait { #expect((user.managedObjectContext == nil) == (record.users == 0)) }
        background.performAndWait {
            let titles = posts.filter { !$0.isDeleted && $0.managedObjectContext != nil }
                .map(\.title)
            #expect(titles.sorted() == record.titles)
        }
        return (endings.update, endings.logout, record)
    }

    @Test func `S106 WE9 without a policy the second of update and logout is refused`() throws {
        let deleted = try runLogout(.error, deletesFirst: true)
        let updated = try runLogout(.error, deletesFirst: false)

        #expect(deleted == (.refused(.conflict), .saved, Blog.Record(users: 0, titles: [])))
        #expect(
            updated
                == (
                    .saved, .refused(.conflict),
                    Blog.Record(users: 1, titles: ["One updated", "Three", "Two updated"])
                ))
    }

    @Test(arguments: trumps)
    func `S106 WE9 where the context wins an update brings posts back without their user`(
        policy: MergePolicy
    ) throws {
        let deleted = try runLogout(policy, deletesFirst: true)
        let updated = try runLogout(policy, deletesFirst: false)

        #expect(
            deleted
                == (
                    .saved, .saved,
                    Blog.Record(
                        users: 0, titles: ["One updated", "Three", "Two updated"], orphans: 3)
                ))
        #expect(
            updated
                == (.saved, .saved, Blog.Record(users: 0, titles: ["Three"], orphans: 1)))
    }

    @Test(arguments: yields)
    func `S106 WE9 if the store wins, a logout stands and only a new post is left`(
        policy: MergePolicy
    ) throws {
        let deleted = try runLogout(policy, deletesFirst: true)
        let updated = try runLogout(policy, deletesFirst: false)

        #expect(
            deleted
                == (.saved, .saved, Blog.Record(users: 0, titles: ["Three"], orphans: 1)))
        #expect(
            updated
                == (
                    .saved, .refused(.conflict),
                    Blog.Record(users: 1, titles: ["One updated", "Three", "Two updated"])
                ))
    }

    // MARK: - WE10

    @Test(arguments: MergePolicy.allCases, [true, false])
    func `S107 WE10 a user marked as leaving and deleted later collides with nothing`(
        policy: MergePolicy, marksFirst: Bool
    ) throws {
        let blog = try Blog()
        let (main, background) = (blog.context(policy), blog.context(policy))
        try background.performAndWait { () throws in
            for post in try background.fetch(FetchRequest<Post>()) { post.title += " updated" }
            let post = Post(context: background)
            post.title = "Three"
            post.user = try background.existingObject(with: blog.user) as? User
        }
        func mark() throws {
            try main.performAndWait { () throws in
                let user = try main.existingObject(with: blog.user) as? User
                user?.isLeaving = true
                try main.save()
            }
        }
        func update() throws {
            try background.performAndWait { _ = try background.save() }
        }
        if marksFirst {
            try mark()
            try update()
        } else {
            try update()
            try mark()
        }
        #expect(
            try blog.record()
                == Blog.Record(users: 1, titles: ["One updated", "Three", "Two updated"]))

        try main.performAndWait { () throws in
            _ = try main.mergeChanges()
            for user in try main.fetch(FetchRequest<User>(where: \User.isLeaving == true)) {
                main.delete(user)
            }
            try main.save()
        }

        #expect(try blog.record() == Blog.Record(users: 0, titles: []))
        try background.performAndWait { () throws in
            _ = try background.mergeChanges()
            #expect(try background.count(FetchRequest<Post>()) == 0)
            #expect(!background.hasChanges)
        }
    }
}
