import DaybookObjectModel
import DaybookStopping
public import Foundation

/// A list of fetched objects in sections, which tells a delegate what becomes of it, as in Core Data.
///
/// ```swift
/// let controller = FetchedResultsController(
///     fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: \.department?.name)
/// controller.delegate = table
/// try controller.performFetch()
/// ```
///
/// It follows what changes as a ``ResultsObserver`` does, which is the simpler choice where no code from Core Data has
/// to go on; but only while it has a delegate. Set the delegate before ``performFetch()``: a controller without one
/// has what it has fetched. After the context was reset while there is a delegate, and whenever a store was added or
/// removed, nothing is there until ``performFetch()`` is called again.
///
/// There is no `cacheName`: a cache on the disk saves Core Data from counting the sections again at every start. Here
/// the order comes from an index where one serves the request, and sections are counted while the list is read.
///
/// A controller is used on the queue of its context.
public final class FetchedResultsController<Object: ManagedObject>: @unchecked Sendable {
    // @unchecked Sendable because all mutable state is confined to the queue of the context, which is checked
    // where a list is read.

    /// Which objects are fetched, and in which order; a change counts at the next ``performFetch()``.
    public var fetchRequest: FetchRequest<Object>
    /// The context of the objects.
    public let managedObjectContext: ManagedObjectContext
    /// Whom to tell what becomes of the list.
    public weak var delegate: (any FetchedResultsControllerDelegate<Object>)? {
        didSet { if delegate == nil { list.follow(false) } }
    }
    /// What has become of the list at last, with the entries through which it has; while the delegate is told, that
    /// of which it is told. Nil until something has.
    public private(set) var latestDifference: ResultsDifference?

    private let list: WatchedList
    /// Holds the request for the list, which is made before the controller.
    private let latestRequest: RequestBox
    private var known: [Object]?

    private final class RequestBox {
        var request: FetchRequest<Object>

        init(_ request: FetchRequest<Object>) {
            self.request = request
        }
    }

    /// Makes a controller, which has nothing before ``performFetch()``.
    ///
    /// - Parameters:
    ///   - fetchRequest: The objects and their order. With sections, the order should begin with theirs; otherwise the
    ///     list is sorted by it from the smallest, and then as the request says.
    ///   - managedObjectContext: The context.
    ///   - sectionNameKeyPath: The value that the objects of a section have in common: a property, or a path of to-one
    ///     relationships to one, by name; nil for no sections.
    public convenience init(
        fetchRequest: FetchRequest<Object>, managedObjectContext: ManagedObjectContext,
        sectionNameKeyPath: String? = nil
    ) {
        self.init(fetchRequest, managedObjectContext, sectionNameKeyPath.map { .name($0) })
    }

    /// Makes a controller with sections by a key path.
    ///
    /// - Parameters:
    ///   - fetchRequest: The objects and their order, as in
    ///     ``init(fetchRequest:managedObjectContext:sectionNameKeyPath:)``.
    ///   - managedObjectContext: The context.
    ///   - sectionNameKeyPath: The value that the objects of a section have in common.
    public convenience init(
        fetchRequest: FetchRequest<Object>, managedObjectContext: ManagedObjectContext,
        sectionNameKeyPath: KeyPath<Object, some AttributeValue>
    ) {
        self.init(
            fetchRequest, managedObjectContext,
            .keyPath(ModelKeyPath(keyPath: sectionNameKeyPath)))
    }

    private init(
        _ request: FetchRequest<Object>, _ context: ManagedObjectContext, _ section: RequestKey?
    ) {
        fetchRequest = request
        managedObjectContext = context
        let latest = RequestBox(request)
        latestRequest = latest
        list = WatchedList(in: context, .whenFetched) { [unowned context] in
            try WatchedRequest(latest.request, section: section, in: context)
        }
        list.isWanted = { [weak self] in self?.delegate != nil }
        list.onChange = { [weak self] in self?.tell($0) }
    }

    /// Fetches the objects, and follows what changes if there is a delegate.
    ///
    /// - Throws: As ``ManagedObjectContext/fetch(_:)-(FetchRequest<Object>)``; ``QueryError`` also when the condition, the order or the
    ///   sections depend on a transient attribute, which changes without being told. What was fetched before is kept.
    /// - Complexity: As of the fetch, and O(*n*) reads for each sort order.
    public func performFetch() throws {
        managedObjectContext.requireQueue()
        // What is not told yet is about the list as it was requested before.
        managedObjectContext.processPendingChanges()
        let (before, wasFollowing) = (latestRequest.request, list.isFollowing)
        latestRequest.request = fetchRequest
        list.follow(delegate != nil)
        do {
            try list.fetch()
        } catch {
            latestRequest.request = before
            list.follow(wasFollowing)
            throw error
        }
        known = nil
        latestDifference = nil
    }

    // MARK: - The list

