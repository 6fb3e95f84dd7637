package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// A law that an entry of the past has broken.
package struct PastBreach: Sendable, Hashable {
    /// The entry.
    package let sequence: SequenceNumber
    /// Its author, note and time.
    package let heading: EntryHeading
    /// What it did.
    package let breach: LawBreach
}

extension Store {
    /// The laws of the model by which the store is read.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/model`` when one cannot be read.
    package func laws() throws(StoreError) -> SchemaLaws {
        return try LawCheck(parts.projection).laws
    }

    /// Judges entries of the past and passes every breach to `body`, oldest first.
    ///
    /// All entries are judged by the same laws, whichever were in force when they were saved, and by names and types of
    /// the model by which the store is read. Entries that set a model are judged too. `body` runs outside of any read
    /// of the store.
    ///
    /// - Parameters:
    ///   - laws: The laws; nil for those of the model.
    ///   - first: The first entry to judge.
    ///   - last: The last one; nil for the head as it is when the walk begins.
    ///   - body: Says whether to go on.
    /// - Throws: ``StoreError`` with ``StoreError/Code/model`` when a law cannot be read; with
    ///   ``StoreError/Code/corrupt`` at the first entry that cannot be trusted; what `body` throws.
    /// - Complexity: O(*k*), *k* the number of changes, and O(log *n*) page reads for each object that a condition asks
    ///   about.
    package func forEachBreach(
        of laws: SchemaLaws? = nil, from first: SequenceNumber = SequenceNumber(1),
        through last: SequenceNumber? = nil, _ body: (PastBreach) throws -> WalkStep
    ) throws {
        let check = try LawCheck(parts.projection, laws: laws)
        guard !check.isEmpty else { return }
        try entries(from: first, through: last) { entry in
            let touched = entry.changes.filter { check.concerns($0) }
            guard !touched.isEmpty else { return .proceed }
            let breaches = try reading { transaction in
                var found: [LawBreach] = []
                for change in touched {
                    found += try check.breaches(
                        of: parts.projection.schema.current(change), entry.header,
                        before: entry.sequence.previous, in: transaction)
                }
                return found
            }
            let header = entry.header
            let heading = EntryHeading(
                author: header.author, note: header.note, info: header.info, time: entry.time,
                undoes: header.undoes)
            for breach in breaches {
                let past = PastBreach(sequence: entry.sequence, heading: heading, breach: breach)
                if try body(past) == .stop { return .stop }
            }
            return .proceed
        }
    }
}

extension LawCheck {
    /// Whether there is nothing to judge by.
    fileprivate var isEmpty: Bool { laws.isEmpty }

    /// Whether a law may be about a change.
    fileprivate func concerns(_ change: Change) -> Bool {
        !change.isInsert && !laws.laws(of: change.object.entity).isEmpty
    }
}

extension Schema {
    /// A change with the attributes that its entity has now: one that has had another type takes the edits of the one
    /// that it came from, with the values converted as those of rows are.
    fileprivate func current(_ change: Change) -> Change {
        guard let entity = entity(change.object.entity),
            case .update(var edits, let members) = change.kind
        else { return change }
        for index in edits.indices {
            while let successor = entity.successor(of: edits[index].property) {
                edits[index] = Edit(
                    property: successor.property,
                    old: edits[index].old.converted(to: successor.type),
                    new: edits[index].new.converted(to: successor.type))
            }
        }
        return Change(
            object: change.object, kind: .update(edits: edits, members: members),
            cause: change.cause)
    }
}

extension SchemaEntity {
    /// The attribute that has taken the values of another, and its type then.
    fileprivate func successor(
        of number: PropertyNumber
    ) -> (property: PropertyNumber, type: AttributeType)? {
        for (slot, fill) in fills.enumerated() {
            if case .converted(from: number, let type) = fill { return (slots[slot].number, type) }
        }
        return nil
    }
}
