public import Foundation

/// What has become of an object or a section of a list.
public enum FetchedResultsChangeType: Sendable, Hashable {
    /// It has come.
    case insert
    /// It has gone.
    case delete
    /// An object stands elsewhere among the others, or in another section. It may have changed as well, which is not
    /// told separately.
    case move
    /// An object has changed and stands where it stood.
    case update
}

/// Hears what becomes of the list of a ``FetchedResultsController``, callback by callback, in Core Data's order: that
/// something changes, then which sections have gone and come, then what has become of objects (gone, come, moved,
/// changed), and that this was all. The list is already as it is afterwards.
///
/// All callbacks are optional. A delegate that conforms to ``FetchedResultsSnapshotDelegate`` or
/// ``FetchedResultsDifferenceDelegate`` gets only the callback of that protocol.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    /// The class of the objects.
    associatedtype Object: ManagedObject

    /// Called before the other callbacks.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

    /// Called for each section that has gone or come: first those that have gone, by their indices in the list as it
    /// was, then those that have come, by their indices in the list as it is.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: ResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType)

    /// Called for each object.
    ///
    /// - Parameters:
    ///   - controller: The controller.
    ///   - object: The object; one that was deleted may be a fault whose record is gone.
    ///   - indexPath: Where it was; nil when it has come.
    ///   - type: What has become of it.
    ///   - newIndexPath: Where it is; nil when it has gone.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

    /// Called after the other callbacks.
    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)
}

extension FetchedResultsControllerDelegate {
    /// Does nothing.
    public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange section: ResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object,
        at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
}

/// Hears what becomes of a list as a whole: its identifiers by section.
public protocol FetchedResultsSnapshotDelegate<Object>: FetchedResultsControllerDelegate {
    // Said again, so that the compiler finds it in the callback.
    /// The class of the objects.
    associatedtype Object

    /// Called after the list has changed.
    ///
    /// - Complexity: A snapshot takes O(*n*) to make, *n* the number of objects in the list.
    func controller(
        _ controller: FetchedResultsController<Object>,
        didChangeContentWith snapshot: ResultsSnapshot)
}

/// Hears what becomes of a list as differences, which name the entries that have caused them.
public protocol FetchedResultsDifferenceDelegate<Object>: FetchedResultsControllerDelegate {
    // Said again, so that the compiler finds it in the callback.
    /// The class of the objects.
    associatedtype Object

    /// Called after the list has changed.
    func controller(
        _ controller: FetchedResultsController<Object>,
        didChangeContentWith difference: ResultsDifference)
}

/// The identifiers of a list by section, as it was at one time.
public struct ResultsSnapshot: Sendable {
    /// The identifiers of all objects, in order.
    public let itemIdentifiers: [ManagedObjectID]
    /// Those that have changed since the snapshot before and stand where they stood.
    public let reloadedItemIdentifiers: [ManagedObjectID]
    /// The names of the sections, in order; one empty name where objects are not divided.
    public let sectionIdentifiers: [String]
    private let ranges: [Range<Int>]

    init(
        itemIdentifiers: [ManagedObjectID], reloadedItemIdentifiers: [ManagedObjectID],
        sections: [(name: String, range: Range<Int>)]
    ) {
        self.itemIdentifiers = itemIdentifiers
        self.reloadedItemIdentifiers = reloadedItemIdentifiers
        sectionIdentifiers = sections.map(\.name)
        ranges = sections.map(\.range)
    }

    /// The identifiers of the objects in a section.
    ///
    /// - Precondition: There is such a section.
    public func itemIdentifiers(inSectionAt index: Int) -> [ManagedObjectID] {
        Array(itemIdentifiers[ranges[index]])
    }
}

// Foundation leaves it to the frameworks of user interfaces to name the two parts of an index path.

extension IndexPath {
    /// The path of an object in a section.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The index of the section.
    public var section: Int { self[0] }

    /// The index in the section.
    public var item: Int { self[1] }

    init(_ place: (section: Int, item: Int)) {
        self.init(item: place.item, section: place.section)
    }
}