    /// The objects, in order; nil before ``performFetch()``.
    ///
    /// - Complexity: O(*n*) after a change.
    public var fetchedObjects: [Object]? {
        managedObjectContext.requireQueue()
        guard list.isFetched else { return nil }
        if let known { return known }
        let objects: [Object] = list.objects(in: 0..<list.count)
        known = objects
        return objects
    }

    /// The sections, in order; one of all objects where they are not divided, and nil before ``performFetch()``.
    public var sections: [ResultsSection<Object>]? {
        managedObjectContext.requireQueue()
        guard list.isFetched else { return nil }
        return list.sections(of: Object.self)
    }

    /// The object in a section.
    ///
    /// - Precondition: There is one.
    /// - Complexity: O(log *n*).
    public func object(at indexPath: IndexPath) -> Object {
        managedObjectContext.requireQueue()
        require(
            list.layout.starts.indices.contains(indexPath.section)
                && list.layout.range(of: indexPath.section).count > indexPath.item
                && indexPath.item >= 0,
            "An object is asked for at an index path of the list.")
        return list.object(at: list.layout.starts[indexPath.section] + indexPath.item)
    }

    /// Where an object is; nil when it is not in the list.
    ///
    /// - Complexity: O(log *n*).
    public func indexPath(forObject object: Object) -> IndexPath? {
        managedObjectContext.requireQueue()
        return list.offset(of: object.graphID).map { IndexPath(list.layout.place(of: $0)) }
    }

    /// The first letters of the names of the sections, in capitals.
    public var sectionIndexTitles: [String] { (sections ?? []).compactMap(\.indexTitle) }

    /// The first section whose index title is the given one or comes after it; the last one when none does.
    public func section(forSectionIndexTitle title: String) -> Int {
        let titles = (sections ?? []).map { $0.indexTitle ?? "" }
        return titles.firstIndex { $0 >= title } ?? max(0, titles.count - 1)
    }

    // MARK: - Telling

    private func tell(_ step: ListStep) {
        known = nil
        latestDifference = ResultsDifference(step, in: managedObjectContext)
        guard let delegate else { return }
        switch delegate {
        case let delegate as any FetchedResultsSnapshotDelegate<Object>:
            delegate.controller(self, didChangeContentWith: snapshot(updating: step.updates))
        case let delegate as any FetchedResultsDifferenceDelegate<Object>:
            guard let difference = latestDifference else { return }
            delegate.controller(self, didChangeContentWith: difference)
        default: tell(step, delegate)
        }
    }

    private func snapshot(updating updates: [ListStep.Update]) -> ResultsSnapshot {
        var ids: [ManagedObjectID] = []
        list.forEach(in: 0..<list.count) {
            ids.append(managedObjectContext.managedObjectID(of: $0.id))
        }
        return ResultsSnapshot(
            itemIdentifiers: ids,
            reloadedItemIdentifiers: updates.map {
                managedObjectContext.managedObjectID(of: $0.id)
            },
            sections: list.layout.keys.indices.map {
                (list.layout.name(of: $0), list.layout.range(of: $0))
            })
    }

    private func tell(
        _ step: ListStep, _ delegate: any FetchedResultsControllerDelegate<Object>
    ) {
        delegate.controllerWillChangeContent(self)
        for place in step.sections.removals {
            delegate.controller(
                self,
                didChange: ResultsSection(place.offset, of: step.layoutBefore, in: list),
                atSectionIndex: place.offset, for: .delete)
        }
        for place in step.sections.insertions {
            delegate.controller(
                self, didChange: ResultsSection(place.offset, of: step.layout, in: list),
                atSectionIndex: place.offset, for: .insert)
        }
        func tell(_ id: GraphID, _ kind: FetchedResultsChangeType, from old: Int?, to new: Int?) {
            let known = managedObjectContext.registry[id] ?? step.gone[id]
            guard let object = (known ?? managedObjectContext.object(id)) as? Object else { return }
            delegate.controller(
                self, didChange: object,
                at: old.map { IndexPath(step.layoutBefore.place(of: $0)) }, for: kind,
                newIndexPath: new.map { IndexPath(step.layout.place(of: $0)) })
        }
        let sources = Dictionary(
            step.objects.removals.map { ($0.element, $0.offset) }, uniquingKeysWith: { $1 })
        let moved = Set(step.objects.insertions.map(\.element)).intersection(sources.keys)
        for place in step.objects.removals where !moved.contains(place.element) {
            tell(place.element, .delete, from: place.offset, to: nil)
        }
        for place in step.objects.insertions where !moved.contains(place.element) {
            tell(place.element, .insert, from: nil, to: place.offset)
        }
        for place in step.objects.insertions where moved.contains(place.element) {
            tell(place.element, .move, from: sources[place.element], to: place.offset)
        }
        for update in step.updates { tell(update.id, .update, from: update.old, to: update.new) }
        delegate.controllerDidChangeContent(self)
    }

    /// What is wrong with the list; empty for a sound one.
    func findings() -> [String] { list.findings() }
}
