import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The example of the page on large data.
@Suite struct LargeDataExampleTests {
    // example
    final class Recording: ManagedObject {
        @Attribute var title: String = ""
        @Attribute var cover: Data?
        @Attribute var sound: LargeData?
    }
    // end of example

    @Test func `a file goes into a property and comes out of it`() throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "sound.wav")
        let copy = folder.url.appending(path: "copy.wav")
        let bytes = Data((0..<500_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        try bytes.write(to: file)
        try Data().write(to: copy)
        let output = try FileHandle(forWritingTo: copy)
        let container = try PersistentContainer(
            folder.url.appending(path: "recordings.daybook"), model: [Recording.self])
        let context = container.newBackgroundContext()

        try context.performAndWait { () throws in
            let recording = Recording(context: context)
            // example
            recording.sound = try context.importData(contentsOf: file)
            try context.save()

            let beginning = try recording.sound?.bytes(in: 0..<16)
            try recording.sound?.copy(to: output)
            // end of example
            #expect(beginning == bytes.prefix(16))
        }
        try output.close()
        #expect(try Data(contentsOf: copy) == bytes)
    }
}
