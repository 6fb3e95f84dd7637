import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

private final class Twin: ManagedObject {
    @Attribute var name: String = ""
    @Transient var label: String?
    @Relationship(inverse: .itself) var twin: Twin?

    /// Not part of the model.
    var awakenings = 0

    override func awakeFromFetch() {
        super.awakeFromFetch()
        awakenings += 1
        if label == nil { twin?.label = "twin of \(name)" }
    }
}

/// Objects that are read together, whose hooks look at each other.
@Suite struct AwakeTogetherTests {
    private let store: ClassStore

    init() throws {
        store = try ClassStore([Twin.self])
        let context = store.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let castor = Twin(context: context)
            castor.name = "Castor"
            let pollux = Twin(context: context)
            pollux.name = "Pollux"
            castor.twin = pollux
            try context.save()
        }
    }

    /// How the objects are read.
    enum Way: CaseIterable {
        case realized, fetched, inBatches, inChild
    }

    private func read(_ way: Way, in context: ManagedObjectContext) throws -> [Twin] {
        var request = FetchRequest<Twin>()
        request.order = [.ascending(\.name)]
        switch way {
        case .realized:
            let twins = try context.fetch(request)
            try context.realize(twins)
            return twins
        case .fetched, .inChild: request.returnsObjectsAsFaults = false
        case .inBatches: request.fetchBatchSize = 2
        }
        let twins = try context.fetch(request)
        for twin in twins { _ = twin.name }
        return twins
    }

    @Test(arguments: Way.allCases)
    func `an object that a hook has read awakes once, and keeps what the hook has set`(
        way: Way
    ) throws {
        let parent = store.container.newBackgroundContext()
        let context = way == .inChild ? ManagedObjectContext(parent: parent) : parent
        try context.performAndWait { () throws in
            let twins = try read(way, in: context)

            #expect(twins.map(\.awakenings) == [1, 1])
            #expect(twins.map(\.label) == ["twin of Pollux", "twin of Castor"])
        }
    }
}
