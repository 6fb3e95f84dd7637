internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

/// The page of the audit report around its records.
///
/// ```
/// head      policy, style
/// header    what the report is of, and how it stands
/// main      empty views, which the script fills
/// blocks    the records as lines of JSON
/// totals    what must be there, so that a file that was cut off is noticed
/// script
/// ```
struct HTMLReport: Sendable {
    /// The subject of the report.
    let scope: AuditScope
    /// The state of the journal.
    let standing: ReportStanding
    /// What was called otherwise.
    private let otherNames: OtherNames

    /// Before the lines of a block.
    static let blockOpening = "<script type=\"application/jsonl\" class=\"entries\">\n"
    /// After them.
    static let blockClosing = "</script>\n"

    init(_ scope: AuditScope, standing: ReportStanding) throws {
        self.scope = scope
        self.standing = standing
        otherNames = OtherNames(try scope.store.modelHistory(), now: scope.schema)
    }

    /// Everything before the records.
    func opening(_ keptBack: KeptBack) -> HTMLText {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="\(policy)">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="referrer" content="no-referrer">
        <meta name="color-scheme" content="light dark">
        <meta name="generator" content="Daybook">
        <title>Audit report: \(storeName)</title>
        <style>\(HTMLText(trusted: Self.style))</style>
        <noscript><style>\(HTMLText(trusted: Self.styleWithoutScript))</style></noscript>
        </head>
        <body>
        <a class="skip" href="#main">Skip to the report</a>
        <header>
        <p class="kind">\(isLive ? "Live audit report" : "Audit report")</p>
        <h1>\(storeName)</h1>
        \(facts(keptBack))
        \(standingSection)
        </header>
        \(Self.views)
        <script type="application/json" id="scope">\(HTMLText(trusted: scopeJSON))</script>

        """
    }

    /// Everything after the records.
    func closing(_ totals: (entries: Int, changes: Int)) -> HTMLText {
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            writer.name("entries")
            writer.integer(totals.entries)
            writer.name("changes")
            writer.integer(totals.changes)
        }
        return """
            <script type="application/json" id="totals">\(HTMLText(trusted: writer.text))</script>
            <script>\(HTMLText(trusted: Self.script))</script>
            </body>
            </html>

            """
    }

    /// The name of the file, which tells people more than the identifier.
    var storeName: String {
        URL(fileURLWithPath: scope.store.path).lastPathComponent
    }

    // MARK: - Facts

    private func facts(_ keptBack: KeptBack) -> HTMLText {
        let range = scope.filter.range
        let head = scope.head.rawValue
        let entries: HTMLText =
            if head == 0 || range.lowerBound.rawValue > head {
                "none of \(head)"
            } else {
                "\(range.lowerBound.rawValue) to \(range.upperBound.rawValue) of \(head)"
            }
        return """
            <dl class="facts">
            \(Self.fact("Store", "<span class=\"code\">\(scope.storeIdentifier.uuidString)</span>"))
            \(Self.fact("Entries looked at", entries))
            \(Self.fact("Filters", filters))
            \(Self.fact("Kept back", keptBack.text))
            </dl>
            """
    }

    static func fact(_ name: HTMLText, _ value: HTMLText) -> HTMLText {
        "<div><dt>\(name)</dt><dd>\(value)</dd></div>"
    }

    private var filters: HTMLText {
        let filter = scope.filter
        var parts: [HTMLText] = []
        func add(_ name: String, _ values: some Sequence<String>) {
            let sorted = values.sorted()
            guard !sorted.isEmpty else { return }
            parts.append("\(name) \(sorted.map { "“\($0)”" }.joined(separator: " or "))")
        }
        add("author", filter.authors)
        add("entity", filter.entities)
        add("object", filter.objects)
        add("property", filter.properties)
        add("operation", filter.operations.map(\.rawValue))
        add("text", filter.texts)
        add("note", filter.notes)
        add(
            "information",
            filter.info.flatMap { key, texts in texts.isEmpty ? [key] : texts.map { "\(key)=\($0)" }
            })
        if filter.earliest != .min {
            parts.append("from \(DateText.readable(filter.earliest))")
        }
        if filter.latest != .max {
            parts.append("up to \(DateText.readable(filter.latest))")
        }
        return parts.isEmpty ? "none: everything is shown" : HTMLText(parts, separator: "; ")
    }

    /// Data for the script: which values are names of objects, and which entries may be missing.
    private var scopeJSON: String {
        var writer = JSONWriter(capacity: 1024)
        writer.object { writer in
            if isLive {
                writer.name("isLive")
                writer.bool(true)
                // The entry after which new ones are new, also where the page has none.
                writer.name("head")
                writer.integer(scope.head.rawValue)
            }
            writer.name("isFiltered")
            writer.bool(scope.filter.isSelective)
            writer.name("startsLate")
            writer.bool(scope.filter.range.lowerBound.rawValue > 1)
            writer.name("last")
            writer.integer(scope.filter.range.upperBound.rawValue)
            writer.name("references")
            append(to: &writer) { $0.relationship != nil }
            writer.name("properties")
            append(to: &writer) { $0.isPersistent }
            otherNames.append(to: &writer)
            writer.name("display")
            writer.object { writer in
                for entity in scope.schema.entities {
                    guard let property = entity.displayProperty,
                        !scope.redaction.hides(property.number)
                    else { continue }
                    writer.name(entity.name)
                    writer.string(property.name)
                }
            }
        }
        return String(decoding: writer.bytes.escapedForScript, as: UTF8.self)
    }

    /// Writes the names of properties by entity.
    private func append(
        to writer: inout JSONWriter, where isWanted: (SchemaProperty) -> Bool
    ) {
        writer.object { writer in
            for entity in scope.schema.entities where !entity.isAbstract {
                writer.name(entity.name)
                writer.array { writer in
                    for property in entity.properties where isWanted(property) {
                        writer.string(property.name)
                    }
                }
            }
        }
    }
}

extension DateText {
    /// The time of an entry for people: `2011-12-15 08:30:00 UTC`.
    static func readable(_ microseconds: Int64) -> String {
        text(microseconds: microseconds).replacing("T", with: " ").replacing("Z", with: " UTC")
    }
}

extension KeptBack {
    /// The count in words.
    fileprivate var text: HTMLText {
        func text(_ count: Int, _ what: String) -> String? {
            guard count > 0 else { return nil }
            let number = count.magnitude.grouped
            return "\(number) \(count == 1 ? "value" : "values") of confidential properties \(what)"
        }
        let parts = [text(omitted, "left out"), text(hashed, "shown as keyed hashes")]
            .compactMap(\.self)
        return parts.isEmpty ? "no value" : "\(parts.joined(separator: "; "))"
    }
}

// MARK: - Policy

extension HTMLReport {
    /// Nothing is loaded, sent or run except the style and the script in the page, and the entries that are
    /// new to one that is live.
    private var policy: HTMLText {
        isLive ? "\(Self.policy); connect-src 'self'" : Self.policy
    }

    private var isLive: Bool { scope.options.isLive }

    private static let policy: HTMLText = """
        default-src 'none'; style-src \(source(of: style)) \(source(of: styleWithoutScript)); \
        script-src \(source(of: script)); base-uri 'none'; form-action 'none'
        """

    private static func source(of content: String) -> HTMLText {
        let hash = Data(Digest.of(Array(content.utf8)).bytes).base64EncodedString()
        return HTMLText(trusted: "'sha256-\(hash)'")
    }
}
