import CDaybookLMDB
import CDaybookSQLite
import Foundation

/// The machine and the software of a run.
struct Machine: Encodable {
    let processor: String
    let cores: Int
    let memoryBytes: UInt64
    let system: String
    let kernel: String
    /// Of the folder that holds the stores while they are measured.
    let fileSystem: String
    let compiler: String
    /// How the library was built.
    let build: String
    let lmdb: String
    let sqlite: String
    /// The beginning of the run, in ISO 8601.
    let date: String

    /// - Parameter compiler: The name of the compiler in the report, which cannot be determined
    ///   afterwards.
    init(compiler: String?) {
        let process = ProcessInfo.processInfo
        processor = Self.field("model name", of: "/proc/cpuinfo") ?? "unknown"
        cores = process.activeProcessorCount
        memoryBytes = process.physicalMemory
        system = process.operatingSystemVersionString
        kernel = Self.text(of: "/proc/sys/kernel/osrelease") ?? "unknown"
        fileSystem = Self.fileSystem(of: FileManager.default.temporaryDirectory.path) ?? "unknown"
        self.compiler = compiler ?? "unknown"
        #if DEBUG
        build = "debug"
        #else
        build = "release"
        #endif
        lmdb = String(cString: mdb_version(nil, nil, nil))
        sqlite = String(cString: sqlite3_libversion())
        date = ISO8601DateFormatter().string(from: Date())
    }

    /// All of it in a sentence.
    var sentence: String {
        let gigabytes = (Double(memoryBytes) / 1e9).fixed(0)
        return "\(processor), \(cores) cores, \(gigabytes) GB, \(system), kernel \(kernel), "
            + "\(fileSystem), Swift \(compiler), \(lmdb), SQLite \(sqlite), \(build) build."
    }

    private static func text(of path: String) -> String? {
        // Files of the kernel have no length, so they are read to their end.
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func field(_ name: String, of path: String) -> String? {
        let line = text(of: path)?.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The kind of the nearest file system mounted above a folder.
    private static func fileSystem(of folder: String) -> String? {
        var nearest: (mountPoint: Substring, kind: Substring)?
        for line in (text(of: "/proc/self/mounts") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let mountPoint = fields[1]
            let isAbove =
                mountPoint == "/" || folder == mountPoint || folder.hasPrefix(mountPoint + "/")
            if isAbove, mountPoint.count >= nearest?.mountPoint.count ?? 0 {
                nearest = (mountPoint, fields[2])
            }
        }
        return nearest.map { String($0.kind) }
    }
}
