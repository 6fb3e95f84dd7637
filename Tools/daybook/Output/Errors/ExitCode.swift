/// The result of the tool for its caller.
///
/// The numbers are a contract with scripts: they never change their meaning.
enum ExitCode: Int32, CaseIterable, Sendable {
    /// All went well and there was nothing to report.
    case success = 0
    /// The command did its work and found a difference or a fault.
    case finding = 1
    /// The command line or the input was wrong, or the system refused to take or give data.
    case usage = 2
    /// The store cannot be read, is not a store, or is damaged.
    case unreadable = 3
    /// Something that was to be checked cannot be checked.
    case unverifiable = 4
    /// The request contradicts the present state of the store.
    case conflict = 5
    /// No server was reached, or none has confirmed what it was asked to do.
    case unreachable = 6

    /// The meaning of the code if a command does not define it more exactly.
    var meaning: String {
        switch self {
        case .success: "Fine."
        case .finding: "A difference or a finding."
        case .usage: "Wrong usage or bad input."
        case .unreadable: "The store is unreadable or corrupt."
        case .unverifiable: "Not verifiable."
        case .conflict: "A conflict."
        case .unreachable: "No server was reached, or none has confirmed what was done."
        }
    }
}
