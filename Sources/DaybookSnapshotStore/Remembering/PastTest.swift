// The room of remembering: questions about the past of single objects, answered from their versions and from the
// headings of entries. It reads what a snapshot reads; at its moments nothing later is seen.

internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel
internal import Synchronization

/// A question about the past, made ready for many objects of one entity: its moments are entries, and its
/// condition is compiled.
///
/// A condition on what the object itself has is tried on the versions of its row, one after the other. One that
/// looks at other objects is evaluated in the state after each entry that touched any object on the way.
struct PastTest: Sendable {
    private enum Form: Sendable {
        /// Some state meets the condition, or fails to.
        case states(RowProgram, meeting: Bool)
        /// The same for a condition that looks beyond the row.
        case moments(Query, meeting: Bool)
        /// The condition held after an entry.
        case state(RowProgram, SequenceNumber)
        case change(ChangeTest)
        /// The entity does not have what is asked about.
        case never
    }

    private let form: Form
    /// Whether the question holds when there is no such state.
    private let isNegated: Bool

    /// Makes a question ready.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` or ``StoreError/Code/noSuchTag`` for a
    ///   moment that the store does not know; ``QueryError`` when a pattern cannot be tried.
    init(
        _ question: FilterPast, of entity: SchemaEntity, in snapshot: borrowing Snapshot
    ) throws {
        switch question {
        case .ever(let filter):
            form = try Self.states(filter, meeting: true, entity, snapshot)
            isNegated = false
        case .always(let filter):
            form = try Self.states(filter, meeting: false, entity, snapshot)
            isNegated = true
        case .was(let filter, let moment):
            form = .state(
                try RowProgram(filter, for: entity, in: snapshot),
                try snapshot.entry(at: moment))
            isNegated = false
        case .change(let change):
            form = try ChangeTest(change, of: entity, in: snapshot).map { .change($0) } ?? .never
            isNegated = false
        }
    }

    private static func states(
        _ filter: Filter, meeting: Bool, _ entity: SchemaEntity, _ snapshot: borrowing Snapshot
    ) throws -> Form {
        let program = try RowProgram(filter, for: entity, in: snapshot)
        return program.readsOnlyRow
            ? .states(program, meeting: meeting)
            : .moments(Query(entity, filter: filter), meeting: meeting)
    }

    /// Whether the question holds of an object.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of versions of the object; for a condition
    ///   on other objects O(*m* log *n*), *m* the number of entries that touched any of them.
    func holds(of object: ObjectID, in snapshot: borrowing Snapshot) throws -> Bool {
        try isFound(object, snapshot) != isNegated
    }

    private func isFound(_ object: ObjectID, _ snapshot: borrowing Snapshot) throws -> Bool {
        switch form {
        case .never: return false
        case .states(let program, let meeting):
            var isFound = false
            try snapshot.projection.forEachState(
                of: object, through: snapshot.sequence, in: snapshot.transaction
            ) { row, bytes, _ in
                isFound = try snapshot.accepts(object, row, bytes, program) == meeting
                return isFound ? .stop : .proceed
            }
            return isFound
        case .moments(let query, let meeting):
            for moment in try snapshot.moments(of: query, from: object) {
                let then = snapshot.then(at: moment)
                guard try then.exists(object) else { continue }
                if try query.filter.matches(object, in: then) == meeting { return true }
            }
            return false
        case .state(let program, let moment):
            let then = snapshot.then(at: moment)
            let found = try then.projection.withRow(
                of: object, at: moment, in: then.transaction
            ) { bytes, row in try then.accepts(object, row, bytes, program) }
            return found ?? false
        case .change(let test):
            var isFound = false
            try test.forEachChange(of: object, in: snapshot) { _ in
                isFound = true
                return .stop
            }
            return isFound
        }
    }
}

/// Questions about the past that are made ready once for a query, whichever thread asks first.
final class PastQuestions: Sendable {
    private struct Key: Hashable {
        let question: FilterPast
        let entity: EntityNumber
    }

    private let tests = Mutex<[Key: PastTest]>([:])

    func test(
        _ question: FilterPast, of entity: SchemaEntity, in snapshot: borrowing Snapshot
    ) throws -> PastTest {
        let key = Key(question: question, entity: entity.number)
        if let known = tests.withLock({ $0[key] }) { return known }
        let test = try PastTest(question, of: entity, in: snapshot)
        tests.withLock { $0[key] = test }
        return test
    }
}

extension Snapshot {
    /// Whether what is asked about the past of an object holds, as far as this state knows the past.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` or ``StoreError/Code/noSuchTag`` for a
    ///   moment that the store does not know; with ``StoreError/Code/corrupt`` when a version or the heading
    ///   of an entry cannot be read.
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of versions of the object; for EVER and
    ///   ALWAYS with a condition on other objects O(*m* log *n*), *m* the number of entries that touched any
    ///   of them.
    package func holds(_ question: FilterPast, of object: ObjectID) throws -> Bool {
        guard let entity = schema.entity(object.entity) else { return false }
        if let questions {
            return try questions.test(question, of: entity, in: self).holds(of: object, in: self)
        }
        return try PastTest(question, of: entity, in: self).holds(of: object, in: self)
    }

    /// The same state, in which questions are made ready once.
    func remembering(_ questions: PastQuestions) -> Snapshot {
        Snapshot(
            sequence: sequence, projection: projection, models: models, journal: journal,
            past: past, transaction: transaction.shared(), questions: questions)
    }

    /// The state after an earlier entry, in the same model.
    func then(at moment: SequenceNumber) -> Snapshot {
        Snapshot(
            sequence: moment, projection: projection, models: models, journal: journal,
            past: past, transaction: transaction.shared())
    }
}
