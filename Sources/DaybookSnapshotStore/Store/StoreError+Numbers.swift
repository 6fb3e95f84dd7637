import DaybookObjectModel

extension StoreError {
    /// The number that Core Data gives such an error; nil where it has no such error.
    ///
    /// A single validation failure has its own number; several together have 1560.
    public var number: Int? {
        switch code {
        case .validation:
            failures.count > 1
                ? Self.severalFailuresNumber
                : (failures.first?.reason ?? ValidationFailure.Reason.invalid).rawValue
        case .objectDeleted, .noSuchObject: 133_000
        case .crossStoreRelationship: 133_010
        case .conflict: 133_020
        case .duplicate: 133_021
        case .notAStore, .newerFormat: 134_000
        case .readOnly, .full, .inputOutput: 134_030
        case .closed, .corrupt, .truncated: 134_070
        case .missing, .permission, .busy, .replaced, .unsupportedFileSystem: 134_080
        case .modelMismatch, .modelSuperseded: 134_100
        default: nil
        }
    }

    /// The number of an error that stands for several validation failures.
    private static let severalFailuresNumber = 1560
}
