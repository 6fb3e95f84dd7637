internal import Foundation
internal import JournalLog
internal import ObjectModel

extension HTMLReport {
    /// How the journal stands: the verdict in words, what it rests on, and how to check it.
    var standingSection: HTMLText {
        """
        <section class="standing \(look.name)" aria-labelledby="standing">
        <h2 id="standing"><span class="sign" aria-hidden="true">\(look.sign)</span>\(title)</h2>
        \(HTMLText(sentences.map { "<p>\($0)</p>" }, separator: "\n"))
        <dl class="facts proof">
        \(HTMLText(proof, separator: "\n"))
        </dl>
        <p class="check">A page can be altered after it was written. Check the store itself:
        <code>\(command)</code></p>
        </section>
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
            Every entry looked at was read with its digest checked, and each one carries the digest \
            of the one before.
            """
        return switch standing.verdict {
        case .unanchored:
            [
                """
                \(chain) That the last entries were not cut off, or everything from some entry on \
                written anew, can be told only by a checkpoint kept elsewhere, and this report was \
                made without one.
                """
            ]
        case .anchored:
            [
                "\(chain) \(covered)",
                """
                Anybody may have written the checkpoint: the report was made without the public key \
                that shows who signed it.
                """,
            ]
        case .signed: ["\(chain) \(covered) The signature fits the public key."]
        case .refused(let flaws): flaws.map { "\($0)" }
        }
    }

    /// What a checkpoint that fits shows.
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

    private var proof: [HTMLText] {
        var facts: [HTMLText] = []
        func add(_ name: HTMLText, _ value: HTMLText, isLong: Bool = true) {
            facts.append(
                isLong
                    ? Self.fact(name, "<span class=\"code\">\(value)</span>")
                    : Self.fact(name, value))
        }
        if let digest = standing.digest, let recorded = standing.recordedAt {
            add(
                "Last entry",
                "\(scope.head.rawValue), recorded \(DateText.readable(recorded))",
                isLong: false)
            add("Its digest", "\(digest.hexadecimal)")
        }
        add("Root of the tree", "\(Self.base64(standing.root))")
        guard let checkpoint = standing.checkpoint else { return facts }
        add("Checkpoint", "\(checkpoint.origin), \(checkpoint.size) entries", isLong: false)
        add("Its root", "\(Self.base64(checkpoint.root))")
        for signature in standing.signatures {
            add("Signature line", "\(signature.name), key \(signature.keyID)", isLong: false)
        }
        if let key = standing.key { add("Public key", "\(key.description)") }
        return facts
    }

    private var command: String {
        "daybook verify \(storeName) --checkpoint FILE --key FILE"
    }

    private static func base64(_ digest: Digest) -> String {
        Data(digest.bytes).base64EncodedString()
    }
}
