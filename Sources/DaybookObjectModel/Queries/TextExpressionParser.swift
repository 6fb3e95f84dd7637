/// A part of a regular expression.
indirect enum TextExpressionNode {
    /// One character of those that this expression describes.
    case character(String)
    /// `^`
    case start
    /// `$`
    case end
    /// One after the other.
    case sequence([TextExpressionNode])
    /// One of several.
    case choice([TextExpressionNode])
    /// So many times; without an end when the last is nil.
    case loop(TextExpressionNode, Int, Int?)
}

/// Takes a regular expression apart that Foundation's engine has accepted.
///
/// Every method returns nil where the expression holds what a ``TextAutomaton`` cannot decide.
struct TextExpressionParser {
    /// Deeper than anybody nests, and shallow enough for the stack.
    private static let depthMaximum = 100
    /// More times than a part is to be written out.
    private static let countMaximum = 10_000

    private let scalars: [Unicode.Scalar]
    private var place = 0
    private var depth = 0
    private var isCaseInsensitive: Bool {
        didSet { if isCaseInsensitive { ignoresCase = true } }
    }
    private var dotIsForAll = false
    /// Whether case is overlooked anywhere, so that one letter may be equal to several.
    private(set) var ignoresCase: Bool
    /// Whether a dot stands for line breaks, too, where the engine takes two characters for one.
    private(set) var hasDotForAll = false

    init(_ pattern: String, ignoringCase isCaseInsensitive: Bool) {
        scalars = Array(pattern.unicodeScalars)
        self.isCaseInsensitive = isCaseInsensitive
        ignoresCase = isCaseInsensitive
    }

    mutating func parse() -> TextExpressionNode? {
        guard let node = choice(), place == scalars.count else { return nil }
        return node
    }

    private var current: Unicode.Scalar? {
        place < scalars.count ? scalars[place] : nil
    }

    private mutating func accept(_ text: String) -> Bool {
        let wanted = text.unicodeScalars
        guard scalars[place...].starts(with: wanted) else { return false }
        place += wanted.count
        return true
    }

