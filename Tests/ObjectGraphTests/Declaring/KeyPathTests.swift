import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

class Author: ManagedObject {
    @Attribute var email: String = ""
    @Attribute var pen: String = ""
    @Attribute var age: Int = 0
    @Attribute var isActive: Bool = false
    @Attribute private(set) var note: String = ""
    @Attribute var nickname: String?
    @Attribute var home: Address = Address(city: "")
    @Relationship var publisher: Publisher?
    var cached = ""

    var shout: String { email.uppercased() }
    var label: String { email.isEmpty ? "nobody" : email }
    var full: String { email + pen }
    var grown: Int { max(18, age) }
    var isIdle: Bool { !isActive }
    var calls: String { (nickname ?? "").uppercased() }
    var house: Publisher? { isActive ? publisher : nil }

    func write(_ text: String) { note = text }
}

final class Novelist: Author {
    @Attribute var books: Int = 0
    var motto: String { isActive ? email : pen }
}

final class Publisher: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(inverse: \Author.publisher) var authors: Set<Author>
    var title: String { name.capitalized }
}

struct Address: CodableAttributeValue, Equatable {
    var city: String
    var line: String { city.uppercased() }
}

/// A class whose key paths are made again at each use.
class Crate<Content>: ManagedObject {
    @Attribute var first: Int = 1
    @Attribute var second: Int = 2
    @Attribute var third: String = "3"
    @Transient var fourth: String = "4"
    var total: Int { first + second }
}

final class AppleCrate: Crate<String> {
    @Attribute var apples: Int = 5
}

/// What generic code knows of a class.
protocol Reachable: ManagedObject {
    var email: String { get }
    var shout: String { get }
}

extension Author: Reachable {}

@Suite struct KeyPathTests {
    private static let classes = [Author.self, Novelist.self, Publisher.self]

    private func condition<Value: AttributeValue>(
        _ keyPath: KeyPath<Author, Value>, _ value: Value
    ) -> Condition<Author> {
        keyPath == value
    }

