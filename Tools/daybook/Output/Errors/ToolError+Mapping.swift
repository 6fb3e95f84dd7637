import DaybookAudit
import DaybookJournalLog
import DaybookNewFiles
import DaybookObjectModel
import DaybookPQ
import DaybookSnapshotStore

extension ToolError {
    /// The message and the exit code for an error of the layers below.
    init(_ error: any Error) {
        switch error {
        case let error as ToolError: self = error
        case let error as StoreError: self.init(error)
        case let error as JournalError: self.init(.unreadable, error.message)
        case let error as ProofError: self.init(ExitCode(error.code), error.message)
        case let error as QueryError: self.init(.usage, error.description)
        case let error as ModelError: self.init(.usage, error.description)
        case let error as NewFileError: self.init(.usage, error.description)
        case let error as PostgresError:
            self.init(ExitCode(error), error.description)
        case let error as SharedJournalError: self.init(StoreError(error))
        case let error as CoreDataError:
            self.init(.usage, error.message, details: error.problems)
        default: self.init(.usage, String(describing: error))
        }
    }

    private init(_ error: StoreError) {
        self.init(ExitCode(error.code), error.message, details: error.details)
    }
}

extension ExitCode {
    /// The exit code for a rejected key, checkpoint or proof.
    fileprivate init(_ code: ProofError.Code) {
        self =
            switch code {
            case .malformed: .usage
            case .unsigned, .badSignature, .badProof, .mismatch: .finding
            }
    }

    /// The exit code for an error of a server, or on the way to one.
    fileprivate init(_ error: PostgresError) {
        self =
            switch error.code {
            case .description: .usage
            // A schema of that name is there.
            case .refused: error.state == "42P06" ? .conflict : .usage
            case .unreachable, .late, .unexpected: .unreachable
            }
    }

    /// The exit code for an error of a store.
    fileprivate init(_ code: StoreError.Code) {
        self =
            switch code {
            case .notAStore, .newerFormat, .corrupt, .truncated, .missing,
                .permission,
                .unsupportedFileSystem, .inputOutput, .closed, .replaced:
                .unreadable
            case .conflict, .duplicate, .law, .undoBlocked, .diverged, .quarantined: .conflict
            case .digestMismatch: .unverifiable
            case .unreachable, .inDoubt, .unprotected: .unreachable
            default: .usage
            }
    }
}
