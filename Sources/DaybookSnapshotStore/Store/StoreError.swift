public import DaybookObjectModel
import Foundation

/// An error that a store throws when it refuses.
///
/// The store is unchanged, unless ``code`` says that it must be opened again.
///
/// ```swift
/// do {
///     try context.save()
/// } catch let error as StoreError where error.code == .conflict {
///     for conflict in error.conflicts { print(conflict.object, conflict.theirs) }
/// }
/// ```
public struct StoreError: Error, Sendable {
    /// The kind of refusal, for programs to decide by.
    public let code: Code
    /// One full sentence, and the remedy where there is one.
    public let message: String
    /// The error of the layer below, or the one a hook has thrown, if there is one; each of the
    /// ``failures`` has its own.
    public let cause: (any Error)?
    /// What both sides have changed, for ``Code/conflict``.
    public let conflicts: [MergeConflict]
    /// Everything that is not valid, for ``Code/validation``, by object and property.
    public let failures: [ValidationFailure]
    /// The values that must be unique and are not, for ``Code/duplicate``.
    public let constraintConflicts: [ConstraintConflict]
    /// What laws of the model forbid and the save was to do, for ``Code/law``.
    public let breaches: [LawBreach]
    /// What stands in the way of an undo or a restore, for ``Code/undoBlocked``; the objects that have
    /// changed, for ``Code/conditionFailed``.
    public let obstacles: [UndoObstacle]
    /// One line for each single reason: what differs in a model, which values do not fit, what
    /// stands in the way of an undo.
    public let details: [String]
    /// Which entry is in doubt, for ``Code/inDoubt``.
    package private(set) var doubt: SaveDoubt?
    /// To be kept as long as a save in doubt may be made again.
    package private(set) var watch: DoubtWatch?

    /// Describes a refusal.
    package init(
        _ code: Code, _ message: String, cause: (any Error)? = nil,
        conflicts: [MergeConflict] = [], constraintConflicts: [ConstraintConflict] = [],
        failures: [ValidationFailure] = [], obstacles: [UndoObstacle] = [],
        breaches: [LawBreach] = [], details: [String] = []
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.conflicts = conflicts
        self.failures = failures
        self.constraintConflicts = constraintConflicts
        self.obstacles = obstacles
        self.breaches = breaches
        self.details = details
    }

    /// This error about a certain entry in doubt.
    func about(_ doubt: SaveDoubt) -> StoreError {
        var error = self
        error.doubt = doubt
        return error
    }

    /// This error, which keeps a watch.
    func watched(by watch: DoubtWatch) -> StoreError {
        var error = self
        error.watch = watch
        return error
    }

    /// This error with failures and conflicts that name the store, where they name none yet.
    func inStore(_ identifier: UUID) -> StoreError {
        StoreError(
            code, message, cause: cause, conflicts: conflicts.inStore(identifier),
            constraintConflicts: constraintConflicts,
            failures: failures.map { $0.inStore(identifier) }, obstacles: obstacles,
            breaches: breaches.map { $0.inStore(identifier) }, details: details)
    }

