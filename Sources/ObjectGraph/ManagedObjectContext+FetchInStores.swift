import Foundation
import ObjectModel

extension ManagedObjectContext {
    /// The stores that a request looks into.
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

    /// The objects that a request finds in several stores: each store sorts its own, and the whole is
    /// put in order. Among equals those of a store that was added earlier come first.
    func objectIDs<Object>(
        _ request: FetchRequest<Object>, inAll stores: [PersistentStore]
    ) throws -> [GraphID] {
        let query = try request.queryForAll(in: coordinator.model)
        let offset = max(0, request.offset)
        var part = request
        part.offset = 0
        part.limit = request.limit.map { limit in
            let (end, isTooGreat) = offset.addingReportingOverflow(max(0, limit))
            return isTooGreat ? .max : end
        }
        var found: [(id: GraphID, keys: [Value], place: Int)] = []
        for store in stores {
            let source = ContextSource(
                context: self, store: store, seesPending: request.includesPendingChanges)
            for id in try objectIDs(part, store) {
                let keys = try query.sortings.map { try $0.key(of: id.object, in: source) }
                found.append((id, keys, found.count))
            }
        }
        found.sort { left, right in
            for (index, sorting) in query.sortings.enumerated() {
                switch sorting.order(ofKeys: left.keys[index], right.keys[index]) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return left.place < right.place
        }
        return found.dropFirst(offset).prefix(max(0, request.limit ?? .max)).map(\.id)
    }

    /// How many objects a query finds in some stores, its offset and limit counted in.
    func underlyingCount(_ query: Query, _ stores: [PersistentStore]) throws -> Int {
        if stores.count == 1 { return try underlyingCount(query, stores[0]) }
        var all = query
        all.offset = 0
        all.limit = nil
        let count = try stores.reduce(0) { try $0 + underlyingCount(all, $1) }
        return min(max(0, count - max(0, query.offset)), max(0, query.limit ?? .max))
    }
}
