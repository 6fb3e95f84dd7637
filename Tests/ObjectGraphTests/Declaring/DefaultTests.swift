import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// A parcel whose declaration computes most of its initial values.
final class Parcel: ManagedObject {
    @Attribute var id: UUID = UUID()
    @Attribute(.unique) var label: String = UUID().uuidString
    @Attribute var packed: Date = Date()
    @Attribute var number: Int = Parcel.next()
    @Attribute var weight: Double = 1.5
    @Attribute var home: URL = Parcel.page()
    @Attribute(default: Date(timeIntervalSinceReferenceDate: 0)) var due: Date
    @Attribute var remark: String?
    @Transient var draft: String = UUID().uuidString

    private static let count = Atomic<Int>(0)

    static func next() -> Int { count.add(1, ordering: .relaxed).newValue }

    static func page() -> URL { URL(fileURLWithPath: "/parcel/\(next())") }
}

@Suite struct DefaultTests {
    @Test func `UUID() as a default value is another one in each object`() throws {
        try ClassStore([Parcel.self]).inContext { context in
            let parcels = (0..<20).map { _ in Parcel(context: context) }

            #expect(Set(parcels.map(\.id)).count == 20)
            #expect(Set(parcels.map(\.label)).count == 20)
            #expect(Set(parcels.map(\.number)).count == 20)
            #expect(Set(parcels.map(\.home)).count == 20)
            #expect(Set(parcels.map(\.draft)).count == 20)
            #expect(parcels.allSatisfy { $0.weight == 1.5 })
            let ids = Set(parcels.map(\.id))
            try context.save()
            context.reset()
            let read = try context.fetch(FetchRequest<Parcel>())
            let readIDs = Set(read.map(\.id))
            #expect(readIDs == ids)
        }
    }

    @Test func `a second run of a program with UUID() and Date() defaults opens its store`() throws
    {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("parcels.daybook")
        _ = try TestContainer.make(url, model: [Parcel.self])

        let again = try TestContainer.make(url, model: [Parcel.self])

        let context = again.newBackgroundContext()
        try context.performAndWait {
            _ = Parcel(context: context)
            try context.save()
        }
    }

    @Test func `the model has only constants, and dates only where they are declared as such`()
        throws
    {
        let store = try ClassStore([Parcel.self])
        let coordinator = store.container.persistentStoreCoordinator
        let entity = try #require(coordinator.managedObjectModel.entitiesByName["Parcel"])
        let defaults = Dictionary(
            uniqueKeysWithValues: entity.attributes.map { ($0.name, $0.defaultValue) })

        #expect(defaults["weight"] == .double(1.5))
        #expect(defaults["due"] == .date(Date(timeIntervalSinceReferenceDate: 0)))
        for name in ["id", "label", "packed", "number", "home", "remark"] {
            #expect(defaults[name] == .null, "\(name)")
        }
    }

