public import DaybookJournalLog
public import DaybookObjectModel
public import Foundation

/// What an undo or a restore does where later entries stand in its way.
public enum UndoPolicy: String, Sendable, Hashable, CaseIterable {
    /// Nothing is taken back, and every obstacle is named.
    case refuse
    /// What later entries have touched stays as they left it; the rest is taken back.
    case keepLater
    /// The old values replace later ones, as far as that breaks no reference and repeats no unique
    /// value.
    case overwrite
}

/// An obstacle to an undo or a restore, or something that it left out.
public struct UndoObstacle: Sendable, Hashable, CustomStringConvertible {
    /// The entry in the way; nil when it is not a single one.
    public let entry: SequenceNumber?
    /// The author of that entry, if it names one.
    public let author: String?
    /// When that entry happened.
    public let date: Date?
    /// The object that could not be taken back, in whole or in one property.
    public let object: ObjectID
    /// The object's name, such as `Country/17`.
    public let objectName: String
    /// The property; nil when the object as a whole is meant.
    public let propertyName: String?
    /// The obstacle in one sentence, without values.
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

/// An undo or a restore, planned but not done.
package struct UndoPlan: Sendable {
    /// The entry that would be appended, based on the head.
    package let request: SaveRequest
    /// What is left out or, when there is a ``refusal``, what stands in the way.
    package let obstacles: [UndoObstacle]
    /// Why nothing can be done; nil when something can.
    package let refusal: StoreError?
    /// The last entry that had already taken back part of it.
    package let takenBackBy: SequenceNumber?
    /// The merging properties of which nothing is left to take back.
    package var takenBack: [ObjectID: Set<PropertyNumber>] = [:]

    /// The request, unless the plan is refused.
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

    /// `Entry 7` or `Entries 5 to 9`, to start a sentence.
    var sentenceStart: String {
        lowerBound == upperBound ? "Entry \(lowerBound)" : "Entries \(lowerBound) to \(upperBound)"
    }

    /// Whether the range is a single entry.
    package var isSingle: Bool { lowerBound == upperBound }
}
