package import DaybookJournalLog
package import DaybookObjectModel
internal import DaybookSQLite
package import DaybookSnapshotStore
internal import Foundation
internal import Synchronization

/// The file of a text index: words in FTS5, and for each value the object and the entries between which it stood.
///
/// Invariants:
/// - What is in the file is exactly what entry 1 to the noted one do; both change in one transaction.
/// - A connection is used by one thread at a time.
package final class TextIndexFile: Sendable {
    private let store: Store
    private let connection: Mutex<IndexConnection>

    /// A value in which a text was found.
    package struct Found {
        package let object: ObjectID
        package let property: SchemaProperty
        package let text: String
        package let rank: Double
        package let since: SequenceNumber
        package let until: SequenceNumber?
    }

    /// Opens the index of a store, or begins one.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - path: The file; nil for one in memory.
    /// - Throws: ``SearchError`` with ``SearchError/Code/file``.
    package init(of store: Store, at path: String?) throws {
        self.store = store
        connection = Mutex(try IndexConnection(path, besides: store.path))
    }

    /// Takes in the entries since the last one that is in the index, and returns the last.
    package func bringUpToDate() throws -> SequenceNumber {
        try connection.withLock { try $0.bringUpToDate(with: store) }
    }

    /// Finds the values in which a text is, the best matches first.
    package func search(_ text: String, in scope: SearchScope) throws -> [Found] {
        let text = try SearchText(text)
        let places = try places(scope)
        return try connection.withLock { connection in
            let reached = try connection.bringUpToDate(with: store)
            if case .sequence(let moment) = scope.moment, moment > reached {
                throw SearchError(
                    .scope, "There is no entry \(moment): the journal ends at \(reached).")
            }
            return try connection.rows(text, places, scope).compactMap { try found($0) }
        }
    }

    private func found(_ row: IndexRow) throws -> Found? {
        let object = ObjectID(
            entity: EntityNumber(rawValue: UInt32(truncatingIfNeeded: row.entity)),
            number: UInt64(bitPattern: row.object))
        guard let entity = store.schema.entity(object.entity),
            let property = entity.property(
                PropertyNumber(rawValue: UInt32(truncatingIfNeeded: row.property)))
        else { return nil }
        let since = SequenceNumber(rawValue: UInt64(bitPattern: row.since))
        let value = try store.read(at: since) { try $0.value(of: property, in: object) }
        guard case .string(let text) = value else { return nil }
        return Found(
            object: object, property: property, text: text, rank: -row.rank, since: since,
            until: row.until.map { SequenceNumber(rawValue: UInt64(bitPattern: $0)) })
    }

    /// The entities and the attribute that are searched; nil for all.
    private func places(_ scope: SearchScope) throws(SearchError) -> IndexPlaces {
        guard let name = scope.entityName else {
            guard scope.propertyName == nil else {
                throw SearchError(
                    .scope, "An attribute to search in needs its entity: give that, too.")
            }
            // Attributes may have been removed, or become confidential.
            return IndexPlaces(pairs: searched(store.schema.entities, nil))
        }
        guard let entity = store.schema.entity(named: name) else {
            let suggestion = name.nearest(among: store.schema.entities.map(\.name))
            throw SearchError(
                .scope,
                "The model has no entity '\(name)'."
                    + (suggestion.map { " Do you mean '\($0)'?" } ?? ""))
        }
        if let propertyName = scope.propertyName {
            guard let property = entity.property(named: propertyName) else {
                let suggestion = propertyName.nearest(among: entity.properties.map(\.name))
                throw SearchError(
                    .scope,
                    "'\(name)' has no attribute '\(propertyName)'."
                        + (suggestion.map { " Do you mean '\($0)'?" } ?? ""))
            }
            guard property.isSearched else {
                throw SearchError(
                    .scope,
                    "'\(propertyName)' of '\(name)' is not searched: only stored attributes of type "
                        + "string are, and no confidential ones.")
            }
        }
        let family = entity.family.compactMap { store.schema.entity($0) }
        return IndexPlaces(pairs: searched(family, scope.propertyName))
    }

    private func searched(
        _ entities: [SchemaEntity], _ name: String?
    ) -> [(entity: Int64, property: Int64)] {
        entities.flatMap { entity in
            entity.slots.filter { $0.isSearched && (name == nil || $0.name == name) }.map {
                (Int64(entity.number.rawValue), Int64($0.number.rawValue))
            }
        }
    }
}

/// The attributes that are searched.
struct IndexPlaces {
    let pairs: [(entity: Int64, property: Int64)]
}

/// A match as the file has it.
struct IndexRow {
    let entity: Int64
    let object: Int64
    let property: Int64
    let since: Int64
    let until: Int64?
    let rank: Double
}
