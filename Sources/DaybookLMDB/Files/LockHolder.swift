internal import CDaybookLMDB
internal import Foundation

/// The process that holds a lock, described for messages.
struct LockHolder: CustomStringConvertible {
    /// Its number; 0 or less when unknown.
    let process: Int32

    /// `process 17 ('daybook', which is stopped)`
    var description: String {
        guard process > 0 else { return "a process of another container or user" }
        guard let name = Self.text("/proc/\(process)/comm")?.trimmingCharacters(in: .newlines)
        else { return "process \(process)" }
        return "process \(process) ('\(name)'\(isStopped ? ", which is stopped" : ""))"
    }

    /// The remedy.
    var remedy: String {
        guard process > 0 else { return "End it, or wait for longer." }
        return isStopped
            ? "Let it go on ('kill -CONT \(process)') or end it."
            : "Wait for longer, or end it."
    }

    /// Who has locked a byte of a lock file; nil when nobody has, or nobody else.
    static func holder(of offset: Int64, in descriptor: Int32) -> LockHolder? {
        var found = daybook_foreign_lock()
        guard daybook_find_lock(descriptor, offset, 1, &found) == 0, found.is_locked != 0 else {
            return nil
        }
        return LockHolder(process: found.process)
    }

    private var isStopped: Bool {
        let state = Self.status(of: process).first
        return state == "T" || state == "t"
    }

    /// The fields that the system has of a process, from its state on; none of one that has ended.
    private static func status(of process: Int32) -> [Substring] {
        // Before them stands the name, which may itself have parentheses.
        guard let stat = text("/proc/\(process)/stat"), let end = stat.lastIndex(of: ")") else {
            return []
        }
        return stat[end...].dropFirst(2).split(separator: " ")
    }

    /// When a process began, in ticks of the system's clock (proc(5), field 22 of 'stat').
    private static func start(of process: Int32) -> UInt64 {
        let fields = status(of: process)
        return fields.count > 19 ? UInt64(fields[19]) ?? .max : .max
    }

    /// Nil if the system has no such file, or does not let this user read it.
    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Another process that has a file open, and the path by which it opened it, as far as this
    /// user may see that. Of several it is the oldest: a process that is just beginning has, for a moment,
    /// all files of the one that began it.
    static func opener(of file: FileIdentity) -> (holder: LockHolder, path: String)? {
        let files = FileManager.default
        let processes = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
        var oldest: (process: Int32, path: String, start: UInt64)?
        for process in processes.compactMap(Int32.init) where process != getpid() {
            let folder = "/proc/\(process)/fd/"
            for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
                var found = daybook_file()
                guard daybook_look_up(folder + name, &found) == 0, FileIdentity(found) == file,
                    let path = try? files.destinationOfSymbolicLink(atPath: folder + name)
                else { continue }
                let start = start(of: process)
                if oldest.map({ start < $0.start }) ?? true { oldest = (process, path, start) }
                break
            }
        }
        return oldest.map { (LockHolder(process: $0.process), $0.path) }
    }
}

/// What is in the way of a wait for a lock.
struct LockObstacle: Sendable {
    /// What its holder does.
    enum Deed: Sendable {
        case opening
        case writing
        case registering
        case readingWithoutLockFile
    }

    private let deed: Deed
    /// Nil when nobody is in the way any more, or when it is unknown who.
    let holder: @Sendable () -> LockHolder?

    /// Makes an obstacle.
    ///
    /// - Parameters:
    ///   - deed: What the holder does.
    ///   - holder: Finds the holder; asked when the waiting has ended, as it may take a while.
    init(_ deed: Deed, _ holder: @escaping @Sendable () -> LockHolder? = { nil }) {
        self.deed = deed
        self.holder = holder
    }

    /// What the holder does with the file.
    var verb: String {
        switch deed {
        case .opening: "opens or removes"
        case .writing: "writes"
        case .registering: "begins to read"
        case .readingWithoutLockFile: "reads"
        }
    }

    /// What that means for others.
    var consequence: String {
        switch deed {
        case .opening, .writing, .registering: "and no other program can meanwhile"
        case .readingWithoutLockFile:
            "and has no lock file, so no program that has one can open it meanwhile"
        }
    }
}
