/// A part of a regular expression.
indirect enum TextExpressionNode {
    /// One character that this expression matches.
    case character(String)
    /// `^`
    case start
    /// `$`
    case end
    /// A sequence.
    case sequence([TextExpressionNode])
    /// An alternative.
    case choice([TextExpressionNode])
    /// A repetition; without a maximum when the last is nil.
    case loop(TextExpressionNode, Int, Int?)
}

/// Parses a regular expression that Foundation's engine has accepted.
///
/// Every method returns nil when the expression contains a part that a ``TextAutomaton`` cannot
/// decide.
struct TextExpressionParser {
    /// Deeper than real nesting, and shallow enough for the stack.
    private static let depthMaximum = 100
    /// The maximal number of copies of a part.
    private static let countMaximum = 10_000

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0
    private var isCaseInsensitive: Bool {
        didSet { if isCaseInsensitive { ignoresCase = true } }
    }
    private var dotIsForAll = false
    /// Whether case is ignored anywhere, so that one letter may equal several.
    private(set) var ignoresCase: Bool
    /// Whether a dot also matches line breaks, where the engine treats two characters as one.
    private(set) var hasDotForAll = false

    init(_ pattern: String, ignoringCase isCaseInsensitive: Bool) {
        scalars = Array(pattern.unicodeScalars)
        self.isCaseInsensitive = isCaseInsensitive
        ignoresCase = isCaseInsensitive
    }

    mutating func parse() -> TextExpressionNode? {
        guard let node = choice(), index == scalars.count else { return nil }
        return node
    }

    private var current: Unicode.Scalar? {
        index < scalars.count ? scalars[index] : nil
    }

    private mutating func accept(_ text: String) -> Bool {
        let wanted = text.unicodeScalars
        guard scalars[index...].starts(with: wanted) else { return false }
        index += wanted.count
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
                index += 1
                guard let counts = counts() else { return nil }
                bounds = counts
            default: return node
            }
            if scalar != "{" { index += 1 }
            // Greediness makes no difference for a whole text; possessiveness does.
            if accept("+") { return nil }
            _ = accept("?")
            node = .loop(node, bounds.least, bounds.most)
        }
        return node
    }

    /// The content of braces.
    private mutating func counts() -> (least: Int, most: Int?)? {
        guard let least = number() else { return nil }
        if accept("}") { return (least, least) }
        guard accept(",") else { return nil }
        if accept("}") { return (least, nil) }
        guard let most = number(), accept("}"), most >= least else { return nil }
        return (least, most)
    }

    private mutating func number() -> Int? {
        let start = index
        while let scalar = current, ("0"..."9").contains(scalar) { index += 1 }
        guard let number = Int(text(from: start)), number <= Self.countMaximum else { return nil }
        return number
    }

    // MARK: - Parts

    private mutating func part() -> TextExpressionNode? {
        let start = index
        guard let scalar = current else { return nil }
        index += 1
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
            // A letter may equal several when case is ignored.
            guard scalar.isASCII || !isCaseInsensitive else { return nil }
            return character(text(from: start).escapedForExpression)
        }
    }

    private mutating func group() -> TextExpressionNode? {
        let flags = (isCaseInsensitive, dotIsForAll)
        if accept("?") {
            if accept("<") {
                guard current != "=", current != "!" else { return nil }
                while let scalar = current, scalar != ">" { index += 1 }
                guard accept(">") else { return nil }
            } else if !accept(":") {
                guard acceptFlags() else { return nil }
                // Without a colon they apply to the end of the enclosing group.
                if accept(")") { return .sequence([]) }
                guard accept(":") else { return nil }
            }
        }
        defer { (isCaseInsensitive, dotIsForAll) = flags }
        guard let node = choice(), accept(")") else { return nil }
        return node
    }

    /// Flags such as `is`.
    private mutating func acceptFlags() -> Bool {
        var isOn = true
        while let scalar = current, scalar != ":", scalar != ")" {
            index += 1
            switch scalar {
            case "i": isCaseInsensitive = isOn
            case "s": dotIsForAll = isOn
            case "-": isOn = false
            default: return false
            }
        }
        return true
    }

    /// A class in brackets, as written.
    private mutating func set(from start: Int) -> TextExpressionNode? {
        var open = 1
        // Here a closing bracket would stand for itself.
        _ = accept("^")
        var first = index
        while open > 0 {
            guard let scalar = current else { return nil }
            index += 1
            switch scalar {
            case "[":
                open += 1
                _ = accept("^")
                first = index
            case "]" where index - 1 != first: open -= 1
            case "\\":
                guard current != "Q" else { return nil }
                index += 1
            default: break
            }
        }
        let set = text(from: start)
        // Sets compare single characters, but one character may equal several.
        guard !isCaseInsensitive || set.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return character(set)
    }

    private mutating func escape(from start: Int) -> TextExpressionNode? {
        guard let scalar = current else { return nil }
        index += 1
        switch scalar {
        case "d", "D", "w", "W", "s", "S", "h", "H", "v", "V", "t", "n", "r", "f", "a", "e": break
        case "p", "P",
            "x" where current == "{":
            while let scalar = current, scalar != "}" { index += 1 }
            guard accept("}") else { return nil }
        case "x": index += 2
        case "u": index += 4
        case "U": index += 8
        case _ where scalar.isASCII && !scalar.isLetterOrDigit: break
        default: return nil
        }
        guard index <= scalars.count else { return nil }
        return character(text(from: start))
    }

    private func character(_ pattern: String) -> TextExpressionNode {
        let flags = (isCaseInsensitive ? "i" : "") + (dotIsForAll ? "s" : "")
        return .character(flags.isEmpty ? pattern : "(?\(flags):\(pattern))")
    }

    private func text(from start: Int) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[start..<index])
        return String(text)
    }
}

extension Unicode.Scalar {
    /// Whether this is an ASCII letter or digit, which has another meaning after a backslash.
    fileprivate var isLetterOrDigit: Bool {
        isASCII && (properties.isAlphabetic || ("0"..."9").contains(self))
    }
}

extension String {
    /// One character, escaped to stand for itself.
    fileprivate var escapedForExpression: String {
        unicodeScalars.allSatisfy { $0.isLetterOrDigit || !$0.isASCII } ? self : "\\" + self
    }
}
