internal import DaybookJournalLog
internal import DaybookObjectModel
internal import Foundation

extension HTMLReport {
    /// The state of the journal: the verdict in words and, unfolded, its basis and how to check it. What is
    /// wrong is unfolded from the beginning.
    var standingSection: HTMLText {
        """
        <details class="standing \(look.name)"\(look.name == "bad" ? " open" : "")>
        <summary><h2 id="standing"><span class="sign" aria-hidden="true">\(look.sign)</span>\(title)</h2></summary>
        \(HTMLText(sentences.map { "<p>\($0)</p>" }, separator: "\n"))
        <div class="proof">
        <div><h3>The journal</h3>\(journal)</div>
        <div><h3>The checkpoint</h3>\(checkpoint)</div>
        </div>
        <p class="check">A page can be altered after it was written. Check the store itself:
        <code>\(command)</code></p>
        </details>
        """
    }

    private var look: (name: String, sign: String) {
        switch standing.verdict {
        case .unanchored, .anchored: ("open", "!")
        case .signed: ("good", "✓")
        case .refused: ("bad", "✗")
        }
    }

    private var title: HTMLText {
        switch standing.verdict {
        case .unanchored: "Chain checked; truncation is not excluded"
        case .anchored: "The journal goes on from the checkpoint; its signature was not checked"
        case .signed: "Verified: the journal goes on from the signed checkpoint"
        case .refused: "Not verified: the checkpoint does not fit"
        }
    }

    private var sentences: [HTMLText] {
        let chain: HTMLText = """
            The journal was read from end to end for this report: each of its \(scope.head.rawValue) \
            entries has the digest that was kept of it, and carries that of the one before.
            """
        return switch standing.verdict {
        case .unanchored:
            [
                """
                \(chain) Only a checkpoint kept elsewhere can show that the last entries were not cut \
                off, or everything from some entry on written anew, and this report was made \
                without one.
                """
            ]
        case .anchored:
            [
                "\(chain) \(covered)",
                """
                Anyone may have written the checkpoint: the report was made without the public key \
                that shows who signed it.
                """,
            ]
        case .signed: ["\(chain) \(covered) The signature fits the public key."]
        case .refused(let flaws): flaws.map { "\($0)" }
        }
    }

    /// The conclusion from a checkpoint that fits.
    private var covered: HTMLText {
        guard let checkpoint = standing.checkpoint else { return "" }
        let later = scope.head.rawValue - min(scope.head.rawValue, checkpoint.size)
        let rest: HTMLText =
            switch later {
            case 0: "It covers all entries there are."
            case 1: "The entry after them is not covered by it."
            default: "The \(later) entries after them are not covered by it."
            }
        return """
            None of the first \(checkpoint.size) entries was changed or cut off since the checkpoint \
            was made. \(rest)
            """
    }

    private var journal: HTMLText {
        var facts: [HTMLText] = []
        if let digest = standing.journal.digest, let recorded = standing.journal.recordedAt {
            let last: HTMLText =
                "\(scope.head.rawValue), recorded \(DateText.readable(recorded))"
            facts.append(Self.fact("Last entry", last))
            if tellsDigests {
                facts.append(Self.fact("Its digest", Self.code(digest.hexadecimal)))
            }
        }
        guard tellsDigests else {
            let reason: HTMLText = "left out: values that are not shown could be guessed from them"
            return Self.list(facts + [Self.fact("Digest and root", reason)])
        }
        facts.append(Self.fact("Root of the tree", Self.code(Self.base64(standing.journal.root))))
        return Self.list(facts)
    }

    private var checkpoint: HTMLText {
        guard let checkpoint = standing.checkpoint else { return "<p>None was given.</p>" }
        var facts = [
            Self.fact("Origin and size", "\(checkpoint.origin), \(checkpoint.size) entries")
        ]
        if tellsDigests {
            facts.append(Self.fact("Its root", Self.code(Self.base64(checkpoint.root))))
        }
        facts += standing.signatures.map { signature in
            Self.fact("Signature line", "\(signature.name), key \(signature.keyID)")
        }
        if let key = standing.key {
            facts.append(Self.fact("Public key", Self.code(key.description)))
        }
        return Self.list(facts)
    }

    /// Whether the page shows digests and roots.
    private var tellsDigests: Bool { scope.redaction.isEmpty }

    private static func list(_ facts: [HTMLText]) -> HTMLText {
        "<dl class=\"facts\">\(HTMLText(facts, separator: "\n"))</dl>"
    }

    private static func code(_ text: String) -> HTMLText {
        "<span class=\"code\">\(text)</span>"
    }

    private var command: String {
        "daybook verify \(storeName) --checkpoint FILE --key FILE"
    }

    private static func base64(_ digest: Digest) -> String {
        Data(digest.bytes).base64EncodedString()
    }
}
