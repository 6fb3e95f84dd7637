import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation
import Testing

private struct Reading: CodableAttributeValue, Equatable {
    var value: Double
}

/// A type with a value that its coder refuses.
private struct Shy: CodableAttributeValue, Equatable {
    struct Refusal: Error {}

    var isShy = false

    func encode(to encoder: any Encoder) throws {
        if isShy { throw Refusal() }
        var container = encoder.singleValueContainer()
        try container.encode(isShy)
    }

    init(isShy: Bool = false) { self.isShy = isShy }

    init(from decoder: any Decoder) throws {
        isShy = try decoder.singleValueContainer().decode(Bool.self)
    }
}

private final class Probe: ManagedObject {
    @Attribute var samples: [Double] = []
    @Attribute var last: Reading?
    @Attribute var shy: Shy?
}

@Suite struct CodedValueTests {
    @Test func `a coded value keeps numbers for which JSON has no form`() throws {
        let context = try TestContainer.make(inMemory: [Probe.self]).newBackgroundContext()
        try context.performAndWait { () throws in
            let probe = Probe(context: context)
            probe.samples = [1.5, .infinity, -.infinity, .nan]
            probe.last = Reading(value: .infinity)
            try context.save()
            context.refreshAllObjects()

            #expect(probe.samples.count == 4)
            #expect(Array(probe.samples.prefix(3)) == [1.5, .infinity, -.infinity])
            #expect(probe.samples.last?.isNaN == true)
            #expect(probe.last == Reading(value: .infinity))
            let found = FetchRequest<Probe>(where: \.last == Reading(value: .infinity))
            #expect(try context.count(found) == 1)
        }
    }

    @Test func `a value that cannot be encoded is refused when the context is saved`() throws {
        let context = try TestContainer.make(inMemory: [Probe.self]).newBackgroundContext()
        try context.performAndWait { () throws in
            let probe = Probe(context: context)
            probe.shy = Shy()
            try context.save()
            probe.shy = Shy(isShy: true)

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.failures.map(\.property) == ["shy"])
            #expect(error?.message.contains("cannot be encoded") == true)
            context.rollback()
            #expect(probe.shy == Shy())
        }
    }
}
