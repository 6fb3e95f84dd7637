/// When text is coloured.
enum ColorChoice: String, CaseIterable, Sendable {
    case auto
    case always
    case never

    /// Whether a stream gets colours: `auto` means on a terminal, unless `NO_COLOR` is set.
    func allows(_ descriptor: SystemCall.Descriptor) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto:
            SystemCall.environment("NO_COLOR") == nil
                && SystemCall.environment("TERM") != "dumb"
                && SystemCall.isTerminal(descriptor)
        }
    }
}

/// A style, named for its meaning rather than its colour.
enum Style: Sendable {
    case plain
    case heading
    case faint
    case added
    case removed
    case changed
    case name
    case failure

    fileprivate var code: String {
        switch self {
        case .plain: ""
        case .heading: "1"
        case .faint: "2"
        case .added: "32"
        case .removed: "31"
        case .changed: "33"
        case .name: "36"
        case .failure: "1;31"
        }
    }
}

/// Adds colours to text, or leaves it unchanged.
struct Palette: Sendable {
    let isColored: Bool

    func callAsFunction(_ text: String, _ style: Style) -> String {
        guard isColored, style != .plain, !text.isEmpty else { return text }
        return "\u{1B}[\(style.code)m\(text)\u{1B}[0m"
    }

    /// A sign that only says in colour what words say anyway: nothing without colours.
    func mark(_ sign: String, _ style: Style) -> String {
        isColored ? self(sign, style) : ""
    }
}
