import DaybookObjectModel
import Foundation

/// What a request is lowered for: the model, and the store that is searched.
///
/// Objects of different stores may have the same number, and filters know numbers only. So an object of
/// another store in a condition is lowered to one that this store does not have.
struct QueryTarget {
    let model: GraphModel
    /// The store that is searched; nil where there is none.
    let store: PersistentStore?
    /// All stores that the request searches.
    let stores: [PersistentStore]

    var schema: Schema { model.schema }

    /// The object of a filter.
    func value(of id: ManagedObjectID) -> Value {
        .object(
            id.storeIdentifier == store?.identifier ? id.object : .elsewhere(id.object.entity))
    }

    /// Resolves names in predicate text: `Country/17` is an object of the only store that may have it;
    /// an address names an object of any store.
    var names: PredicateNames {
        let (schema, store, stores) = (schema, store, stores)
        return PredicateNames(in: schema) { text throws(QueryError) in
            if let id = ManagedObjectID(uri: text, in: schema, among: stores) {
                return id.storeIdentifier == store?.identifier
                    ? id.object : .elsewhere(id.object.entity)
            }
            guard let object = schema.object(named: text) else { return nil }
            let count = stores.count { $0.holds(object.entity) }
            guard count < 2 else { throw QueryError.ambiguous(text, count) }
            return object
        }
    }
}

extension QueryError {
    fileprivate static func ambiguous(_ name: String, _ count: Int) -> QueryError {
        QueryError(
            "'\(name)' may be an object in each of \(count) stores. Write the address that "
                + "'uriRepresentation()' gives, or set 'affectedStores' to one store.")
    }
}

/// A key path in a value that crosses threads.
struct ModelKeyPath: @unchecked Sendable {
    // @unchecked Sendable because a key path never changes, and it is followed only on prototypes, whose
    // properties read nothing but declarations.
    let keyPath: AnyKeyPath
}
