// The room of watching: lists and values that stay what a fetch would find. A context gathers, in its news, which
// objects have changed, whoever changed them, and tells its lists when an event, a merge, a save or an undo is over.
// A list asks only of these objects whether and where they belong. This room reads, as the room of fetching does;
// it changes no object, and it is told by the others without knowing them.

import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Synchronization

/// How many lists are to be told of changes in a context; while there are none, nothing is gathered.
final class ListInterest: Sendable {
    private let count = Atomic<Int>(0)

    /// Whether there are any.
    var isThere: Bool { count.load(ordering: .relaxed) > 0 }

    /// Counts lists that come, or go where less than 0.
    func change(by difference: Int) { count.wrappingAdd(difference, ordering: .relaxed) }
}

/// A list that a context keeps right.
protocol WatchingList: AnyObject {
    /// Takes in what has changed.
    func take(_ notices: ListNotices)
}

extension ManagedObjectContext {
    /// Tells a list of everything that changes from now on, as long as it counts itself as interested.
    func startTelling(_ list: any WatchingList) {
        // What was noted for the last list that there was is no news to this one.
        if !news.isWatched { _ = (journal.takeNotedChanges(), news.takeNotices()) }
        news.add(list)
    }

    /// Tells a list no more.
    func stopTelling(_ list: any WatchingList) { news.remove(list) }

    /// Those whose changes a list here depends on: this context and its ancestors.
    var interestsOfLists: [ListInterest] {
        var interests: [ListInterest] = []
        var context: ManagedObjectContext? = self
        while let current = context {
            interests.append(current.news.interest)
            context = current.parent
        }
        return interests
    }

    /// Notes a change that lists have to be told of.
    func noteForLists(
        _ change: Change, of id: GraphID, by entry: EntryName? = nil,
        _ weight: ListNotices.Weight = .update
    ) {
        guard news.isWatched else { return }
        news.noteForLists {
            $0.take(change, of: id, binding(id.object.entity).schema, weight, cause: entry)
        }
    }

    /// Notes that what was pending is in the parent.
    func noteForLists(savedAsSent items: [NetChange]) {
        guard news.isWatched else { return }
        for item in items {
            if let change = item.change { noteForLists(change, of: item.object.graphID, .saved) }
        }
    }

    /// Notes the entries that a save has made, and reads everything again where the context has passed
    /// over others' entries with it.
    func noteForLists(_ saves: [StoreSave]) {
        guard news.isWatched else { return }
        for save in saves {
            let entry = save.entry.map { EntryName(store: $0.store, sequence: $0.sequence) }
            let isAsSent = save.result != nil && save.isAsSent
            // What the store has left out or put in the place of another is in no change of the entry.
            var sent: Set<GraphID> = []
            for item in save.items {
                guard let change = item.change else { continue }
                sent.insert(item.object.graphID)
                noteForLists(change, of: item.object.graphID, isAsSent ? .saved : .update)
            }
            for change in save.result?.changes ?? [] {
                let id = GraphID(store: save.store, object: change.object)
                noteForLists(
                    change, of: id, by: entry, isAsSent && sent.contains(id) ? .saved : .update)
            }
        }
        if parentStore.isHeld { news.noteForLists { $0.takeEverything() } }
    }

    /// Notes that anything may have changed, and tells the lists.
    func tellListsOfEverything(isReset: Bool = false) {
        guard news.isWatched else { return }
        news.noteForLists { if isReset { $0.takeReset() } else { $0.takeEverything() } }
        tellLists()
    }

    /// Tells the lists, here and in children that follow, what has changed since this was last done.
    func tellLists() {
        guard news.isWatched else {
            // The last list has gone since something was noted for it.
            if news.hasNotices { _ = (journal.takeNotedChanges(), news.takeNotices()) }
            return
        }
        for (id, change) in journal.takeNotedChanges() { noteForLists(change, of: id) }
        guard let notices = news.takeNotices() else { return }
        news.tellChildrenWithLists(notices.forChildren)
        for list in news.liveLists { list.take(notices) }
    }

    /// Looks again at what has changed in the parent.
    func lookAgainForLists(at notices: NoticesOfParent) {
        guard news.isWatched else { return }
        processPendingChanges()
        news.noteForLists { $0.take(notices) }
        tellLists()
    }
}
