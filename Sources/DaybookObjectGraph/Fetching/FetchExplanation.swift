import DaybookObjectModel
import DaybookSnapshotStore

/// How a fetch was carried out: the plan, and what was read.
///
/// ```swift
/// print(try context.explain(carryingOut: FetchRequest<Employee>(where: \.lastName == "Hopper")))
/// ```
public struct FetchExplanation: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How it was planned, as ``ManagedObjectContext/explain(_:)-(FetchRequest<Object>)`` tells.
    public let plan: String
    /// How many objects it found, or rows of a ``Selection``.
    public let foundCount: Int
    /// Rows of objects that were read, each as often as it was. Those of related objects count as well.
    public let rowsRead: Int
    /// How many more rows and versions were read than objects were found in the stores: of objects that do not
    /// match, of related ones, and those that were read again.
    public let rowsPassedOver: Int
    /// Records of indexes that were read.
    public let indexRecordsRead: Int
    /// Connections between objects that were read.
    public let connectionsRead: Int
    /// Versions that rows had before, which the past is read from.
    public let versionsRead: Int
    /// Entries of the journal that were read.
    public let entriesRead: Int
    /// Pages of the file that were looked at, each as often as it was, also for the plan.
    public let pagesRead: Int

    /// - Parameters:
    ///   - plan: The plan.
    ///   - found: How many objects or rows were found.
    ///   - stored: How many objects were found in the stores.
    ///   - counts: What was read.
    init(_ plan: String, found: Int, stored: Int, _ counts: ReadCounts) {
        self.plan = plan
        foundCount = found
        rowsRead = counts.rows
        rowsPassedOver = counts.passedOver(finding: stored)
        indexRecordsRead = counts.indexRecords
        connectionsRead = counts.connections
        versionsRead = counts.versions
        entriesRead = counts.entries
        pagesRead = counts.pages
    }

    /// The plan, how much was found and what was read, in one line for people.
    public var description: String {
        let counts = ReadCounts(
            rows: rowsRead, indexRecords: indexRecordsRead, connections: connectionsRead,
            versions: versionsRead, entries: entriesRead, pages: pagesRead)
        return "\(plan); found: \(foundCount); \(counts.text(passingOver: rowsPassedOver))"
    }
}

extension ManagedObjectContext {
    /// Carries out a request, and tells how: the plan, and what was read for it.
    ///
    /// The objects are found and none is made. Nothing counts what is read while no such question is asked.
    ///
    /// - Parameter request: The request.
    /// - Returns: The explanation.
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``.
    /// - Complexity: As ``fetch(_:)-(FetchRequest<Object>)``.
    public func explain<Object>(
        carryingOut request: FetchRequest<Object>
    ) throws -> FetchExplanation {
        let plan = try explain(request)
        let watch = ReadWatch()
        let ids = try parentStore.watching(watch) { try objectIDs(request) }
        let stored = ids.count { journal.overlay(of: $0) == nil }
        return FetchExplanation(plan, found: ids.count, stored: stored, watch.counts)
    }

    /// Carries out a selection, and tells how: the plan, and what was read for it.
    ///
    /// - Parameter selection: The selection.
    /// - Returns: The explanation.
    /// - Throws: As ``fetch(_:)-(Selection<Object,Row>)``.
    /// - Complexity: As ``fetch(_:)-(Selection<Object,Row>)``, and as ``count(_:)`` of its request.
    public func explain<Object, Row>(
        carryingOut selection: Selection<Object, Row>
    ) throws -> FetchExplanation {
        let plan = try explain(selection)
        let watch = ReadWatch()
        let rows = try parentStore.watching(watch) { try cells(of: selection) }
        var request = selection.request
        // What is evaluated in memory is not asked of the stores.
        let target = targets(try stores(for: request)).first
        if case .query? = try target.map({ try self.plan(request, for: $0) }) {
            request.includesPendingChanges = false
        }
        let entity = try request.entity(in: coordinator.model)
        // The limit of groups is one of rows.
        if case .groups = try SelectionPlan(selection, of: entity, in: coordinator.model.schema) {
            request.order = []
            request.limit = nil
            request.offset = 0
        }
        return FetchExplanation(
            plan, found: rows.count, stored: try count(request), watch.counts)
    }
}
