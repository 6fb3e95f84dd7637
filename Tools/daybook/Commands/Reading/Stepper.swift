import CDaybookTerminal
import DaybookAudit
import DaybookJournalLog

/// Shows entries one by one and waits for a key after each.
struct Stepper {
    private let console: Console
    private let layout = EntryLayout(showsChanges: true)
    private var listing: Listing
    /// The number of entries to show without waiting; nil for all.
    private var free: UInt64? = 0

    /// - Throws: ``ToolError`` when there is no terminal to read keys from.
    init(_ console: Console) throws {
        guard SystemCall.isTerminal(.input) else {
            throw ToolError.usage("'--step' needs a terminal on standard input to read keys from.")
        }
        guard console.format == .text else {
            throw ToolError.usage("'--step' shows entries as text: leave out '--output'.")
        }
        self.console = console
        listing = Listing(console)
    }

    /// Shows an entry.
    mutating func show(_ record: AuditRecord) throws {
        try layout.append(record, to: &listing, console)
    }

    /// Waits for the user.
    ///
    /// - Parameters:
    ///   - sequence: The entry shown.
    ///   - last: The last entry.
    /// - Returns: Whether to go on.
    /// - Throws: ``ToolError`` when the output cannot be written.
    mutating func wait(after sequence: SequenceNumber, of last: SequenceNumber) throws -> Bool {
        guard let steps = free else { return true }
        guard steps == 0 else {
            free = steps - 1
            return true
        }
        terminal_keys_begin()
        defer { terminal_keys_end() }
        try console.ask("entry \(sequence) of \(last): Enter next, n N, c continue, q quit ")
        defer { console.endAsking() }
        while true {
            switch terminal_key() {
            case Key.newline, Key.carriageReturn, Key.space: return true
            case Key.c:
                free = nil
                return true
            case Key.n:
                guard let count = try number() else { continue }
                free = count - 1
                return true
            case Key.q, Key.interrupt, Key.endOfInput, Key.closed: return false
            default: continue
            }
        }
    }

    /// Reads digits up to Enter; nil when there are none.
    private func number() throws -> UInt64? {
        try console.ask("n ")
        var number: UInt64 = 0
        while true {
            let key = terminal_key()
            switch key {
            case Key.zero...Key.nine:
                try console.ask(String(key - Key.zero))
                let (next, isTooLarge) = number.multipliedReportingOverflow(by: 10)
                number = isTooLarge ? .max : next &+ UInt64(key - Key.zero)
            case Key.space where number == 0: continue
            case Key.newline, Key.carriageReturn: return number == 0 ? nil : number
            case Key.interrupt, Key.endOfInput, Key.closed: return nil
            default: continue
            }
        }
    }

    private enum Key {
        static let newline: Int32 = 0x0A
        static let carriageReturn: Int32 = 0x0D
        static let space: Int32 = 0x20
        static let zero: Int32 = 0x30
        static let nine: Int32 = 0x39
        static let c: Int32 = 0x63
        static let n: Int32 = 0x6E
        static let q: Int32 = 0x71
        /// Control-C, which counts as a key while keys are read.
        static let interrupt: Int32 = 0x03
        /// Control-D.
        static let endOfInput: Int32 = 0x04
        /// The result of reading when there are no more keys.
        static let closed: Int32 = -1
    }
}