    private mutating func choice() -> TextExpressionNode? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMaximum else { return nil }
        var nodes: [TextExpressionNode] = []
        repeat {
            guard let node = sequence() else { return nil }
            nodes.append(node)
        } while accept("|")
        return nodes.count == 1 ? nodes[0] : .choice(nodes)
    }

    private mutating func sequence() -> TextExpressionNode? {
        var nodes: [TextExpressionNode] = []
        while let scalar = current, scalar != "|", scalar != ")" {
            guard let node = part(), let repeated = quantified(node) else { return nil }
            nodes.append(repeated)
        }
        return .sequence(nodes)
    }

    // MARK: - Quantifiers

    private mutating func quantified(_ node: TextExpressionNode) -> TextExpressionNode? {
        var node = node
        while let scalar = current {
            let bounds: (least: Int, most: Int?)
            switch scalar {
            case "*": bounds = (0, nil)
            case "+": bounds = (1, nil)
            case "?": bounds = (0, 1)
            case "{":
                place += 1
                guard let counts = counts() else { return nil }
                bounds = counts
            default: return node
            }
            if scalar != "{" { place += 1 }
            // Greedy or not makes no difference to a whole text; possessive does.
            if accept("+") { return nil }
            _ = accept("?")
            node = .loop(node, bounds.least, bounds.most)
        }
        return node
    }

    /// What stands between braces.
    private mutating func counts() -> (least: Int, most: Int?)? {
        guard let least = number() else { return nil }
        if accept("}") { return (least, least) }
        guard accept(",") else { return nil }
        if accept("}") { return (least, nil) }
        guard let most = number(), accept("}"), most >= least else { return nil }
        return (least, most)
    }

    private mutating func number() -> Int? {
        let start = place
        while let scalar = current, ("0"..."9").contains(scalar) { place += 1 }
        guard let number = Int(text(from: start)), number <= Self.countMaximum else { return nil }
        return number
    }

    // MARK: - Parts

    private mutating func part() -> TextExpressionNode? {
        let start = place
        guard let scalar = current else { return nil }
        place += 1
        switch scalar {
        case "(": return group()
        case "[": return set(from: start)
        case "\\": return escape(from: start)
        case "^": return .start
        case "$": return .end
        case ".":
            if dotIsForAll { hasDotForAll = true }
            return character(".")
        case "*", "+", "?", "{": return nil
        default:
            // Letters may be equal to several when case is overlooked.
            guard scalar.isASCII || !isCaseInsensitive else { return nil }
            return character(text(from: start).escapedForExpression)
        }
    }

    private mutating func group() -> TextExpressionNode? {
        let flags = (isCaseInsensitive, dotIsForAll)
        if accept("?") {
            if accept("<") {
                guard current != "=", current != "!" else { return nil }
                while let scalar = current, scalar != ">" { place += 1 }
                guard accept(">") else { return nil }
            } else if !accept(":") {
                guard acceptFlags() else { return nil }
                // Without a colon they hold to the end of the group around.
                if accept(")") { return .sequence([]) }
                guard accept(":") else { return nil }
            }
        }
        defer { (isCaseInsensitive, dotIsForAll) = flags }
        guard let node = choice(), accept(")") else { return nil }
        return node
    }

    /// `is` and the like.
    private mutating func acceptFlags() -> Bool {
        var isOn = true
        while let scalar = current, scalar != ":", scalar != ")" {
            place += 1
            switch scalar {
            case "i": isCaseInsensitive = isOn
            case "s": dotIsForAll = isOn
            case "-": isOn = false
            default: return false
            }
        }
        return true
    }

    /// A class in brackets, as it stands.
    private mutating func set(from start: Int) -> TextExpressionNode? {
        var open = 1
        // Where a bracket that closes would stand for itself.
        _ = accept("^")
        var first = place
        while open > 0 {
            guard let scalar = current else { return nil }
            place += 1
            switch scalar {
            case "[":
                open += 1
                _ = accept("^")
                first = place
            case "]" where place - 1 != first: open -= 1
            case "\\":
                guard current != "Q" else { return nil }
                place += 1
            default: break
            }
        }
        let set = text(from: start)
        // Sets compare single characters, but whether one is equal to several is another matter.
        guard !isCaseInsensitive || set.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return character(set)
    }

    private mutating func escape(from start: Int) -> TextExpressionNode? {
        guard let scalar = current else { return nil }
        place += 1
        switch scalar {
        case "d", "D", "w", "W", "s", "S", "h", "H", "v", "V", "t", "n", "r", "f", "a", "e": break
        case "p", "P",
            "x" where current == "{":
            while let scalar = current, scalar != "}" { place += 1 }
            guard accept("}") else { return nil }
        case "x": place += 2
        case "u": place += 4
        case "U": place += 8
        case _ where scalar.isASCII && !scalar.isLetterOrDigit: break
        default: return nil
        }
        guard place <= scalars.count else { return nil }
        return character(text(from: start))
    }

    private func character(_ pattern: String) -> TextExpressionNode {
        let flags = (isCaseInsensitive ? "i" : "") + (dotIsForAll ? "s" : "")
        return .character(flags.isEmpty ? pattern : "(?\(flags):\(pattern))")
    }

    private func text(from start: Int) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[start..<place])
        return String(text)
    }
}

extension Unicode.Scalar {
    /// Whether this is one of the letters and digits of ASCII, which mean other things behind a backslash.
    fileprivate var isLetterOrDigit: Bool {
        isASCII && (properties.isAlphabetic || ("0"..."9").contains(self))
    }
}

extension String {
    /// One character so that it stands for itself.
    fileprivate var escapedForExpression: String {
        unicodeScalars.allSatisfy { $0.isLetterOrDigit || !$0.isASCII } ? self : "\\" + self
    }
}
