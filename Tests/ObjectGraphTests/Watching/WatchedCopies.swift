import DaybookObjectModel
import Foundation
import Testing

@testable import DaybookObjectGraph

/// What a list is about.
struct WatchedQuestion {
    var request: FetchRequest<WatchedPerson>
    var section: String?
}

/// A list, and a copy that follows it by its differences alone.
final class WatchedCopy {
    private let question: WatchedQuestion
    private let observer: ResultsObserver<WatchedPerson>
    private let controller: FetchedResultsController<WatchedPerson>
    private let table = WatchedTable()
    private let context: ManagedObjectContext
    private let differences: ResultsChanges<ResultsDifference>
    private var copy: [ManagedObjectID] = []

    init(_ question: WatchedQuestion, _ context: ManagedObjectContext) throws {
        self.question = question
        self.context = context
        if let section = question.section {
            observer = try ResultsObserver(question.request, sectionedBy: section, in: context)
        } else {
            observer = try ResultsObserver(question.request, in: context)
        }
        differences = observer.differences
        copy = observer.objects.map(\.objectID)
        controller = FetchedResultsController(
            fetchRequest: question.request, managedObjectContext: context,
            sectionNameKeyPath: question.section)
        controller.delegate = table
        try controller.performFetch()
        table.start(controller)
    }

    func check(_ place: String) throws {
        try context.performAndWait { () throws in
            let what = "\(place), in \(context.name ?? ""): \(question)"
            let fetched = try context.fetch(question.request).map(\.objectID)
            #expect(observer.objects.map(\.objectID) == fetched, "\(what)")
            #expect(observer.findings().isEmpty, "\(what)")
            if let difference = differences.takeWaiting() { difference.apply(to: &copy) }
            #expect(copy == fetched, "the copy of \(what)")
            if controller.fetchedObjects == nil {
                // The context was reset.
                try controller.performFetch()
                table.start(controller)
            }
            #expect(controller.fetchedObjects?.map(\.objectID) == fetched, "controller of \(what)")
            #expect(table.rows.flatMap { $0 } == fetched, "the table of \(what)")
            let sections = (controller.sections ?? []).map(\.name)
            #expect(table.names == sections, "the table of \(what)")
            let counts = (controller.sections ?? []).map(\.numberOfObjects)
            #expect(table.rows.map(\.count) == counts, "the table of \(what)")
        }
    }
}

/// A table that follows a controller as tables do: deletes, then inserts.
private final class WatchedTable: FetchedResultsControllerDelegate {
    private(set) var rows: [[ManagedObjectID]] = []
    private(set) var names: [String] = []
    private var deletedSections: [Int] = []
    private var insertedSections: [(index: Int, name: String)] = []
    private var deletes: [IndexPath] = []
    private var inserts: [(path: IndexPath, id: ManagedObjectID)] = []

    func start(_ controller: FetchedResultsController<WatchedPerson>) {
        let sections = controller.sections ?? []
        rows = sections.map { $0.objects.map(\.objectID) }
        names = sections.map(\.name)
    }

    func controllerWillChangeContent(_ controller: FetchedResultsController<WatchedPerson>) {
        (deletedSections, insertedSections, deletes, inserts) = ([], [], [], [])
    }

    func controller(
        _ controller: FetchedResultsController<WatchedPerson>,
        didChange section: ResultsSection<WatchedPerson>, atSectionIndex index: Int,
        for type: FetchedResultsChangeType
    ) {
        if type == .delete {
            deletedSections.append(index)
        } else {
            insertedSections.append((index, section.name))
        }
    }

    func controller(
        _ controller: FetchedResultsController<WatchedPerson>, didChange object: WatchedPerson,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        if type == .delete || type == .move, let indexPath { deletes.append(indexPath) }
        if type == .insert || type == .move, let newIndexPath {
            inserts.append((newIndexPath, object.objectID))
        }
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<WatchedPerson>) {
        for path in deletes.sorted().reversed() { rows[path.section].remove(at: path.item) }
        for index in deletedSections.reversed() {
            rows.remove(at: index)
            names.remove(at: index)
        }
        for (index, name) in insertedSections {
            rows.insert([], at: index)
            names.insert(name, at: index)
        }
        for (path, id) in inserts.sorted(by: { $0.path < $1.path }) {
            rows[path.section].insert(id, at: path.item)
        }
    }
}

/// Aggregates of a list, against those that a fetch works out.
final class WatchedSum {
    private let request: FetchRequest<WatchedPerson>
    private let context: ManagedObjectContext
    private let sum: ValueObserver<Int>
    private let mean: ValueObserver<Double?>
    private let pay: ValueObserver<Decimal>
    private let weight: ValueObserver<Double>
    private let least: ValueObserver<Decimal?>
    private let greatest: ValueObserver<String?>
    private let count: ValueObserver<Int>
    private let first: ValueObserver<String?>
    private let cities: ValueObserver<String?>

    init(_ request: FetchRequest<WatchedPerson>, _ context: ManagedObjectContext) throws {
        self.request = request
        self.context = context
        sum = try ValueObserver(.sum(\WatchedPerson.points), of: request, in: context)
        mean = try ValueObserver(.average(\WatchedPerson.points), of: request, in: context)
        pay = try ValueObserver(.sum(\WatchedPerson.pay), of: request, in: context)
        weight = try ValueObserver(.sum(\WatchedPerson.weight), of: request, in: context)
        least = try ValueObserver(.minimum(\WatchedPerson.pay), of: request, in: context)
        greatest = try ValueObserver(.maximum(\WatchedPerson.name), of: request, in: context)
        count = try ValueObserver(countOf: request, in: context)
        first = try ValueObserver(\WatchedPerson.name, ofFirst: request, in: context)
        cities = try ValueObserver(.maximum(\WatchedPerson.team?.city), of: request, in: context)
    }

    func check(_ place: String) throws {
        try context.performAndWait { () throws in
            let what = "\(place), in \(context.name ?? ""): \(request)"
            #expect(try sum.value == context.fetch(.sum(\.points), of: request), "\(what)")
            #expect(try mean.value == context.fetch(.average(\.points), of: request), "\(what)")
            #expect(try pay.value == context.fetch(.sum(\.pay), of: request), "\(what)")
            #expect(try weight.value == context.fetch(.sum(\.weight), of: request), "\(what)")
            #expect(try least.value == context.fetch(.minimum(\.pay), of: request), "\(what)")
            #expect(try greatest.value == context.fetch(.maximum(\.name), of: request), "\(what)")
            #expect(
                try cities.value == context.fetch(.maximum(\.team?.city), of: request), "\(what)")
            #expect(try count.value == context.count(request), "\(what)")
            if request.includesPendingChanges {
                #expect(try first.value == context.fetch(request).first?.name, "\(what)")
            }
            #expect(sum.error == nil && pay.error == nil)
        }
    }
}
