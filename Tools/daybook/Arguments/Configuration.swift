import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What holds for a folder: the store, the author, colours, and short names for lines.
///
/// ```
/// # .daybook/config
/// store = iso.daybook
/// author = registry
/// color = never
/// alias.recent = log --oneline --limit 5
/// ```
///
/// It stands in the file `.daybook/config` of the working folder or the nearest one above it. What a line or the
/// environment says counts more.
struct Configuration: Sendable {
    /// What holds since the tool was started.
    static var current: Configuration {
        get { started.withLock { $0 } }
        set { started.withLock { $0 = newValue } }
    }

    private static let started = Mutex(Configuration())

    /// The store of lines that name none.
    var store: String?
    /// The author of entries whose line names none.
    var author: String?
    /// When text is coloured.
    var color: ColorChoice?
    /// Lines by their short names.
    var aliases: [String: [String]] = [:]

    /// The file's place in its folder.
    private static let place = ".daybook/config"
    /// No file that people write is longer.
    private static let bytesMaximum = 64 << 10

    /// The configuration of a folder, with what the environment says.
    ///
    /// - Parameters:
    ///   - folder: The working folder.
    ///   - warn: Takes the reason why a file is not read.
    /// - Returns: What holds there.
    /// - Throws: ``ToolError`` with the place of a line that cannot be understood, or with a variable that is not UTF-8.
    static func load(
        in folder: String = FileManager.default.currentDirectoryPath, warn: (String) throws -> Void
    ) throws -> Configuration {
        var configuration = Configuration()
        if let (path, home) = nearest(to: folder) {
            if isTrusted(path) {
                configuration = try read(path, home)
            } else {
                try warn("'\(path)' belongs to somebody else and is not read.")
            }
        }
        configuration.store = try SystemCall.environmentText("DAYBOOK_STORE") ?? configuration.store
        configuration.author =
            try SystemCall.environmentText("DAYBOOK_AUTHOR") ?? configuration.author
        return configuration
    }

    /// The nearest file, and the folder that it is about; nil also where the working folder has no path any more.
    private static func nearest(to folder: String) -> (path: String, home: String)? {
        guard folder.hasPrefix("/") else { return nil }
        var names = folder.split(separator: "/")
        while true {
            let home = "/" + names.joined(separator: "/")
            let path = (names.isEmpty ? "" : home) + "/" + place
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
                !isFolder.boolValue
            {
                return (path, home)
            }
            guard names.popLast() != nil else { return nil }
        }
    }

    /// Whether a file, and the folder in which others could put one in its place, are the user's own or the system's:
    /// another's could give lines another meaning.
    private static func isTrusted(_ path: String) -> Bool {
        [path, String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])].allSatisfy {
            var status = stat()
            guard stat($0, &status) == 0 else { return false }
            return status.st_uid == geteuid() || status.st_uid == 0
        }
    }

    private static func read(_ path: String, _ home: String) throws -> Configuration {
        var status = stat()
        // Reading it would wait for somebody to write.
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
            throw ToolError.usage("'\(path)' is no configuration: it is a pipe.")
        }
        let data = try TextFile.data(path, "configuration")
        guard data.count <= bytesMaximum, let text = String(data: data, encoding: .utf8) else {
            throw ToolError.usage(
                "'\(path)' is no configuration: it has to be UTF-8 of at most \(bytesMaximum) bytes."
            )
        }
        var configuration = Configuration()
        var lineNumbers: [String: Int] = [:]
        // Also of an editor that ends lines with two characters, which are one here.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            do {
                let (name, value) = try parts(of: line)
                if let earlier = lineNumbers.updateValue(index + 1, forKey: name) {
                    throw ToolError.usage("'\(name)' stands on line \(earlier) already.")
                }
                try configuration.take(name, value, home)
            } catch {
                throw ToolError.usage("'\(path)', line \(index + 1): \(ToolError(error).message)")
            }
        }
        return configuration
    }

    /// The name and the value of a line.
    private static func parts(of line: String) throws -> (name: String, value: String) {
        guard let sign = line.firstIndex(of: "=") else {
            throw ToolError.usage("'\(line)' is not of the form 'name = value'.")
        }
        let name = line[..<sign].trimmingCharacters(in: .whitespaces)
        let value = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
        guard !value.isEmpty else { throw ToolError.usage("'\(name)' has no value.") }
        guard !name.hasPrefix("alias.") else { return (name, value) }
        // Both would become a part of the name of an author or a file.
        guard !value.contains(" #") else {
            throw ToolError.usage("A remark stands on a line of its own, not behind '\(name)'.")
        }
        guard !["\"", "'"].contains(where: { value.hasPrefix($0) && value.hasSuffix($0) }) else {
            throw ToolError.usage("The value of '\(name)' stands without quotes.")
        }
        return (name, value)
    }

    private mutating func take(_ name: String, _ value: String, _ home: String) throws {
        switch name {
        case "store":
            store =
                value.hasPrefix("/")
                ? value : URL(fileURLWithPath: home).appending(path: value).path
        case "author": author = value
        case "color":
            guard let choice = ColorChoice(rawValue: value) else {
                throw ToolError.usage("'color' is 'auto', 'always' or 'never', not '\(value)'.")
            }
            color = choice
        case _ where name.hasPrefix("alias."):
            try takeAlias(String(name.dropFirst("alias.".count)), value)
        default:
            let known = ["store", "author", "color", "alias.NAME"]
            throw ToolError.usage(
                "There is nothing called '\(name)'\(Suggestion.clause(for: name, among: known))")
        }
    }

    private mutating func takeAlias(_ name: String, _ value: String) throws {
        let commands = CommandList.all.map(\.declaration.name)
        guard !name.isEmpty, !name.hasPrefix("-"), !name.contains(" ") else {
            throw ToolError.usage("'\(name)' cannot be a short name.")
        }
        guard !commands.contains(name) else {
            throw ToolError.usage("'\(name)' is a command already.")
        }
        guard let words = ShellWords(value)?.words, let first = words.first else {
            throw ToolError.usage("A quote is not closed, or a backslash ends the line.")
        }
        guard commands.contains(first) else {
            throw ToolError.usage("'\(first)' is no command.")
        }
        aliases[name] = words
    }
}

extension ParsedArguments {
    /// The author that a line names, else the one of the environment or the configuration.
    func author(_ option: Option<String>) -> String? {
        self[option] ?? Configuration.current.author
    }
}
