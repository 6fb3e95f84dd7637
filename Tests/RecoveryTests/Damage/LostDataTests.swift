import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Large data that are lost, together with entries.
struct LostDataTests {
    @Test func `an entry after a gap whose large data are lost is carried out all the same`() throws
    {
        let directory = try TemporaryDirectory()
        let (sound, damaged) = (directory.path("sound.daybook"), directory.path("damaged.daybook"))
        let new = directory.path("new.daybook")
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Photo",
                attributes: [
                    AttributeDescription(name: "name", type: .string),
                    AttributeDescription(name: "image", type: .data),
                ])
        ])
        var generator = SeededGenerator(seed: 7)
        let image = Data((0..<200_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let store = try Store.create(at: sound, model: model, options: .counting())
        for name in ["France", "Italy"] {
            let photo = try store.newObject("Photo")
            var values: [String: Value] = ["name": .string(name)]
            if name == "Italy" { values["image"] = .large(LargeData(image)) }
            try store.commit(SaveRequest(changes: [store.insert(photo, values)]))
        }
        let italy = try #require(try store.entry(SequenceNumber(3)).changes.first?.object)
        try store.close()
        try DamagedFile.lose([2], of: sound, into: damaged)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
        let place = try #require(bytes.range(of: image[100_000..<100_064]))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.repeated == 1 && recovery.losses.isEmpty)
        #expect(recovery.lostData == [LargeData(image).detached])
        let after = try Store.open(at: new)
        let row = try #require(try after.row(of: italy, at: nil))
        #expect(row.values.contains(.string("Italy")))
        #expect(row.values.contains(.large(LargeData(image).detached)))
        try after.close()
    }
}
