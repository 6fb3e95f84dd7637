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
        // The state is the first field after the name, which may itself have parentheses.
        guard let stat = Self.text("/proc/\(process)/stat"),
            let end = stat.lastIndex(of: ")")
        else { return false }
        let state = stat[end...].dropFirst(2).first
        return state == "T" || state == "t"
    }

    /// Nil if the system has no such file, or does not let this user read it.
    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Another process that has a file open, and the path by which it opened it, as far as this
    /// user may see that.
    static func opener(of file: FileIdentity) -> (holder: LockHolder, path: String)? {
        let files = FileManager.default
        let processes = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
        for process in processes.compactMap(Int32.init).sorted() where process != getpid() {
            let folder = "/proc/\(process)/fd/"
            for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
                var found = daybook_file()
                guard daybook_look_up(folder + name, &found) == 0, FileIdentity(found) == file,
                    let path = try? files.destinationOfSymbolicLink(atPath: folder + name)
                else { continue }
                return (LockHolder(process: process), path)
            }
        }
        return nil
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
