import DaybookGraphTestSupport
import DaybookObjectModel
import Testing

@testable import DaybookObjectGraph

private final class Shelf: ManagedObject {
    @Attribute var label: String = ""
    @Attribute var row: Int = 0
    @Attribute var column: Int = 0

    /// Has another key path followed in between.
    var place: Int {
        let row = row
        _ = KeyPathProbe.meaning(of: \Shelf.label, on: self)
        return row + column
    }
}

@Suite struct KeyPathProbeTests {
    @Test func `a key path that is followed within another one takes none of its reads`() throws {
        let context = try TestContainer.make(inMemory: [Shelf.self]).newBackgroundContext()
        try context.performAndWait { () throws in
            let entity = context.binding(forInserting: "Shelf", as: Shelf.self).entity
            let prototype = try #require(entity.prototype)

            guard case .computed(let names) = entity.meaning(of: \Shelf.place) else {
                Issue.record("A computed property is no path.")
                return
            }
            #expect(names == ["row", "column"])
            guard case .properties(let names) = KeyPathProbe.meaning(of: \Shelf.row, on: prototype)
            else {
                Issue.record("A property is a path.")
                return
            }
            #expect(names == ["row"])
        }
    }
}
