internal import DaybookPQ
internal import DaybookSnapshotStore

extension SharedJournalError {
    /// What a failure of the server means for a journal when nothing was done.
    ///
    /// - Parameter error: The failure.
    init(_ error: PostgresError) {
        self.init(Self.code(of: error), Self.message(of: error), cause: error)
    }

    /// What a failure of the server means when it is not known whether something was done.
    ///
    /// - Parameter error: The failure.
    init(during error: PostgresError) {
        switch error.code {
        case .unreachable, .late, .unexpected:
            self.init(
                .inDoubt, "It is not known whether the server has done it: \(error)", cause: error)
        case .description, .refused:
            self.init(error)
        }
    }

    /// Whether a server that could be reached could not do what it was asked for, and may not be able to for a while:
    /// too few resources, a lock that somebody holds, an operator, a fault of the system, or it only reads.
    var isTroubleOfServer: Bool {
        guard let state = (cause as? PostgresError)?.state else { return false }
        return state == "25006" || ["53", "55", "57", "58"].contains(state.prefix(2))
    }

    private static func code(of error: PostgresError) -> Code {
        switch (error.code, error.state ?? "") {
        case (.unreachable, _), (.late, _): .unreachable
        case (_, "DB006"): .unprotected
        case (_, "DB009"): .tooLarge
        // A standby, a conflict, too few resources, an operator, a fault of the system: another attempt may
        // succeed, here or on another server.
        case (_, "25006"): .unreachable
        case (_, let state) where ["08", "40", "53", "55", "57", "58"].contains(state.prefix(2)):
            .unreachable
        default: .refused
        }
    }

    private static func message(of error: PostgresError) -> String {
        switch error.state {
        case "DB006":
            "No standby has to confirm what the server writes. Set 'synchronous_standby_names' there, or "
                + "allow a server without standbys."
        case "26000", "42P05":
            "What was said on a connection does not stay with it: a pooler lends it out anew for each statement or "
                + "transaction. Connect to the server itself, or have the pooler lend connections by session: \(error)"
        default:
            switch error.code {
            case .unreachable, .late: "No server can be reached: \(error)"
            case .description: error.message
            case .refused, .unexpected: "The server refused: \(error)"
            }
        }
    }
}
