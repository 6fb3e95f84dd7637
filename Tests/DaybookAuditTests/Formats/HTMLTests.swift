import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The audit report as a file. `Tools/check-exports/html` checks it in a browser.
@Suite struct HTMLTests {
    @Test func `the records of a report are those of the native export`() throws {
        let story = try AtlasStory.write()

        let page = try Page(of: story.store)

        #expect(
            page.records == String(decoding: try Exporting.bytes(of: story.store), as: UTF8.self))
        #expect(page.totals == #"{"entries":10,"changes":14}"#)
    }

    @Test func `a report of the same journal is the same`() throws {
        let (story, again) = (try AtlasStory.write(), try AtlasStory.write())

        let first = try Page(of: story.store)
        let second = try Page(of: again.store)

        #expect(first.html == second.html)
    }

    @Test func `a long journal stands in several blocks`() throws {
        let temporary = try TemporaryStore(Self.model)
        let text = String(repeating: "long ", count: 5_000)
        for _ in 0..<14 { try Self.insert(text, into: temporary.store) }

        let page = try Page(of: temporary.store)

        #expect(page.blocks.count == 3)
        #expect(page.records.split(separator: "\n").count == 15)
    }

    @Test func `an entry that a filter does not want is not in the report, and the filter is told`()
        throws
    {
        let story = try AtlasStory.write()
        var filter = AuditFilter()
        filter.authors = ["Ada"]
        filter.entities = ["Subdivision"]

        let page = try Page(of: story.store, matching: filter)

        #expect(page.records.split(separator: "\n").count == 1)
        #expect(page.records.contains(#""Rhône""#))
        #expect(page.html.contains("author “Ada”; entity “Subdivision”"))
        #expect(page.html.contains(#""isFiltered":true"#))
    }

    @Test func `a range without entries makes a report without records`() throws {
        let story = try AtlasStory.write()
        var filter = AuditFilter()
        filter.range = SequenceNumber(900)...SequenceNumber(999)

        let page = try Page(of: story.store, matching: filter)

        #expect(page.blocks.isEmpty)
        #expect(page.totals == #"{"entries":0,"changes":0}"#)
        #expect(page.html.contains("none of 10"))
    }

    // MARK: - Traps

    private static let traps = [
        "<script>alert(1)</script>", "</script><script>alert(2)</script>", "<!--<script>", "<!--",
        "line\u{2028}separator\u{2029}", "\u{0}\u{7}\u{1b}", "user\u{202e}gpj.exe", "\"'&<>",
        "</SCRIPT\t>", "]]>", "â\u{80}¨",
    ]

    @Test(arguments: traps)
    func `a value stays text`(trap: String) throws {
        let harmless = try TemporaryStore(Self.model)
        try Self.insert("harmless", into: harmless.store, author: "somebody")
        let temporary = try TemporaryStore(Self.model)
        try Self.insert(trap, into: temporary.store, author: trap)

        let page = try Page(of: temporary.store)

        // Only the texts differ: there is no new element, comment or section.
        let expected = try Page(of: harmless.store)
        #expect(page.tags == expected.tags)
        #expect(!page.html.unicodeScalars.contains { $0 == "\u{2028}" || $0 == "\u{2029}" })
        let line = try #require(page.records.split(separator: "\n").last)
        let record = try JSONValue(parsing: String(line))
        #expect(record["author"] == .string(trap))
        guard case .array(let changes) = record["changes"] else {
            Issue.record("the record has no changes")
            return
        }
        #expect(changes.first?["new"]?["title"] == .string(trap))
    }

    @Test func `what a filter asks for is escaped, and what cannot be seen is named`() throws {
        let story = try AtlasStory.write()
        var filter = AuditFilter()
        filter.texts = ["<b>\u{202e}&\"'\u{7}"]

        let page = try Page(of: story.store, matching: filter)

        #expect(page.html.contains("text “&lt;b&gt;[U+202E]&amp;&quot;&#39;[U+0007]”"))
    }

    @Test func `a report allows its own style and script and nothing else`() throws {
        let story = try AtlasStory.write()

        let page = try Page(of: story.store)

        let styles = page.all(/<style>(.*?)<\/style>/)
        let scripts = page.all(/<script>(.*?)<\/script>/)
        try #require(styles.count == 2 && scripts.count == 1)
        let hashes = (styles + scripts).map { text in
            "'sha256-\(Data(Digest.of(Array(text.utf8)).bytes).base64EncodedString())'"
        }
        let policy = """
            default-src 'none'; style-src \(hashes[0]) \(hashes[1]); script-src \(hashes[2]); \
            base-uri 'none'; form-action 'none'
            """
        #expect(page.html.contains("Content-Security-Policy\" content=\"\(policy)\""))
        #expect(page.all(/((?:src|href|srcset|action)="(?!#)[^"]*)/).isEmpty)
        #expect(!page.html.contains("url(") && !page.html.contains("@import"))
        #expect(!page.html.contains("innerHTML") && !page.html.contains("http://www.w3.org/1999"))
    }

    @Test func `each file of the script, the style and the views stands in the page once`() throws {
        let story = try AtlasStory.write()
        let folder = Fixture.folder.deletingLastPathComponent()
            .appendingPathComponent("Sources/CDaybookAuditFiles/report")

        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)

        let page = try Page(of: story.store)

        #expect(Set(files.map(\.pathExtension)) == ["js", "css", "html"])
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            // The page omits the last line end of the script and of each style.
            let parts = page.html.split(
                separator: text.dropLast(), omittingEmptySubsequences: false)
            #expect(parts.count == 2, "\(file.lastPathComponent)")
        }
    }

    @Test func `the page is told what was called otherwise, and before which entry`() throws {
        let temporary = try TemporaryStore(Self.model)
        try Self.insert("Home", into: temporary.store)
        let before = try Page(of: temporary.store)
        let sheet = EntityDescription(
            name: "Sheet",
            attributes: [
                AttributeDescription(
                    name: "heading", type: .string, renamingIdentifier: "title"),
                AttributeDescription(name: "secret", type: .string, isConfidential: true),
            ], renamingIdentifier: "Page")
        _ = try Store.migrate(
            at: temporary.path, to: ManagedObjectModel(entities: [sheet]), options: .counting())

        let behind = try Page(of: temporary.store)
        let store = try TestStore.open(at: temporary.path, options: .counting())
        let after = try Page(of: store)
        try store.close()

        #expect(!before.html.contains(#""names":"#))
        #expect(
            after.html.contains(
                #""names":[{"before":3,"entities":{"Page":{"name":"Sheet","#
                    + #""properties":{"title":"heading"}}}},{"entities":{}}]"#))
        // Whoever has the older model says everything in its words.
        #expect(
            behind.html.contains(
                #""names":[{"before":3,"entities":{}},{"entities":{"Sheet":{"name":"Page","#
                    + #""properties":{"heading":"title"}}}}]"#))
    }

    // MARK: - Confidential

    @Test func `how much is kept back stands before the records`() throws {
        let temporary = try TemporaryStore(Self.model)
        try Self.insert("seen", into: temporary.store, secret: "hush-1")
        try Self.insert("seen", into: temporary.store, secret: "hush-2")

        let omitted = try Page(of: temporary.store)
        let hashed = try Page(
            of: temporary.store,
            confidentiality: Confidentiality(.hash(secret: [UInt8](repeating: 1, count: 16))))
        let shown = try Page(of: temporary.store, confidentiality: .none)

        #expect(omitted.html.contains("2 values of confidential properties left out"))
        #expect(!omitted.html.contains("hush-1") && !omitted.html.contains("hush-2"))
        #expect(hashed.html.contains("2 values of confidential properties shown as keyed hashes"))
        #expect(!hashed.html.contains("hush-2"))
        #expect(shown.html.contains("<dd>no value</dd>") && shown.html.contains("hush-2"))
    }

    @Test func `hashes are counted also of what was called otherwise`() throws {
        let temporary = try TemporaryStore(Self.model)
        try Self.insert("seen", into: temporary.store, secret: "hush-1")
        let renamed = AttributeDescription(
            name: "mystery", type: .string, isConfidential: true, renamingIdentifier: "secret")
        let sheet = EntityDescription(
            name: "Sheet",
            attributes: [AttributeDescription(name: "title", type: .string), renamed],
            renamingIdentifier: "Page")
        _ = try Store.migrate(
            at: temporary.path, to: ManagedObjectModel(entities: [sheet]), options: .counting())
        let store = try TestStore.open(at: temporary.path, options: .counting())

        let page = try Page(
            of: store,
            confidentiality: Confidentiality(.hash(secret: [UInt8](repeating: 1, count: 16))))
        try store.close()

        #expect(page.html.contains("1 value of confidential properties shown as keyed hashes"))
    }

    // MARK: - Making

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Page",
            attributes: [
                AttributeDescription(name: "title", type: .string),
                AttributeDescription(name: "secret", type: .string, isConfidential: true),
            ])
    ])

    private static func insert(
        _ title: String, into store: Store, author: String? = nil, secret: String? = nil
    ) throws {
        var values: [String: Value] = ["title": .string(title)]
        if let secret { values["secret"] = .string(secret) }
        let page = try store.newObject("Page")
        let header = EntryHeader(
            kind: .save, author: author, note: author, context: author, base: try store.head())
        try store.commit(SaveRequest(header: header, changes: [store.insert(page, values)]))
    }
}

