public import DaybookJournalLog
public import DaybookObjectModel
public import Foundation

/// What becomes of an undo or a restore where later entries stand in its way.
public enum UndoPolicy: String, Sendable, Hashable, CaseIterable {
    /// Nothing is taken back, and every obstacle is named.
    case refuse
    /// What later entries have touched stays as they left it; the rest is taken back.
    case keepLater
    /// The old values are put over later ones, as far as that leaves no reference without its object
    /// and no unique value twice.
    case overwrite
}

/// One thing that stands in the way of an undo or a restore, or that it has left out.
public struct UndoObstacle: Sendable, Hashable, CustomStringConvertible {
    /// The entry that is in the way; nil where no single entry is.
    public let entry: SequenceNumber?
    /// Who saved that entry, if somebody was named.
    public let author: String?
    /// When that entry happened.
    public let date: Date?
    /// The object that could not be taken back, or one of whose properties could not.
    public let object: ObjectID
    /// The object's name, such as `Country/17`.
    public let objectName: String
    /// The property; nil when the object as a whole is meant.
    public let propertyName: String?
    /// All of it in one sentence, without values.
    public let description: String

    /// Describes what stands in the way.
    package init(
        entry: SequenceNumber? = nil, author: String? = nil, date: Date? = nil, object: ObjectID,
        objectName: String, propertyName: String?, description: String
    ) {
        self.entry = entry
        self.author = author
        self.date = date
        self.object = object
        self.objectName = objectName
        self.propertyName = propertyName
        self.description = description
    }
}

extension StoreError {
    /// Refuses an undo or a restore.
    static func undoBlocked(_ message: String, _ obstacles: [UndoObstacle] = []) -> StoreError {
        StoreError(
            .undoBlocked, message, obstacles: obstacles, details: obstacles.map(\.description))
    }
}

/// What an undo or a restore would do, worked out and not done.
package struct UndoPlan: Sendable {
    /// The entry that would be appended, based on the head.
    package let request: SaveRequest
    /// What is left out, or, where ``refusal`` is there, what stands in the way.
    package let obstacles: [UndoObstacle]
    /// Why nothing can be done; nil when something can.
    package let refusal: StoreError?
    /// The last entry that has taken back something of what was to be taken back.
    package let takenBackBy: SequenceNumber?
    /// The properties that merge and of which nothing is left to take back.
    package var takenBack: [ObjectID: Set<PropertyNumber>] = [:]

    /// The request, unless it is refused.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked``.
    package func permitted() throws -> SaveRequest {
        if let refusal { throw refusal }
        return request
    }
}

extension ClosedRange<SequenceNumber> {
    /// `entry 7` or `entries 5 to 9`.
    package var entryName: String {
        lowerBound == upperBound ? "entry \(lowerBound)" : "entries \(lowerBound) to \(upperBound)"
    }

    /// `Entry 7` or `Entries 5 to 9`, to begin a sentence with.
    var sentenceStart: String {
        lowerBound == upperBound ? "Entry \(lowerBound)" : "Entries \(lowerBound) to \(upperBound)"
    }

    /// Whether there is one entry in it.
    package var isSingle: Bool { lowerBound == upperBound }
}