    /// A kind of refusal.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Wrapped: String, CaseIterable {
            case notAStore, newerFormat, corrupt, truncated, missing, exists, permission, readOnly
            case busy, full, modelMismatch, model, conflict, validation, duplicate, noSuchEntity
            case noSuchEntry, noSuchObject, objectDeleted, undoBlocked, digestMismatch, closed
            case unsupportedFileSystem, inputOutput, generation, unsettled
            case noSuchStore, noSuchConfiguration, assignment, crossStoreRelationship, coordinator
            case tagName, noSuchTag, replaced, pendingChanges, unreadableValue, modelSuperseded
            case cancelled, noSuchData, conditionFailed, attribution, information, law
            case projectionName, projectionSuperseded, foldFailed
            case unreachable, inDoubt, diverged, quarantined, unprotected, tooLarge
        }

        private let wrapped: Wrapped

        private init(_ wrapped: Wrapped) {
            self.wrapped = wrapped
        }

        /// Every kind.
        package static var all: [Code] { Wrapped.allCases.map(Code.init) }

        /// The name of the code.
        public var description: String { wrapped.rawValue }

        /// The file is not a store.
        public static let notAStore = Code(.notAStore)
        /// The store was written by a newer version of this software.
        public static let newerFormat = Code(.newerFormat)
        /// Something in the file differs from what was written.
        public static let corrupt = Code(.corrupt)
        /// The file is shorter than it was.
        public static let truncated = Code(.truncated)
        /// There is no such file.
        public static let missing = Code(.missing)
        /// A file already exists.
        public static let exists = Code(.exists)
        /// The operating system denies access.
        public static let permission = Code(.permission)
        /// The store was opened for reading only.
        public static let readOnly = Code(.readOnly)
        /// The file is in use in a way that excludes what was asked for.
        public static let busy = Code(.busy)
        /// The file was deleted, moved or replaced by another while it was open.
        public static let replaced = Code(.replaced)
        /// The disk is full.
        public static let full = Code(.full)
        /// The model differs from the one in the store.
        public static let modelMismatch = Code(.modelMismatch)
        /// Another program has changed the model in a way that the model of this one does not allow
        /// for. It may go on reading.
        public static let modelSuperseded = Code(.modelSuperseded)
        /// The caller has ended the work.
        public static let cancelled = Code(.cancelled)
        /// The model is inconsistent.
        public static let model = Code(.model)
        /// Others have changed the same data meanwhile.
        public static let conflict = Code(.conflict)
        /// What a conditional save depends on has changed.
        public static let conditionFailed = Code(.conditionFailed)
        /// The model requires an author, a note or information that the save does not give.
        public static let attribution = Code(.attribution)
        /// A law of the model forbids a change.
        public static let law = Code(.law)
        /// What is to be kept with an entry has a key that is not allowed, or is too long or too much.
        public static let information = Code(.information)
        /// A value does not fit the model.
        public static let validation = Code(.validation)
        /// Another object has a value that must be unique.
        public static let duplicate = Code(.duplicate)
        /// The model has no such entity.
        public static let noSuchEntity = Code(.noSuchEntity)
        /// The journal has no such entry.
        public static let noSuchEntry = Code(.noSuchEntry)
        /// A tag cannot have that name: it is not allowed, or it is taken.
        public static let tagName = Code(.tagName)
        /// The store has no such tag.
        public static let noSuchTag = Code(.noSuchTag)
        /// There has never been such an object.
        public static let noSuchObject = Code(.noSuchObject)
        /// The object was deleted.
        public static let objectDeleted = Code(.objectDeleted)
        /// Later entries stand in the way of an undo or a restore.
        public static let undoBlocked = Code(.undoBlocked)
        /// A loaded entry does not reproduce the digest it was exported with.
        public static let digestMismatch = Code(.digestMismatch)
        /// The store is closed, or must be opened again before anything more is written.
        public static let closed = Code(.closed)
        /// The file system cannot hold a store.
        public static let unsupportedFileSystem = Code(.unsupportedFileSystem)
        /// A context cannot be pinned to the requested state.
        public static let generation = Code(.generation)
        /// The coordinator does not have that store, or no longer has it.
        public static let noSuchStore = Code(.noSuchStore)
        /// The model has no such configuration.
        public static let noSuchConfiguration = Code(.noSuchConfiguration)
        /// An object cannot be assigned to that store.
        public static let assignment = Code(.assignment)
        /// A relationship was to connect objects of different stores.
        public static let crossStoreRelationship = Code(.crossStoreRelationship)
        /// A context keeps the coordinator that it was made with.
        public static let coordinator = Code(.coordinator)
        /// Pending changes stand in the way of the operation.
        public static let pendingChanges = Code(.pendingChanges)
        /// Life-cycle or validation hooks go on changing objects without end.
        public static let unsettled = Code(.unsettled)
        /// A stored value is not a value of the property's type.
        public static let unreadableValue = Code(.unreadableValue)
        /// The store does not have the bytes of large data.
        public static let noSuchData = Code(.noSuchData)
        /// A projection cannot have that name.
        public static let projectionName = Code(.projectionName)
        /// A newer version of a projection has taken over in the store.
        public static let projectionSuperseded = Code(.projectionSuperseded)
        /// The fold of a projection failed; the cause is what it threw.
        public static let foldFailed = Code(.foldFailed)
        /// The servers of a shared store cannot be reached, or the file was opened without its link. It can be
        /// read.
        public static let unreachable = Code(.unreachable)
        /// The connection to the servers of a shared store was lost before they answered: it is not known whether
        /// they have the entry. The changes are still pending, and saving again finds out.
        public static let inDoubt = Code(.inDoubt)
        /// The file has gone another way than the shared store that it is linked to.
        public static let diverged = Code(.diverged)
        /// An entry of a shared store does not fit. The file stops before it, and can be read.
        public static let quarantined = Code(.quarantined)
        /// The servers of a shared store do not keep entries in several places.
        public static let unprotected = Code(.unprotected)
        /// An entry or a value is longer than a shared store takes.
        public static let tooLarge = Code(.tooLarge)
        /// The operating system failed to read or write.
        public static let inputOutput = Code(.inputOutput)
    }
}

extension StoreError: CustomStringConvertible {
    /// The message, and each single reason on a line of its own.
    public var description: String {
        ([message] + details.map { "  " + $0 }).joined(separator: "\n")
    }
}