    @Test func `a default value that has changed since the store was made locks nobody out`() throws
    {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("levels.daybook")
        func model(_ value: Value) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Level",
                    attributes: [
                        AttributeDescription(
                            name: "height", type: .int64, isOptional: false, defaultValue: value)
                    ])
            ])
        }
        _ = try TestContainer.make(url, managedObjectModel: model(.int(1)))

        let container = try TestContainer.make(url, managedObjectModel: model(.int(2)))

        let context = container.newBackgroundContext()
        try context.performAndWait {
            let level = context.insertNewObject(forEntityName: "Level")
            #expect(level.value(forKey: "height") as? Int64 == 2)
            try context.save()
        }
    }

    @Test func `each row of a batch and each object made by the entity's name has its own`() throws
    {
        try ClassStore([Parcel.self]).inContext { context in
            let batch = BatchInsertRequest<Parcel>(0..<10) { index, row in
                row[\.remark] = "parcel \(index)"
            }
            _ = try context.execute(batch)
            for _ in 0..<10 { _ = context.insertNewObject(forEntityName: "Parcel") }

            let parcels = try context.fetch(FetchRequest<Parcel>())

            #expect(parcels.count == 20)
            #expect(Set(parcels.map(\.id)).count == 20)
            #expect(Set(parcels.map(\.label)).count == 20)
            let due = Date(timeIntervalSinceReferenceDate: 0)
            let dues = Set(parcels.map(\.due))
            #expect(dues == [due])
        }
    }

    @Test func `redo and a child's save give back the identifier that an object began with`() throws
    {
        let store = try ClassStore([Parcel.self])
        try store.inContext { context in
            context.undoManager = UndoManager()
            let parcel = Parcel(context: context)
            let id = parcel.id
            context.undo()
            context.redo()
            let child = ManagedObjectContext(parent: context)
            let childsID = try child.performAndWait {
                let parcel = Parcel(context: child)
                let id = parcel.id
                try child.save()
                return id
            }

            let ids = try context.fetch(FetchRequest<Parcel>()).map(\.id)

            #expect(Set(ids) == [id, childsID])
        }
    }

    @Test func `a unique attribute with a constant default is refused when the model is built`()
        throws
    {
        final class Badge: ManagedObject {
            @Attribute(.unique) var code: String = ""
            @Attribute(.unique, default: 7) var number: Int
        }
        let error = try #require(
            throws: ModelError.self, performing: { try ClassStore([Badge.self]) })

        #expect(error.problems.count == 2)
        #expect(error.problems.contains { $0.contains("'Badge.code' is unique and has a default") })
        #expect(error.problems.contains { $0.contains("'Badge.number' is unique") })
    }

    @Test
    func `a mandatory attribute without a default is refused unless it is said to be required`()
        throws
    {
        final class Score: ManagedObject {
            @Attribute(.indexed) var points: Int
        }
        final class Grade: ManagedObject {
            @Attribute([.indexed, .required]) var points: Int
            @Attribute(.unique) var pupil: String
        }
        let error = try #require(
            throws: ModelError.self, performing: { try ClassStore([Score.self]) })
        #expect(error.description.contains("'Score.points' is mandatory and has no default value"))
        #expect(error.description.contains("'@Attribute(.required)'"))

        try ClassStore([Grade.self]).inContext { context in
            let grade = Grade(context: context)
            grade.pupil = "Ada"
            let refused = try #require(throws: StoreError.self) { try context.save() }
            #expect(refused.failures.map(\.property) == ["points"])
            grade.points = 1
            try context.save()
        }
    }

    @Test func `isAbstractEntity inherited by a class without subclasses is refused`() throws {
        class Shape: ManagedObject {
            override class var isAbstractEntity: Bool { true }
        }
        final class Circle: Shape {
            @Attribute var radius: Double = 1
        }
        let error = try #require(
            throws: ModelError.self,
            performing: { try ClassStore([Shape.self, Circle.self]) })

        #expect(error.description.contains("'Circle' is abstract"))
        #expect(error.description.contains("return 'self == Shape.self'"))
    }

    @Test func `a model that is given keeps its own default values for the classes that join it`()
        throws
    {
        final class Lamp: ManagedObject {
            @Attribute var watts: Int = 40
            @Attribute var serial: String = UUID().uuidString
        }
        let folder = try TemporaryDirectory()
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Lamp",
                attributes: [
                    AttributeDescription(name: "watts", type: .int64, defaultValue: .int(60)),
                    AttributeDescription(name: "serial", type: .string, isOptional: false),
                ])
        ])
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("lamps.daybook"), managedObjectModel: model,
            classes: [Lamp.self])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let lamps = [Lamp(context: context), Lamp(context: context)]

            #expect(lamps.map(\.watts) == [60, 60])
            #expect(lamps[0].serial != lamps[1].serial)
            try context.save()
        }
    }
}
