internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookNewFiles
package import DaybookObjectModel

extension StoreError {
    static func notAStore(_ path: String, cause: (any Error)? = nil) -> StoreError {
        StoreError(.notAStore, "'\(path)' is not a Daybook store.", cause: cause)
    }

    static func otherFormat(_ path: String, _ found: UInt32) -> StoreError {
        let words =
            "'\(path)' says that it has format \(found), and this version of Daybook reads format "
            + "\(StoreLayout.format)"
        return found > StoreLayout.format
            ? StoreError(.newerFormat, "\(words). Use a newer Daybook.")
            : .corrupt(words)
    }

    static func exists(_ path: String) -> StoreError {
        StoreError(
            .exists, "'\(path)' exists already and is left as it is. Choose another path.")
    }

    static func corrupt(_ what: String, cause: (any Error)? = nil) -> StoreError {
        let reason = cause.map { ": \($0)" } ?? ""
        let end = reason.hasSuffix(".") ? "" : "."
        return StoreError(
            .corrupt,
            "\(what)\(reason)\(end) Run 'daybook verify' to see how far the damage goes.",
            cause: cause)
    }

    static func rowUnreadable(_ object: String, cause: (any Error)?) -> StoreError {
        .corrupt("The row of \(object) cannot be read", cause: cause)
    }

    static func entryUnreadable(
        _ sequence: SequenceNumber, cause: (any Error)?
    ) -> StoreError {
        .corrupt("Entry \(sequence) cannot be decoded", cause: cause)
    }

    static func noSuchEntry(_ sequence: SequenceNumber, head: SequenceNumber) -> StoreError {
        StoreError(
            .noSuchEntry,
            head == .zero
                ? "There is no entry \(sequence): the journal is empty."
                : "There is no entry \(sequence): the journal has entries 1 to \(head).")
    }

    package static func conflict(_ conflicts: [MergeConflict], in schema: Schema) -> StoreError {
        let conflicts = conflicts.named(in: schema)
        let count = conflicts.count == 1 ? "1 conflict" : "\(conflicts.count) conflicts"
        return StoreError(
            .conflict,
            "Nothing was saved: \(count) with changes saved meanwhile. Refresh what is in "
                + "conflict, or save with a merge policy.",
            conflicts: conflicts, details: conflicts.map(\.description))
    }

    package static func untoldConflicts(
        _ conflicts: [MergeConflict], in schema: Schema
    ) -> StoreError {
        let conflicts = conflicts.named(in: schema)
        let count = conflicts.count == 1 ? "1 conflict" : "\(conflicts.count) conflicts"
        return StoreError(
            .conflict,
            "Nothing was saved: \(count) with changes that an automatic merge brought in while no "
                + "'mergeConflictHandler' was set. Call 'mergeChanges' to get the conflicts and "
                + "keep the edits, roll back, or save with a merge policy.",
            conflicts: conflicts, details: conflicts.map(\.description))
    }

    package static func validation(_ failures: [ValidationFailure]) -> StoreError {
        StoreError(
            .validation,
            failures.count == 1
                ? "Nothing was saved: \(failures[0].message)"
                : "Nothing was saved: \(failures.count) values or objects are not valid.",
            cause: failures.lazy.compactMap(\.cause).first, failures: failures,
            details: failures.count == 1 ? [] : failures.map(\.message))
    }

    static func duplicate(_ conflicts: [ConstraintConflict], in schema: Schema) -> StoreError {
        let conflicts = conflicts.map { $0.named(in: schema) }
        let problems = conflicts.flatMap(\.lines)
        return StoreError(
            .duplicate,
            problems.count == 1
                ? "Nothing was saved: \(problems[0])"
                : "Nothing was saved: \(problems.count) values are taken.",
            constraintConflicts: conflicts, details: problems.count == 1 ? [] : problems)
    }

    static func closed(_ path: String) -> StoreError {
        StoreError(.closed, "'\(path)' is closed. Open it again.")
    }

    static func readOnly(_ path: String) -> StoreError {
        StoreError(.readOnly, "'\(path)' was opened for reading and cannot be written.")
    }

    static func modelMismatch(_ path: String, _ differences: [String]) -> StoreError {
        StoreError(
            .modelMismatch,
            "The model differs from the one in '\(path)'. Open the store with its own model.",
            details: differences)
    }
}

extension StoreError {
    /// Wraps any error of the layers below as an error of the store.
    init(wrapping error: any Error, path: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as LMDBError: self.init(error, path)
        case let error as JournalError: self.init(error, path)
        case let error as NewFileError: self.init(error, path)
        case let error as DecodingFailure:
            self = .corrupt("A record of '\(path)' cannot be read", cause: error)
        case let error as ModelError:
            self.init(
                .model, "The model does not hold together.", cause: error, details: error.problems)
        default: self.init(.inputOutput, "The store failed: \(error).", cause: error)
        }
    }

    private init(_ error: JournalError, _ path: String) {
        if let cause = error.cause {
            self.init(cause, path)
        } else {
            self.init(.corrupt, error.message, cause: error)
        }
    }

    private init(_ error: NewFileError, _ path: String) {
        let code: Code
        switch error.reason {
        case .exists:
            self = .exists(path)
            return
        case .noFolder: code = .missing
        case .full: code = .full
        case .permission: code = .permission
        case .system: code = .inputOutput
        }
        self.init(code, error.description, cause: error)
    }

    private init(_ error: LMDBError, _ path: String) {
        let code: Code
        switch error.code {
        case .noSuchFile: code = .missing
        case .notLMDB, .noSuchTable, .emptyFile, .isDirectory, .notRegularFile:
            self = StoreError(
                .notAStore, "'\(path)' is not a Daybook store: \(error.message)", cause: error)
            return
        case .versionMismatch: code = .newerFormat
        case .truncated: code = .truncated
        case .malformedKey, .keyExists, .keyLength:
            self = .corrupt("A record of '\(path)' does not fit its table", cause: error)
            return
        case .corrupt, .lost: code = .corrupt
        case .noPermission: code = .permission
        case .readOnly: code = .readOnly
        case .alreadyOpen, .locked, .readersFull, .mapResized: code = .busy
        case .replaced: code = .replaced
        case .diskFull, .mapFull: code = .full
        case .closedToWrites, .forked: code = .closed
        case .networkFileSystem, .notInMemory: code = .unsupportedFileSystem
        case .inputOutput, .noMemory, .other: code = .inputOutput
        }
        self.init(code, error.message, cause: error)
    }
}
