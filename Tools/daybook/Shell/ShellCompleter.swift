import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// Completions of the last word of a line: in the tool's own shell commands, options, and names in the store; for
/// others, whose scripts know the rest, the names alone.
struct ShellCompleter: Sendable {
    /// More than a person reads through.
    private static let objectsMaximum = 200

    private let path: String
    /// Whether only what is in the store is offered.
    private let offersNamesOnly: Bool

    init(_ path: String, namesOnly: Bool = false) {
        self.path = path
        offersNamesOnly = namesOnly
    }

    /// The names in a store that can be the last word of a command line.
    ///
    /// - Parameters:
    ///   - words: The words after the tool's name, of which the last is being typed.
    ///   - store: The store of commands that do not name one; nil for none.
    /// - Returns: The names, sorted; none where something else is expected, or nothing can be read.
    static func names(completing words: [String], store: String?) -> [String] {
        // bash takes '--option=value' apart at the sign.
        var words = words.filter { $0 != "=" }
        guard words.count >= 2 else { return [] }
        let (name, last) = (words.removeFirst(), words.removeLast())
        guard
            let declaration = CommandList.all.first(where: { $0.declaration.name == name })?
                .declaration,
            declaration.positionals.contains(where: { $0.name == "STORE" })
        else { return [] }
        let reading = ShellCompleter(store ?? "", namesOnly: true)
        let given = reading.positionals(in: words, declaration.allOptions)
        let isNamed = given.first.map { ArgumentParser.namesStore($0) } ?? false
        guard let path = store == nil || isNamed ? given.first : store else { return [] }
        if store == nil || isNamed, let place = words.firstIndex(of: path) {
            words.remove(at: place)
        }
        return ShellCompleter(path, namesOnly: true).arguments(of: name, words, last)
            .filter { $0.hasPrefix(last) }.sorted()
    }

    /// The completions of the last word of a line; none if the store cannot be read.
    func candidates(_ line: String) -> [String] {
        var words = line.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
        let last = line.hasSuffix(" ") || words.isEmpty ? "" : words.removeLast()
        let offers: [String]
        if let first = words.first {
            offers =
                first.hasPrefix(".")
                ? dotArguments(of: first) : arguments(of: first, Array(words.dropFirst()), last)
        } else {
            offers = CommandList.all.map(\.declaration.name) + ShellSession.dotCommands
        }
        // What is put on the line stays one word there; what commands a terminal is not put on it.
        return offers.filter { DisplayText.escaped($0) == $0 }.map(ShellWords.asWord)
            .filter { $0.hasPrefix(last) }.sorted()
    }

    private func dotArguments(of command: String) -> [String] {
        switch command {
        case ".help": CommandList.all.map(\.declaration.name)
        case ".at": positions()
        default: []
        }
    }

    // MARK: - Arguments

    private func arguments(of name: String, _ words: [String], _ last: String) -> [String] {
        guard let command = CommandList.all.first(where: { $0.declaration.name == name }) else {
            return []
        }
        let declaration = command.declaration
        let options = declaration.allOptions
        if let previous = words.last,
            let option = options.first(where: { $0.takesValue && $0.names.contains(previous) })
        {
            return values(of: option, in: words, last)
        }
        if last.hasPrefix("-") {
            guard let (start, option) = Self.option(before: last, among: options) else {
                return offersNamesOnly ? [] : options.flatMap(\.names)
            }
            return values(of: option, in: words, String(last.dropFirst(start.count)))
                .map { start + $0 }
        }
        let given = positionals(in: words, options).count
        let own = declaration.positionals.filter { $0.name != "STORE" }
        guard
            let next = given < own.count
                ? own[given] : own.last(where: { $0.occurrence == .several })
        else { return [] }
        return values(of: next, in: words, last)
    }

    /// The option to whose name the value is attached, with what stands before that: `--at=` or `-c`.
    private static func option(
        before word: String, among options: [ArgumentDeclaration]
    ) -> (start: String, option: ArgumentDeclaration)? {
        if let sign = word.firstIndex(of: "="),
            let option = options.first(where: { $0.names.contains(String(word[..<sign])) })
        {
            return (String(word[...sign]), option)
        }
        let short = String(word.prefix(2))
        guard word.count > 2,
            let option = options.first(where: { $0.takesValue && $0.names.contains(short) })
        else { return nil }
        return (short, option)
    }

