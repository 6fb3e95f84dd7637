import Daybook
import DaybookObjectModel

/// The effect of each input line on the open entry, so that a refusal can name the line.
struct EntryTrace {
    enum Deed {
        case insert
        case update
        case delete
    }

    /// The effect of the lines on one object.
    struct Touch {
        /// The line that touched it first.
        let line: Int
        /// The line that deleted it.
        var deletion: Int?
        /// The line that last set each property that is unique or has rules, or each where there are laws.
        var lines: [PropertyNumber: Int] = [:]
    }

    private(set) var touches: [ObjectID: Touch] = [:]
    private(set) var inserts = 0
    private(set) var updates = 0
    private(set) var deletes = 0

    var isEmpty: Bool { touches.isEmpty }

    /// Counts an operation.
    mutating func count(_ deed: Deed, of object: ManagedObject, line: Int) {
        let id = object.objectID.object
        switch deed {
        case .insert: inserts += 1
        case .update: updates += 1
        case .delete: deletes += 1
        }
        var touch = touches[id] ?? Touch(line: line)
        if deed == .delete { touch.deletion = line }
        touches[id] = touch
    }

    /// Records that a line sets a property, of a model that may have laws.
    mutating func record(
        _ property: SchemaProperty, of object: ManagedObject, line: Int, isUnderLaws: Bool
    ) {
        guard property.isUnique || property.hasRules || isUnderLaws else { return }
        touches[object.objectID.object]?.lines[property.number] = line
    }

    /// The touched objects in the order of their lines.
    var inOrder: [(object: ObjectID, touch: Touch)] {
        touches.map { ($0.key, $0.value) }.sorted {
            ($0.touch.line, $0.object.number) < ($1.touch.line, $1.object.number)
        }
    }
}
