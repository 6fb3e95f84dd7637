import Foundation

/// (w), (w') and (w''): the bytes of a file taken into a store, and read out of it, a megabyte at a time.
///
/// The bytes are random, so that no two chunks are the same. The store stands open when the time begins.
struct LargeDataTransfer: Workload {
    enum Manner: String {
        case write = "w"
        case read = "w'"
        /// The time of writing, against that of a plain file.
        case writeAgainstFile = "w''"
    }

    let manner: Manner
    let sample: LargeSample

    var letter: String { manner.rawValue }
    var measure: Measure { manner == .writeAgainstFile ? .times : .perSecond }
    var title: String {
        switch manner {
        case .write: "megabytes of large data written (\(sample.megabytes.grouped))"
        case .read: "megabytes of them read"
        case .writeAgainstFile: "time of that write against a plain file's, synced"
        }
    }

    func concerns(_ contender: any Contender.Type) -> Bool {
        manner == .writeAgainstFile
            ? contender == DaybookContender.self : contender is any KeepsLargeData.Type
    }

    func measure(_ stage: Stage) throws -> Double {
        guard let type = stage.type as? any KeepsLargeData.Type else { return .nan }
        switch manner {
        case .write:
            return Double(sample.megabytes) / (try write(type, "large-data", stage))
        case .read:
            let folder = try stage.makeFolder("large-data")
            return Double(sample.megabytes)
                / (try type.readLargeData(expecting: sample.bytes(), in: folder))
        case .writeAgainstFile:
            let seconds = try write(type, "large-data-again", stage)
            return try seconds / writeFile(in: stage)
        }
    }

    private func write(
        _ type: any KeepsLargeData.Type, _ name: String, _ stage: Stage
    ) throws -> Double {
        try type.writeLargeData(from: try sample.file(), in: try stage.makeFolder(name))
    }

    private func writeFile(in stage: Stage) throws -> Double {
        let source = try FileHandle(forReadingFrom: try sample.file())
        let url = stage.folder.appendingPathComponent("large-data-file")
        try Data().write(to: url)
        let file = try FileHandle(forWritingTo: url)
        let seconds = try Stopwatch.seconds {
            while let piece = try source.read(upToCount: LargeSample.pieceBytes), !piece.isEmpty {
                try file.write(contentsOf: piece)
            }
            try file.synchronize()
        }
        try stage.expect(sample.count, "the number of bytes", Int(try file.offset()))
        try file.close()
        return seconds
    }
}

/// A contender that keeps data as large as a file without holding all of it in memory.
protocol KeepsLargeData: Contender {
    /// Takes the bytes of a file into a new store, piece by piece, in a durable save.
    ///
    /// - Returns: The seconds that took, without opening the store.
    static func writeLargeData(from file: URL, in folder: URL) throws -> Double

    /// Reads the bytes that were written into the store in a folder, piece by piece, and compares them.
    ///
    /// - Returns: The seconds that took, without opening the store.
    static func readLargeData(expecting bytes: Data, in folder: URL) throws -> Double
}

/// The bytes that are written, made when they are asked for and then kept.
final class LargeSample {
    /// How many bytes are read or written at a time.
    static let pieceBytes = 1 << 20

    let count: Int
    private var made: Data?
    private var folder: TemporaryFolder?

    init(count: Int) {
        self.count = count
    }

    var megabytes: Int { count / 1_000_000 }

    func bytes() -> Data {
        if let made { return made }
        var generator = ReadingOrder(seed: 21)
        var bytes = Data(capacity: count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        bytes = Data(bytes.prefix(count))
        made = bytes
        return bytes
    }

    /// A file that has them.
    func file() throws -> URL {
        let folder = try folder ?? TemporaryFolder()
        let url = folder.url.appendingPathComponent("large-data")
        if self.folder == nil { try bytes().write(to: url) }
        self.folder = folder
        return url
    }

    /// Calls a closure for every piece of the bytes.
    ///
    /// - Throws: ``WrongResult`` when the closure does not give the same bytes; what the closure throws.
    static func compare(
        _ bytes: Data, with contender: String, _ read: (Range<Int>) throws -> Data
    ) throws {
        for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
            let range = start..<min(bytes.count, start + pieceBytes)
            guard try read(range) == bytes[range] else {
                throw WrongResult(
                    contender, "the bytes of the piece \(start / pieceBytes)",
                    expected: range.count, found: 0)
            }
        }
    }
}