    /// The words that are neither options nor values of options.
    private func positionals(
        in words: [String], _ options: [ArgumentDeclaration]
    ) -> [String] {
        var found: [String] = []
        var isValue = false
        for word in words {
            if isValue {
                isValue = false
            } else if word.hasPrefix("-") {
                isValue = options.contains { $0.takesValue && $0.names.contains(word) }
            } else {
                found.append(word)
            }
        }
        return found
    }

    private func values(
        of argument: ArgumentDeclaration, in words: [String], _ last: String
    ) -> [String] {
        guard !offersNamesOnly || argument.choices.isEmpty && argument.completion != .files else {
            return []
        }
        if !argument.choices.isEmpty { return argument.choices }
        if argument.completion == .files { return files(last) }
        let placeholder = argument.placeholder
        if argument.name == "--property" { return names { $0.properties.map(\.name) } }
        if argument.name == "--sort" {
            return names { entity in
                words.contains(entity.name) ? entity.properties.map(\.name) : []
            }
        }
        if argument.name == "--cursor" || argument.name == "--resume" { return cursors() }
        if placeholder.contains("OBJECT") { return objects(last) }
        if placeholder.contains("ENTITY") { return names { [$0.name] } }
        return placeholder.contains("SEQ") || placeholder == "A" || placeholder == "B"
            ? positions() : []
    }

    // MARK: - Names

    private func names(_ list: (SchemaEntity) -> [String]) -> [String] {
        reading { store in
            Array(Set(store.schema.entities.flatMap(list)))
        }
    }

    /// The named positions in the journal.
    private func positions() -> [String] {
        ["head"] + reading { try $0.tags().map(\.name) }
    }

    private func cursors() -> [String] {
        reading { try $0.cursors().map(\.name) }
    }

    /// Entities, then the numbers of their objects, then the properties of one.
    private func objects(_ typed: String) -> [String] {
        reading { store in
            guard let slash = typed.firstIndex(of: "/"),
                let entity = store.schema.entity(named: String(typed[..<slash]))
            else { return store.schema.entities.filter { !$0.isAbstract }.map { $0.name + "/" } }
            if let dot = typed[slash...].firstIndex(of: ".") {
                return entity.properties.map { typed[...dot] + $0.name }
            }
            let ranges = Self.numbers(beginningWith: typed[slash...].dropFirst())
            var found: [String] = []
            try store.read { snapshot in
                for numbers in ranges where found.count < Self.objectsMaximum {
                    try snapshot.objects(of: entity.number, numbers: numbers) { object in
                        found.append(store.schema.name(of: object))
                        return found.count < Self.objectsMaximum ? .proceed : .stop
                    }
                }
            }
            return found
        }
    }

    /// The numbers that begin with some digits, so that no others are read: 17, 170 to 179, 1700 to 1799 and so on.
    private static func numbers(beginningWith digits: Substring) -> [ClosedRange<UInt64>] {
        guard !digits.isEmpty else { return [1...UInt64.max] }
        guard let number = UInt64(digits), number > 0, String(number) == digits else { return [] }
        var ranges = [number...number]
        var (lowest, count) = (number, UInt64(1))
        while true {
            let (next, isTooLarge) = lowest.multipliedReportingOverflow(by: 10)
            guard !isTooLarge else { return ranges }
            count *= 10
            let (last, isBeyond) = next.addingReportingOverflow(count - 1)
            ranges.append(next...(isBeyond ? .max : last))
            lowest = next
        }
    }

    /// Completion asks no servers of a shared store: a key is answered at once, with what the file has. Nor does it
    /// report a store that cannot be read: the command will.
    private func reading(_ body: (Store) throws -> [String]) -> [String] {
        do {
            let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
            let found = try body(store)
            try store.close()
            return found
        } catch {
            return []
        }
    }

    private func files(_ typed: String) -> [String] {
        let folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
        do {
            return try FileManager.default.contentsOfDirectory(
                atPath: folder.isEmpty ? "." : folder
            )
            .filter { !$0.hasPrefix(".") && !$0.contains(" ") }.map { folder + $0 }
        } catch {
            return []
        }
    }
}
