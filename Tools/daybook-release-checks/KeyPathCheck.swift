import Daybook

/// Properties of the same type, whose getters the optimizer may find to be the same code, and computed ones
/// that do nothing but read one of them.
class Person: ManagedObject {
    @Attribute var first: String = ""
    @Attribute var second: String = ""
    @Attribute var third: String?
    @Attribute var height: Int = 0
    @Attribute var weight: Int = 0
    @Relationship var boss: Person?
    @Relationship(inverse: \Person.boss) var staff: Set<Person>

    var alias: String { first }
    var other: String { second }
    var mass: Int { weight }
    var shout: String { first.uppercased() }
    var chief: Person? { boss }
}

final class Pupil: Person {
    @Attribute var school: String = ""
    var place: String { school }
}

/// A class whose key paths are made when they are used.
class Box<Content>: ManagedObject {
    @Attribute var label: String = ""
    @Attribute var note: String = ""
    var tag: String { label }
}

final class Parcel: Box<Int> {
    @Attribute var sender: String = ""
}

enum KeyPathCheck {
    static func run() throws {
        try withContainer([Person.self, Pupil.self, Parcel.self]) { container in
            let context = container.newBackgroundContext()
            try context.performAndWait {
                fill(context)
                try context.save()
                try checkStored(context)
                try checkInherited(context)
                try checkGeneric(context)
                try checkComputed(context)
            }
        }
    }

    /// Each property of each object has a value of its own.
    private static func fill(_ context: ManagedObjectContext) {
        let person = Person(context: context)
        (person.first, person.second, person.third) = ("a", "b", "c")
        (person.height, person.weight) = (1, 2)
        let pupil = Pupil(context: context)
        (pupil.first, pupil.second, pupil.third) = ("d", "e", "f")
        (pupil.height, pupil.weight, pupil.school) = (3, 4, "g")
        pupil.boss = person
        let parcel = Parcel(context: context)
        (parcel.label, parcel.note, parcel.sender) = ("h", "i", "j")
    }

    private static func checkStored(_ context: ManagedObjectContext) throws {
        try expect(1, context, "first", \Person.first == "a")
        try expect(0, context, "first", \Person.first == "b")
        try expect(1, context, "second", \Person.second == "b")
        try expect(0, context, "second", \Person.second == "a")
        try expect(1, context, "third", \Person.third == "c")
        try expect(1, context, "height", \Person.height == 1)
        try expect(0, context, "height", \Person.height == 2)
        try expect(1, context, "weight", \Person.weight == 2)
        try expect(1, context, "boss.first", \Person.boss?.first == "a")
        try expect(1, context, "boss.weight", \Person.boss?.weight == 2)
    }

    private static func checkInherited(_ context: ManagedObjectContext) throws {
        try expect(1, context, "first of a pupil", \Pupil.first == "d")
        try expect(0, context, "first of a pupil", \Pupil.first == "g")
        try expect(1, context, "school", \Pupil.school == "g")
        try expect(1, context, "boss of a pupil", \Pupil.boss?.second == "b")
    }

    private static func checkGeneric(_ context: ManagedObjectContext) throws {
        try expect(1, context, "label", \Parcel.label == "h")
        try expect(0, context, "label", \Parcel.label == "i")
        try expect(1, context, "note", \Parcel.note == "i")
        try expect(1, context, "sender", \Parcel.sender == "j")
        func second<Kind: Person>(of kind: Kind.Type, _ value: String) -> Condition<Kind> {
            \Kind.second == value
        }
        try expect(1, context, "second, generic", second(of: Person.self, "b"))
        try expect(1, context, "second of a pupil, generic", second(of: Pupil.self, "e"))
        func alias<Kind: Person>(of kind: Kind.Type) -> Condition<Kind> { \Kind.alias == "a" }
        try refuse(context, "alias, generic", alias(of: Person.self))
    }

    private static func checkComputed(_ context: ManagedObjectContext) throws {
        try refuse(context, "alias", \Person.alias == "a")
        try refuse(context, "other", \Person.other == "b")
        try refuse(context, "mass", \Person.mass == 2)
        try refuse(context, "shout", \Person.shout == "A")
        try refuse(context, "chief.first", \Person.chief?.first == "a")
        try refuse(context, "boss.alias", \Person.boss?.alias == "a")
        try refuse(context, "alias of a pupil", \Pupil.alias == "d")
        try refuse(context, "place", \Pupil.place == "g")
        try refuse(context, "tag", \Parcel.tag == "h")
        try refuse(context, "first.count", \Person.first.count == 1)
    }

    private static func expect<Object: ManagedObject>(
        _ count: Int, _ context: ManagedObjectContext, _ name: String,
        _ condition: Condition<Object>
    ) throws {
        let found = try context.count(FetchRequest<Object>(where: condition))
        try Finding.unless(found == count, "'\(name)' finds \(found) and not \(count).")
    }

    private static func refuse<Object: ManagedObject>(
        _ context: ManagedObjectContext, _ name: String, _ condition: Condition<Object>
    ) throws {
        do {
            let found = try context.count(FetchRequest<Object>(where: condition))
            throw Finding(description: "'\(name)' is computed and finds \(found) all the same.")
        } catch is QueryError {
            return
        }
    }
}
