import Daybook
import Foundation

/// An object that has large data.
private final class Recording: ManagedObject {
    @Attribute var sound: LargeData?
}

extension DaybookContender: KeepsLargeData {
    static func writeLargeData(from file: URL, in folder: URL) throws -> Double {
        let container = try recordings(in: folder)
        let context = container.newBackgroundContext()
        return try Stopwatch.seconds {
            try context.performAndWait {
                let recording = Recording(context: context)
                recording.sound = try context.importData(contentsOf: file)
                try context.save()
            }
        }
    }

    static func readLargeData(expecting bytes: Data, in folder: URL) throws -> Double {
        let container = try recordings(in: folder)
        let context = container.newBackgroundContext()
        return try Stopwatch.seconds {
            try context.performAndWait {
                guard let sound = try context.fetch(FetchRequest<Recording>()).first?.sound else {
                    throw WrongResult(name, "the number of recordings", expected: 1, found: 0)
                }
                try LargeSample.compare(bytes, with: name) { try sound.bytes(in: $0) }
            }
        }
    }

    private static func recordings(in folder: URL) throws -> PersistentContainer {
        try PersistentContainer(
            folder.appendingPathComponent("recordings.daybook"), model: [Recording.self])
    }
}
