// The room of the commands for stores that are shared with other machines, through servers of PostgreSQL: they make
// copies, bring them up, compare and part them. How any other command opens a shared store stands here, too.

import DaybookPostgres
import DaybookSnapshotStore
import Synchronization

/// How commands open stores that are shared.
enum SharedStores {
    /// Whether nobody is asked.
    static var isOffline: Bool {
        get { offline.withLock(\.self) }
        set { offline.withLock { $0 = newValue } }
    }

    private static let offline = Mutex(false)

    /// What a file says about the shared store that it is linked to.
    static func file(_ path: String) throws -> FileLink? {
        try renew(path)
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        defer { store.closeQuietly() }
        return try store.link()
    }

    /// Makes a copy anew that was not brought to the disk before the system ended.
    private static func renew(_ path: String) throws {
        guard !isOffline, let origin = try Store.lostOrigin(at: path), !origin.isEmpty else {
            return
        }
        var options = StoreOptions()
        options.link = try SharedPlace(parsing: origin).link()
        try Store.open(at: path, options: options).close()
    }

    /// How to reach the shared store of a file; nil for a store of its own, and when nobody is to be asked.
    static func link(of path: String) throws -> SharedLink? {
        try link(file(path))
    }

    /// The place that a line names.
    ///
    /// - Parameter text: The place, as people write it.
    /// - Returns: The place.
    /// - Throws: ``ToolError`` when it cannot be read: no server was asked yet, so the line is wrong.
    static func place(_ text: String) throws(ToolError) -> SharedPlace {
        do {
            return try SharedPlace(parsing: text)
        } catch {
            throw .usage(error.message)
        }
    }

    /// The same of a file that is open.
    static func link(in store: Store) throws -> SharedLink? {
        try link(store.link())
    }

    private static func link(_ file: FileLink?) throws -> SharedLink? {
        guard !isOffline, let file else { return nil }
        return try SharedPlace(parsing: file.place).link()
    }

    /// Opens a file with its link.
    ///
    /// - Throws: ``ToolError`` for a store of its own.
    static func open(_ path: String) throws -> Store {
        guard let file = try file(path) else {
            throw ToolError.usage(
                "'\(path)' is a store of its own, and not linked to a shared one.")
        }
        var options = StoreOptions()
        options.link = try SharedPlace(parsing: file.place).link()
        return try Store.open(at: path, options: options)
    }

    /// Brings the file of a shared store up, if its servers can be reached. Reading goes on without them.
    static func bringUp(_ path: String) throws {
        guard let link = try link(of: path) else { return }
        var options = StoreOptions()
        options.link = link
        let store: Store
        do {
            store = try Store.open(at: path, options: options)
        } catch let error as StoreError
            where [.permission, .readOnly, .busy, .full].contains(error.code)
        {
            // Who may only read the file reads what is there.
            return note(error.message)
        }
        defer { store.closeQuietly() }
        switch store.condition {
        case .offline(_, let error): note(error.message)
        case .stopped(let error): note(error.message)
        case .connected, nil: return
        }
    }

    /// Why copies may be behind; the tool says so at its end.
    static var warnings: [String] { noted.withLock(\.self) }

    private static let noted = Mutex<[String]>([])

    private static func note(_ reason: String) {
        let warning = "The copy may be behind its shared store. \(reason)"
        noted.withLock { if !$0.contains(warning) { $0.append(warning) } }
    }
}
