import CDaybookLMDB
import CDaybookSQLite
import Foundation

/// What a run was made on and with.
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
    /// When the run began, as ISO 8601 has it.
    let date: String

    /// - Parameter compiler: How the report names the compiler; nobody can ask it afterwards.
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

    /// The kind of the file system that is mounted nearest above a folder.
    private static func fileSystem(of folder: String) -> String? {
        var nearest: (place: Substring, kind: Substring)?
        for line in (text(of: "/proc/self/mounts") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let place = fields[1]
            let isAbove = place == "/" || folder == place || folder.hasPrefix(place + "/")
            if isAbove, place.count >= nearest?.place.count ?? 0 { nearest = (place, fields[2]) }
        }
        return nearest.map { String($0.kind) }
    }
}
