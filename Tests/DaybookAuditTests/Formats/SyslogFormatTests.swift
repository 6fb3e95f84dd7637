import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Syslog messages, read by the rules of RFC 5424.
@Suite struct SyslogFormatTests {
    @Test(.ownStores("The server's clock is read more often."))
    func `an export is the same as ever`() throws {
        let story = try AtlasStory.write()

        let bytes = try Exporting.bytes(of: story.store, as: "syslog")

        try Fixture.expect(Data(bytes), equals: "exports/atlas.syslog")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `every value of every type can be had back`(seed: UInt64) throws {
        let temporary = try RandomValues.write(seed: seed, entries: 40)

        let messages = try Self.messages(of: temporary.store)

        var expected: [[String: String]] = []
        try AuditReader(temporary.store).records { record in
            expected += record.changes.map { Self.values(of: $0) }
            return .proceed
        }
        let found = messages.filter { $0.identifier != "model" }.map(\.values)
        #expect(found == expected, "seed \(seed)")
        #expect(found.count > 30, "seed \(seed)")
    }

    @Test func `a message stays on its line whatever the author wrote`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let header = EntryHeader(
            author: "Ada\n<0>1 - - - - - -", note: "a]\"\\b\u{0}\u{85}\u{2028}\u{202E}",
            base: try store.head())
        let person = try store.newObject("Person")
        _ = try store.commit(SaveRequest(header: header, changes: [store.insert(person, [:])]))

        let messages = try Self.messages(of: store)

        #expect(messages.count == 2)
        #expect(messages.last?.parameters["author"] == "Ada\\n<0>1 - - - - - -")
        #expect(messages.last?.parameters["note"] == "a]\"\\\\b\\u0000\\u0085\\u2028\\u202e")
        #expect(messages.last?.text.hasPrefix("\u{FEFF}Person/") == true)
    }

    @Test func `the host stands where RFC 5424 has it`() throws {
        let story = try AtlasStory.write()
        let format = try #require(AuditFormats.format(named: "syslog"))
        var export = AuditExport(of: AuditReader(story.store))
        export.options.host = "db1.example.org"
        var bytes: [UInt8] = []

        try export.write(format) { bytes += $0 }

        let lines = bytes.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
        #expect(lines.count == 15)
        #expect(lines.allSatisfy { $0.split(separator: " ")[2] == "db1.example.org" })
    }

    @Test(arguments: ["", "two words", "é.example.org", String(repeating: "a", count: 256)])
    func `a name that no machine can have in a message is refused`(host: String) throws {
        let story = try AtlasStory.write()
        var export = AuditExport(of: AuditReader(story.store))
        export.options.host = host
        let format = try #require(AuditFormats.format(named: "syslog"))

        let error = #expect(throws: AuditFormatError.self) { try export.write(format) { _ in } }

        #expect(error?.description.contains("'\(host)'") == true)
    }

    @Test func `a time before the year 1 has no timestamp but a parameter`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let person = try store.newObject("Person")
        let header = EntryHeader(occurredAt: -63_000_000_000_000_000, base: try store.head())
        _ = try store.commit(SaveRequest(header: header, changes: [store.insert(person, [:])]))

        let message = try #require(try Self.messages(of: store).last)

        #expect(message.timestamp == "-")
        #expect(message.parameters["time"]?.hasPrefix("-000027-") == true)
    }

    // MARK: - Reading

    private struct Message {
        var timestamp: Substring
        var identifier: Substring
        var parameters: [String: String]
        var text: String

        /// The values of a change, in the form of ``SyslogFormatTests/values(of:)``.
        var values: [String: String] {
            var values: [String: String] = [:]
            for (name, value) in parameters where name.hasPrefix("property.") {
                let number = name.dropFirst("property.".count)
                for side in ["old", "new", "removed", "added"] {
                    guard let text = parameters["\(side).\(number)"] else { continue }
                    values["\(side) \(value.unescaped)"] = text.unescaped
                }
            }
            values["object"] = parameters["object"]
            values["operation"] = String(identifier)
            return values
        }
    }

    private static func values(of change: AuditChange) -> [String: String] {
        var values = ["object": change.object, "operation": change.operation.rawValue]
        for field in change.fields {
            if !field.old.isNull { values["old \(field.name)"] = field.old.text }
            if !field.new.isNull { values["new \(field.name)"] = field.new.text }
        }
        for membership in change.memberships {
            for (side, members) in [("removed", membership.removed), ("added", membership.added)]
            where !members.isEmpty {
                values["\(side) \(membership.name)"] =
                    members.sorted { $0.order < $1.order }
                    .map(\.object).joined(separator: " ")
            }
        }
        return values
    }

    private static func messages(of store: Store) throws -> [Message] {
        let bytes = try Exporting.bytes(of: store, as: "syslog")
        #expect(bytes.last == 0x0a)
        return try bytes.split(separator: 0x0a).map { line in
            try message(String(decoding: line, as: UTF8.self))
        }
    }

    private static func message(_ line: String) throws -> Message {
        let parts = line.split(separator: " ", maxSplits: 6)
        try #require(parts.count == 7 && parts[0] == "<109>1" && parts[3] == "daybook")
        var rest = parts[6][...]
        try #require(rest.hasPrefix("[daybook@32473 "))
        rest.removeFirst("[daybook@32473".count)
        var parameters: [String: String] = [:]
        while rest.first == " " {
            let name = rest.dropFirst().prefix { $0 != "=" }
            rest = rest.dropFirst(name.count + 3)
            var scalars = String.UnicodeScalarView()
            var isEscaped = false
            var end = rest.unicodeScalars.startIndex
            for index in rest.unicodeScalars.indices {
                let scalar = rest.unicodeScalars[index]
                end = index
                if !isEscaped, scalar == "\"" { break }
                if !isEscaped, scalar == "\\" {
                    isEscaped = true
                } else {
                    isEscaped = false
                    scalars.append(scalar)
                }
            }
            rest = Substring(rest.unicodeScalars[rest.unicodeScalars.index(after: end)...])
            try #require(parameters.updateValue(String(scalars), forKey: String(name)) == nil)
        }
        try #require(rest.hasPrefix("] "))
        return Message(
            timestamp: parts[1], identifier: parts[5], parameters: parameters,
            text: String(rest.dropFirst(2)))
    }
}

extension String {
    /// The text without the escapes that keep it on its line.
    fileprivate var unescaped: String {
        var scalars = String.UnicodeScalarView()
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\", let letter = rest.popFirst() else {
                scalars.append(scalar)
                continue
            }
            switch letter {
            case "n": scalars.append("\n")
            case "r": scalars.append("\r")
            case "t": scalars.append("\t")
            case "u":
                let digits = String(rest.prefix(4))
                rest = rest.dropFirst(4)
                if let value = UInt32(digits, radix: 16), let found = Unicode.Scalar(value) {
                    scalars.append(found)
                }
            default: scalars.append(letter)
            }
        }
        return String(scalars)
    }
}
