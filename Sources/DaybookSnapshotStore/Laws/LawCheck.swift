// The room of laws: changes judged before they become an entry, and entries of the past on request. It reads rows and
// entries, and writes nothing.

internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Judges changes by the laws of a model.
///
/// Only objects of entities with laws are looked at, and their rows only where a condition asks about them.
struct LawCheck {
    let laws: SchemaLaws
    private let projection: Projection

    /// - Parameters:
    ///   - projection: Where rows are read.
    ///   - laws: The laws; nil for those of the model by which the tables are read.
    /// - Throws: ``StoreError`` with ``StoreError/Code/model`` when a law cannot be read.
    init(_ projection: Projection, laws: SchemaLaws? = nil) throws(StoreError) {
        self.laws = laws ?? projection.laws
        self.projection = projection
        if let problem = self.laws.problems.first {
            throw StoreError(
                .model,
                problem + " Nothing can be judged by it: use the software that wrote the model.")
        }
    }

    /// Refuses changes that break a law.
    ///
    /// - Parameters:
    ///   - changes: The changes, as they will be in the entry.
    ///   - header: What the entry will say.
    ///   - projection: The tables, without the entry.
    ///   - transaction: The state to read.
    /// - Throws: ``StoreError`` with ``StoreError/Code/law`` and every breach.
    /// - Complexity: O(*k*), and O(log *n*) page reads for each object that a condition asks about.
    static func check(
        _ changes: [Change], of header: EntryHeader, _ projection: Projection,
        in transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard !projection.laws.isEmpty else { return }
        let check = try LawCheck(projection)
        var breaches: [LawBreach] = []
        for change in changes {
            breaches += try check.breaches(of: change, header, before: .latest, in: transaction)
        }
        if !breaches.isEmpty { throw StoreError.lawBroken(breaches) }
    }

    /// The breaches of one change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - header: What its entry says.
    ///   - sequence: The entry after which its object is as it was before the change.
    ///   - transaction: The state to read.
    /// - Returns: The breaches, none where the entry says what permits them.
    /// - Throws: ``StoreError`` when a row cannot be read; with ``StoreError/Code/law`` and no breach when a pattern of a
    ///   law takes too long to be matched.
    func breaches(
        of change: Change, _ header: EntryHeader, before sequence: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [LawBreach] {
        if change.isInsert { return [] }
        let own = laws.laws(of: change.object.entity)
        guard !own.isEmpty else { return [] }
        var row: [Value]?
        var found: [LawBreach] = []
        for law in own
        where !law.isExcused(author: header.author, note: header.note, info: header.info) {
            do {
                let breach = try LawBreach(of: law, by: change, in: projection.schema) {
                    if row == nil {
                        row = try projection.row(of: change.object, at: sequence, in: transaction)?
                            .values
                    }
                    return row
                }
                if let breach { found.append(breach) }
            } catch let error as QueryError {
                throw StoreError.lawUntold(
                    law, by: projection.schema.name(of: change.object), error)
            }
        }
        return found
    }
}

extension StoreError {
    /// So many breaches are told in words.
    private static let breachesToldMaximum = 20

    fileprivate static func lawUntold(
        _ law: SchemaLaw, by object: String, _ error: QueryError
    ) -> StoreError {
        StoreError(
            .law,
            "It cannot be told whether \(object) keeps the law \(ReadableText.quoted(law.name)), so it is refused. "
                + error.description)
    }

    fileprivate static func lawBroken(_ breaches: [LawBreach]) -> StoreError {
        let count = breaches.count
        let rest = count - breachesToldMaximum
        return StoreError(
            .law,
            "Nothing was saved: "
                + (count == 1
                    ? "a law of the model forbids a change. "
                    : "laws of the model forbid \(count) changes. ")
                + breaches[0].remedy(isOnly: count == 1),
            breaches: breaches,
            details: breaches.prefix(breachesToldMaximum).map(\.description)
                + (rest > 0 ? ["and \(rest) more"] : []))
    }
}

extension LawBreach {
    fileprivate func remedy(isOnly: Bool) -> String {
        let other = "Save without \(isOnly ? "it" : "them")"
        guard isOnly, !excuses.isEmpty else { return other + "." }
        let given = excuses.map { $0.map(\.noun).joined(separator: " and ") }
        return "\(other), or give \(given.joined(separator: ", or "))."
    }
}
