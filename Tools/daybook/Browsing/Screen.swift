// The room of looking around: the whole screen, the pages on it, and what the keys do.

import CDaybookTerminal

/// The whole terminal.
struct Screen {
    /// A key: a character, or one of ``CDaybookTerminal``'s keys.
    typealias Key = Int32

    /// How a text looks.
    enum Look {
        case plain, faint, strong, name, added, changed, removed

        fileprivate var style: screen_style {
            switch self {
            case .plain: SCREEN_PLAIN
            case .faint: SCREEN_FAINT
            case .strong: SCREEN_STRONG
            case .name: SCREEN_NAME
            case .added: SCREEN_ADDED
            case .changed: SCREEN_CHANGED
            case .removed: SCREEN_REMOVED
            }
        }
    }

    /// Takes the terminal.
    ///
    /// - Parameter wantsColor: Whether colours may be shown.
    /// - Throws: ``ToolError`` when there is none, or nobody knows how it is driven.
    init(wantsColor: Bool) throws {
        guard SystemCall.isTerminal(.input), SystemCall.isTerminal(.output) else {
            throw ToolError.usage(
                "'browse' takes the whole terminal, and there is none. 'daybook log' and 'daybook show' "
                    + "print what it shows.")
        }
        guard screen_begin(wantsColor ? 1 : 0) == 0 else {
            throw ToolError.usage(
                "The kind of this terminal is not known: set TERM to one that is, such as 'xterm'.")
        }
    }

    /// Gives the terminal back.
    func end() { screen_end() }

    var rows: Int { Int(screen_rows()) }
    var columns: Int { Int(screen_columns()) }

    /// Begins a picture.
    func begin() { screen_erase() }

    /// Puts a text at a place, cut to a width; the rest of the width is blank. Whatever the text is made of, values or
    /// reasons why something failed, control characters in it are written out.
    func put(
        _ text: String, row: Int, column: Int, width: Int, _ look: Look = .plain,
        isReversed: Bool = false
    ) {
        guard row >= 0, row < rows, width > 0 else { return }
        screen_put(
            Int32(row), Int32(column), Int32(width),
            DisplayText.truncated(DisplayText.escaped(text), to: width), look.style,
            isReversed ? 1 : 0)
    }

    /// Shows the picture, with the cursor behind a text that is typed.
    func show(cursor: (row: Int, column: Int)? = nil) {
        screen_show(Int32(cursor?.row ?? -1), Int32(cursor?.column ?? 0))
    }

    /// Draws the next picture from nothing.
    func redraw() { screen_redraw() }

    /// The next key; nil when none comes for so many milliseconds.
    func key(within milliseconds: Int) -> Key? {
        let key = screen_key(Int32(milliseconds))
        return key == Int32(SCREEN_NO_KEY) ? nil : key
    }
}
