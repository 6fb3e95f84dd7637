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
