import Foundation

@testable import DaybookObjectGraph

/// Writes down all callbacks of a controller.
final class CallbackLog: FetchedResultsControllerDelegate {
    private var lines: [String] = []

    /// What was told since this was last called.
    func taken() -> [String] {
        defer { lines = [] }
        return lines
    }

    func controllerWillChangeContent(_ controller: FetchedResultsController<WatchedPerson>) {
        lines.append("will")
    }

    func controller(
        _ controller: FetchedResultsController<WatchedPerson>,
        didChange section: ResultsSection<WatchedPerson>, atSectionIndex index: Int,
        for type: FetchedResultsChangeType
    ) {
        lines.append("\(type) section \(index)\(type == .insert ? " \(section.name)" : "")")
    }

    func controller(
        _ controller: FetchedResultsController<WatchedPerson>, didChange object: WatchedPerson,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let from = indexPath.map { " from \($0.section).\($0.item)" } ?? ""
        let to = newIndexPath.map { " to \($0.section).\($0.item)" } ?? ""
        lines.append("\(type) \(object.name ?? "nobody")\(from)\(to)")
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<WatchedPerson>) {
        lines.append("did")
    }
}

/// Keeps snapshots, and counts the callbacks that it must not get.
final class SnapshotLog: FetchedResultsSnapshotDelegate {
    private(set) var snapshots: [ResultsSnapshot] = []
    private(set) var otherCalls = 0

    func controller(
        _ controller: FetchedResultsController<WatchedPerson>,
        didChangeContentWith snapshot: ResultsSnapshot
    ) {
        snapshots.append(snapshot)
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<WatchedPerson>) {
        otherCalls += 1
    }
}

/// Keeps differences.
final class DifferenceLog: FetchedResultsDifferenceDelegate {
    private(set) var differences: [ResultsDifference] = []

    func controller(
        _ controller: FetchedResultsController<WatchedPerson>,
        didChangeContentWith difference: ResultsDifference
    ) {
        differences.append(difference)
    }
}

/// Edits the object that it is told of, up to three points.
final class EditingLog: FetchedResultsControllerDelegate {
    private(set) var rounds = 0
    private(set) var depthMaximum = 0
    private var depth = 0

    func controllerWillChangeContent(_ controller: FetchedResultsController<WatchedPerson>) {
        rounds += 1
        depth += 1
        depthMaximum = max(depthMaximum, depth)
    }

    func controller(
        _ controller: FetchedResultsController<WatchedPerson>, didChange object: WatchedPerson,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        guard object.points < 3 else { return }
        object.points += 1
        object.managedObjectContext?.processPendingChanges()
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<WatchedPerson>) {
        depth -= 1
    }
}
