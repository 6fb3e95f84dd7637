import DaybookObjectModel
import DaybookSearch
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Texts that an index must not hold.
@Suite struct ConfidentialTextTests {
    private static func model(kind: AttributeDescription?) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                attributes: [AttributeDescription(name: "body", type: .string)]
                    + [kind].compactMap(\.self))
        ])
    }

    private static func kind(isConfidential: Bool) -> AttributeDescription {
        AttributeDescription(name: "kind", type: .string, isConfidential: isConfidential)
    }

    /// The bytes of an index after a note has been saved under the first model, and the others have been set.
    private func bytesOfIndex(
        after models: [AttributeDescription?], tookIn early: Bool
    ) throws -> Data {
        let temporary = try TemporaryStore(Self.model(kind: models[0]))
        let store = temporary.store
        let note = try store.newObject("Note")
        try store.commit(
            SaveRequest(changes: [
                store.insert(note, ["body": .string("herring"), "kind": .string("smoked")])
            ]))
        let file = temporary.path + "-text"
        var options = StoreOptions.counting()
        options.migration = .automatic
        for model in models.dropFirst() {
            let later = try Store.open(
                at: temporary.path, model: Self.model(kind: model), options: options)
            if early { _ = try TextIndexFile(of: later, at: file).search("x", in: SearchScope()) }
            try later.close()
        }
        let last = try Store.open(
            at: temporary.path, model: Self.model(kind: models.last ?? nil), options: options)
        let index = try TextIndexFile(of: last, at: file)
        #expect(try index.search("herring", in: SearchScope()).count == 1)
        try last.close()
        return try Data(contentsOf: URL(filePath: file))
    }

    @Test(arguments: [false, true])
    func `what was confidential until its attribute was removed is not in the file`(
        tookIn early: Bool
    ) throws {
        let bytes = try bytesOfIndex(
            after: [Self.kind(isConfidential: false), Self.kind(isConfidential: true), nil],
            tookIn: early)

        #expect(bytes.range(of: Data("herring".utf8)) != nil)
        #expect(bytes.range(of: Data("smoked".utf8)) == nil)
    }

    @Test func `what is confidential no more is in the file`() throws {
        let bytes = try bytesOfIndex(
            after: [Self.kind(isConfidential: true), Self.kind(isConfidential: false)],
            tookIn: false)

        #expect(bytes.range(of: Data("smoked".utf8)) != nil)
    }
}