    private func refusal(_ condition: Condition<Author>) throws -> String {
        try ClassStore(Self.classes).inContext { context in
            let error = try #require(throws: QueryError.self) {
                try context.fetch(FetchRequest(where: condition))
            }
            return "\(error)"
        }
    }

    @Test func `a computed property is never taken for the attribute that it reads`() throws {
        let cases: [(Condition<Author>, String)] = [
            (condition(\.shout, "ADA"), "'email'"), (condition(\.label, "nobody"), "'email'"),
            (condition(\.full, "ab"), "'email', 'pen'"), (condition(\.grown, 18), "'age'"),
            (condition(\.isIdle, true), "'isActive'"), (condition(\.calls, "A"), "'nickname'"),
            (condition(\.email.count, 3), "'email'"), (condition(\.home.city, "Rome"), "'home'"),
            (condition(\.home.line, "ROME"), "'home'"),
            (condition(\.publisher?.title, "Ace"), "'publisher', 'name'"),
            (condition(\.house?.name, "Ace"), "'isActive', 'publisher', 'name'"),
        ]
        for (condition, names) in cases {
            let message = try refusal(condition)

            #expect(message.contains("computed property"), "\(message)")
            #expect(message.contains("that reads \(names) "), "\(message)")
            #expect(message.contains("closure"))
            #expect(message.contains("attribute that is set along"))
        }
        #expect(try refusal(\Author.cached == "x").contains("leads to nothing in the model"))
    }

    @Test func `a computed property of a subclass or in an order is refused as well`() throws {
        try ClassStore(Self.classes).inContext { context in
            #expect(throws: QueryError.self) {
                try context.fetch(FetchRequest(where: \Novelist.motto == "x"))
            }
            #expect(throws: QueryError.self) {
                try context.fetch(FetchRequest(where: \Novelist.shout == "X"))
            }
            var request = FetchRequest<Author>()
            request.order = [.ascending(\.shout)]
            #expect(throws: QueryError.self) { try context.fetch(request) }
            let batch = BatchInsertRequest<Author>(0..<1) { _, row in row[\.label] = "X" }
            #expect(throws: StoreError.self) { try context.execute(batch) }
        }
    }

    @Test
    func `declared properties are found through subclasses, relationships and private setters`()
        throws
    {
        try ClassStore(Self.classes).inContext { context in
            let ace = Publisher(context: context)
            ace.name = "Ace"
            let ada = Novelist(context: context)
            ada.email = "ada"
            ada.pen = "AL"
            ada.books = 3
            ada.publisher = ace
            ada.write("good")
            let bob = Author(context: context)
            bob.email = "bob"
            for stage in ["pending", "saved"] {
                func found(_ condition: Condition<Author>) throws -> [String] {
                    try context.fetch(FetchRequest(where: condition)).map(\.email)
                }
                func novels(_ condition: Condition<Novelist>) throws -> [String] {
                    try context.fetch(FetchRequest(where: condition)).map(\.email)
                }
                #expect(try found(\Author.email == "ada") == ["ada"], "\(stage)")
                #expect(try novels(\Novelist.email == "ada") == ["ada"], "\(stage)")
                #expect(try novels(\Novelist.pen == "AL") == ["ada"], "\(stage)")
                #expect(try novels(\Novelist.books > 2) == ["ada"], "\(stage)")
                #expect(try found(\Author.note == "good") == ["ada"], "\(stage)")
                #expect(try found(\Author.nickname == nil).count == 2, "\(stage)")
                #expect(try found(\Author.publisher?.name == "Ace") == ["ada"], "\(stage)")
                #expect(try novels(\Novelist.publisher?.name == "Ace") == ["ada"], "\(stage)")
                #expect(try found(\Author.publisher!.name == "Ace") == ["ada"], "\(stage)")
                #expect(try novels(\Novelist.publisher == ace) == ["ada"], "\(stage)")
                try context.save()
            }
        }
    }

    @Test func `generic code that knows the class asks for the attributes of it`() throws {
        func matches<Kind: Author>(_ kind: Kind.Type, _ context: ManagedObjectContext) throws -> Int
        {
            try context.count(FetchRequest<Kind>(where: \Kind.email == "ada"))
        }
        func isRefused<Kind: Author>(_ kind: Kind.Type, _ context: ManagedObjectContext) -> Bool {
            let request = FetchRequest<Kind>(where: \Kind.shout == "ADA")
            return #expect(throws: QueryError.self) { try context.count(request) } != nil
        }
        try ClassStore(Self.classes).inContext { context in
            Novelist(context: context).email = "ada"
            Author(context: context).email = "ada"
            try context.save()

            #expect(try matches(Author.self, context) == 2)
            #expect(try matches(Novelist.self, context) == 1)
            #expect(isRefused(Author.self, context))
            #expect(isRefused(Novelist.self, context))
        }
    }

    @Test func `what a protocol asks for is refused as a key path and found as text`() throws {
        func refusal<Kind: Reachable>(
            _ kind: Kind.Type, _ keyPath: KeyPath<Kind, String>, _ context: ManagedObjectContext
        ) throws -> String {
            let request = FetchRequest<Kind>(where: keyPath == "ada")
            let error = try #require(throws: QueryError.self) { try context.count(request) }
            return "\(error)"
        }
        func refusals<Kind: Reachable>(
            _ kind: Kind.Type, _ context: ManagedObjectContext
        ) throws -> [String] {
            [try refusal(kind, \Kind.email, context), try refusal(kind, \Kind.shout, context)]
        }
        func count<Kind: Reachable>(_ kind: Kind.Type, _ context: ManagedObjectContext) throws
            -> Int
        {
            try context.count(FetchRequest<Kind>(where: Condition("email == %@", "ada")))
        }
        try ClassStore(Self.classes).inContext { context in
            Novelist(context: context).email = "ada"
            Author(context: context).email = "ada"
            try context.save()

            for message in try refusals(Author.self, context) + refusals(Novelist.self, context) {
                #expect(message.contains("that reads 'email' "), "\(message)")
                #expect(message.contains("that a protocol requires"), "\(message)")
                #expect(message.contains("name it as text"), "\(message)")
            }
            #expect(try count(Author.self, context) == 2)
            #expect(try count(Novelist.self, context) == 1)
        }
    }

    @Test func `a #Predicate with a computed property is evaluated by running it`() throws {
        try ClassStore(Self.classes).inContext { context in
            let ada = Author(context: context)
            ada.email = "ada"
            try context.save()
            let request = FetchRequest<Author>(where: #Predicate { $0.shout == "ADA" })

            #expect(try context.count(request) == 1)
            #expect(try context.explain(request).contains("in memory"))
        }
    }

    @Test func `properties of a generic base class keep their own slots`() throws {
        try ClassStore([AppleCrate.self]).inContext { context in
            let crate = AppleCrate(context: context)
            for round in 0..<1_000 {
                crate.first = round
                crate.second = -round
                crate.third = "\(round)"
                crate.fourth = "t\(round)"
                crate.apples = round + 1
                guard crate.first == round, crate.second == -round, crate.third == "\(round)",
                    crate.fourth == "t\(round)", crate.apples == round + 1
                else {
                    Issue.record("round \(round): \(crate.changedValues())")
                    break
                }
            }
            try context.save()
            context.reset()

            let read = try #require(try context.fetch(FetchRequest<AppleCrate>()).first)
            #expect((0..<1_000).allSatisfy { _ in read.first == 999 && read.second == -999 })
            #expect(read.third == "999")
            #expect(read.apples == 1_000)
        }
    }

    @Test func `key paths of a generic base class find what they name and refuse the rest`() throws
    {
        try ClassStore([AppleCrate.self]).inContext { context in
            let crate = AppleCrate(context: context)
            crate.first = 7
            crate.third = "x"
            try context.save()

            #expect(try context.count(FetchRequest(where: \AppleCrate.first == 7)) == 1)
            #expect(try context.count(FetchRequest(where: \AppleCrate.second == 7)) == 0)
            #expect(try context.count(FetchRequest(where: \AppleCrate.third == "x")) == 1)
            #expect(throws: QueryError.self) {
                try context.count(FetchRequest(where: \AppleCrate.total == 9))
            }
            func generic<Content>(_ type: Crate<Content>.Type) throws -> [Int] {
                var request = FetchRequest<AppleCrate>()
                request.order = [.descending(\.first)]
                return try context.fetch(request).map(\.first)
            }
            #expect(try generic(Crate<String>.self) == [7])
        }
    }

    @Test func `an inverse that is a computed property is refused when the model is built`() throws
    {
        final class Pupil: ManagedObject {
            @Relationship var school: School?
            var academy: School? { school }
        }
        final class School: ManagedObject {
            @Relationship(inverse: \Pupil.academy) var pupils: Set<Pupil>
        }
        let error = try #require(
            throws: ModelError.self,
            performing: { try ClassStore([Pupil.self, School.self]) })

        #expect(error.description.contains("The inverse of 'School.pupils' is not a relationship"))
    }

    @Test func `a relationship that is its own inverse is named as text and holds on both sides`()
        throws
    {
        final class Neighbour: ManagedObject {
            @Attribute var name: String = ""
            @Relationship(inverseName: "neighbours") var neighbours: Set<Neighbour>
        }
        try ClassStore([Neighbour.self]).inContext { context in
            let one = Neighbour(context: context)
            let other = Neighbour(context: context)
            one.neighbours = [other]

            #expect(other.neighbours == [one])
            try context.save()
            other.neighbours = []
            #expect(one.neighbours.isEmpty)
        }
    }

    @Test func `sorting by a path through a to-many relationship is refused`() throws {
        try ClassStore(Self.classes).inContext { context in
            for name in ["authors.email", "authors"] {
                var request = FetchRequest<Publisher>()
                request.order = [.ascending(name)]
                let error = try #require(throws: QueryError.self) { try context.fetch(request) }
                #expect("\(error)".contains("'authors', which leads to many objects"))
            }
            var request = FetchRequest<Author>()
            request.order = [.descending("publisher.authors.age")]
            #expect(throws: QueryError.self) { try context.fetch(request) }
            request.order = [.ascending("publisher.name"), .ascending(\.publisher?.name)]
            #expect(try context.fetch(request).isEmpty)
        }
    }

    @Test func `a request that names no entity says to name it`() throws {
        try ClassStore(Self.classes).inContext { context in
            let error = try #require(throws: QueryError.self) {
                try context.count(FetchRequest(where: Condition("level == 7")))
            }

            #expect("\(error)".contains("does not say which entity"))
            #expect("\(error)".contains("FetchRequest<Person>(where: …)"))
        }
    }
}
