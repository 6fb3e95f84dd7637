import DaybookObjectModel
import Foundation

extension ManagedObjectContext {
    /// The stores that a request searches.
    func stores<Object>(for request: FetchRequest<Object>) throws -> [PersistentStore] {
        let stores = coordinator.persistentStores
        if stores.count == 1, stores[0].configurationName == nil, request.affectedStores == nil {
            return stores
        }
        let entities = try request.queryForAll(in: coordinator.model).entities
        return stores.filter { store in
            entities.contains(where: store.holds)
                && (request.affectedStores?.contains { $0 === store } ?? true)
        }
    }

    /// The query target for each store that a request searches.
    func targets(_ stores: [PersistentStore]) -> [QueryTarget] {
        stores.map { QueryTarget(model: coordinator.model, store: $0, stores: stores) }
    }

    /// The objects that a request finds in several stores: each store sorts its own, and the results are
    /// merged in order. Among equals, those of a store that was added earlier come first.
    func objectIDs<Object>(
        _ request: FetchRequest<Object>, inAll targets: [QueryTarget]
    ) throws -> [GraphID] {
        let query = try request.queryForAll(in: coordinator.model)
        let offset = max(0, request.offset)
        var part = request
        part.offset = 0
        part.limit = query.limit.map { limit in
            let (end, isTooGreat) = offset.addingReportingOverflow(limit)
            return isTooGreat ? .max : end
        }
        var found: [(id: GraphID, keys: [Value], index: Int)] = []
        for target in targets {
            guard let store = target.store else { continue }
            let source = ContextSource(
                context: self, store: store, seesPending: request.includesPendingChanges)
            for id in try objectIDs(part, target) {
                let keys = try query.sortings.map { try $0.key(of: id.object, in: source) }
                found.append((id, keys, found.count))
            }
        }
        found.sort { left, right in
            for (rank, sorting) in query.sortings.enumerated() {
                switch sorting.order(ofKeys: left.keys[rank], right.keys[rank]) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return left.index < right.index
        }
        return found.dropFirst(offset).prefix(query.limit ?? .max).map(\.id)
    }

    /// How many objects a request finds; nil when its condition has to be evaluated in memory.
    func countInStores<Object>(_ request: FetchRequest<Object>) throws -> Int? {
        let isOverlaid = request.includesPendingChanges && !journal.isAtBase
        let whole = try request.queryForAll(in: coordinator.model)
        let targets = targets(try stores(for: request))
        var count = 0
        for target in targets {
            guard let store = target.store,
                case .query(let query) = try plan(request, for: target)
            else { return nil }
            if isOverlaid {
                count += try countOverPending(query, without: [], store)
            } else if targets.count == 1 {
                return try parentStore.count(query, in: store)
            } else {
                count += try parentStore.count(query, without: [], in: store)
            }
        }
        return min(max(0, count - max(0, whole.offset)), whole.limit ?? .max)
    }
}
