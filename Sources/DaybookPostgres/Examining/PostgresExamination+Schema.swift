internal import DaybookPQ
internal import Foundation

extension PostgresExamination {
    /// Compares what a server has with what ``PostgresSchema`` installs.
    ///
    /// - Returns: Whether the schema is there.
    mutating func lookAtSchema(_ connection: PostgresConnection) throws(PostgresError) -> Bool {
        let place = connection.place
        let tables = try connection.run(Self.tables, until: deadline)
        guard !tables.isEmpty else {
            add(
                .schema, .fault,
                "\(place) has no schema 'daybook'. Install it with 'daybook schema --install'.")
            return false
        }
        var wrong: [String] = []
        var found: [String: Bool] = [:]
        for row in tables { found[try row.text(0)] = try row.boolean(1) }
        for name in Self.tableNames {
            guard let isSecured = found[name] else {
                wrong.append("the table '\(name)' is missing")
                continue
            }
            if !isSecured { wrong.append("every login reads all rows of '\(name)'") }
        }
        wrong += try differencesOfFunctions(connection)
        wrong += try differencesOfTriggers(connection)
        if wrong.isEmpty {
            let count = InstalledFunction.all.count
            add(
                .schema, .sound,
                "\(place) has the \(count) functions, \(Self.tableNames.count) tables and "
                    + "\(Self.triggers.count) triggers that 'daybook schema' prints.")
        }
        for difference in wrong {
            add(.schema, .fault, "On \(place) \(difference).")
        }
        return true
    }

    private func differencesOfFunctions(
        _ connection: PostgresConnection
    ) throws(PostgresError) -> [String] {
        var missing = Set(InstalledFunction.all)
        var more: Set<String> = []
        for row in try connection.run(Self.functions, until: deadline) {
            let function = InstalledFunction(
                name: try row.text(0), body: try row.text(1), isDefiner: try row.boolean(2))
            if missing.remove(function) == nil { more.insert(function.name) }
        }
        let changed = more.intersection(missing.map(\.name))
        return changed.sorted().map { "the function '\($0)' is another one" }
            + Set(missing.map(\.name)).subtracting(changed).sorted().map {
                "the function '\($0)' is missing"
            }
            + more.subtracting(changed).sorted().map {
                "the function '\($0)' does not belong there"
            }
    }

    private func differencesOfTriggers(
        _ connection: PostgresConnection
    ) throws(PostgresError) -> [String] {
        var missing = Set(Self.triggers)
        for row in try connection.run(Self.enabledTriggers, until: deadline) {
            missing.remove("\(try row.text(0)) on \(try row.text(1))")
        }
        return missing.sorted().map {
            "the trigger '\($0)' is missing or turned off, so that rows can be changed"
        }
    }

    private static let tableNames = [
        "chunk", "cut_chunk", "cut_entry", "data", "entry", "mark", "store", "writer",
    ]
    private static let triggers = [
        "belongs on chunk", "never on chunk", "never on cut_chunk", "never on cut_entry",
        "never on data", "never on entry",
    ]
    private static let tables = PostgresStatement(
        "daybook_look_at_tables",
        """
        SELECT c.relname, c.relrowsecurity FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'daybook' AND c.relkind = 'r'
        """)
    private static let functions = PostgresStatement(
        "daybook_look_at_functions",
        """
        SELECT p.proname, p.prosrc, p.prosecdef FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'daybook'
        """)
    private static let enabledTriggers = PostgresStatement(
        "daybook_look_at_triggers",
        """
        SELECT t.tgname, c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'daybook' AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
        """)
}

/// A function of the schema, as far as it is compared.
private struct InstalledFunction: Hashable {
    let name: String
    let body: String
    /// Whether it runs with the rights of the owner.
    let isDefiner: Bool

    /// What ``PostgresSchema/text`` makes: its functions are all written the same way.
    static let all: [InstalledFunction] = PostgresSchema.text
        .components(separatedBy: "CREATE FUNCTION daybook.").dropFirst()
        .compactMap { text in
            let parts = text.components(separatedBy: "$$")
            guard parts.count > 2, let end = text.firstIndex(of: "(") else { return nil }
            return InstalledFunction(
                name: String(text[..<end]), body: parts[1],
                isDefiner: parts[0].contains("SECURITY DEFINER"))
        }
}