/// A report taken apart.
struct Page {
    let html: String

    init(
        of store: Store, matching filter: AuditFilter = AuditFilter(),
        confidentiality: Confidentiality = .standard, options: AuditOptions = AuditOptions()
    ) throws {
        var export = AuditExport(of: AuditReader(store))
        export.filter = filter
        export.confidentiality = confidentiality
        export.options = options
        var bytes: [UInt8] = []
        try export.write(HTMLFormat()) { bytes += $0 }
        html = try #require(String(validating: bytes, as: UTF8.self))
    }

    /// The groups of a pattern at every match.
    func all(_ pattern: Regex<(Substring, Substring)>) -> [String] {
        html.matches(of: pattern.dotMatchesNewlines()).map { String($0.output.1) }
    }

    /// The blocks of records.
    var blocks: [String] {
        all(/<script type="application\/jsonl" class="entries">\n(.*?)<\/script>/)
    }

    /// The lines in all blocks, without what was escaped for HTML.
    var records: String {
        blocks.joined().replacing("\\u003c", with: "<").replacing("\\u2028", with: "\u{2028}")
            .replacing("\\u2029", with: "\u{2029}")
    }

    /// The totals.
    var totals: String? {
        all(/<script type="application\/json" id="totals">(.*?)<\/script>/).first
    }

    /// The tags and comments, with their offsets, as an HTML parser sees them.
    var tags: [String] { all(/(<[!\/a-zA-Z][^\s>]*)/) }

    /// The section on the state of the journal, without line breaks.
    var standing: String {
        let text = all(/(<details class="standing.*?<\/details>)/).first ?? ""
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
