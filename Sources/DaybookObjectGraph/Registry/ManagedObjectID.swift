public import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
public import Foundation

/// Identifies an object in every context, from its creation on and for ever.
///
/// An identifier is a value: it may cross threads, be kept, compared and hashed. It does not change when
/// the object is saved; only ``isTemporaryID`` does, and equality ignores that.
public struct ManagedObjectID: Hashable, Sendable, CustomStringConvertible {
    // Two words, because programs keep long lists of identifiers.
    private let group: IdentifierGroup
    private let number: UInt64

    /// The store the object lives in, or will live in once it is saved.
    public var storeIdentifier: UUID { group.storeIdentifier }
    /// The object within its store.
    public var object: ObjectID { ObjectID(entity: group.entity, number: number) }
    /// The name of the object's entity.
    public var entityName: String { group.entityName }
    /// Whether the object had not been saved to its store when this identifier was read.
    public var isTemporaryID: Bool { group.isTemporary }
    /// Whether the identifier was decoded, and may not fit any model.
    var isDecoded: Bool { group.isDecoded }
    /// The numbers of objects are smaller.
    static let numberLimit: UInt64 = 1 << 48

    /// Names an object of a store.
    package init(
        storeIdentifier: UUID, object: ObjectID, entityName: String, isTemporaryID: Bool
    ) {
        self.init(
            IdentifierGroup(
                storeIdentifier: storeIdentifier, entity: object.entity, entityName: entityName,
                isTemporary: isTemporaryID),
            number: object.number)
    }

    /// Names an object in a group that shares the rest of the identifier.
    init(_ group: IdentifierGroup, number: UInt64) {
        self.group = group
        self.number = number
    }

    /// Whether both name the same object.
    public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
        left.number == right.number && left.group.names(sameAs: right.group)
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(object)
        hasher.combine(storeIdentifier)
    }

    /// `x-daybook://<store>/<entity>/p<number>`, or `…/t<number>` while the identifier is temporary;
    /// ``PersistentStoreCoordinator/managedObjectID(forURIRepresentation:)`` reads it back.
    public func uriRepresentation() -> URL {
        let mark = isTemporaryID ? "t" : "p"
        let text =
            "\(Self.scheme)\(storeIdentifier.uuidString)/\(entityName)/\(mark)\(object.number)"
        guard let url = URL(string: text) else {
            stop("The name of an entity is letters, digits and underscores.")
        }
        return url
    }

    private static let scheme = "x-daybook://"

    /// Reads what ``uriRepresentation()`` has written, be it with a name that the entity had before; nil
    /// for text of another form, and for an entity that the model does not have or that has no objects.
    /// Former names are those of the store that is named, if it is one of `stores`.
    init?(uri text: String, in schema: Schema, among stores: [PersistentStore]) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        let parts = text.dropFirst(Self.scheme.count)
            .split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let identifier = UUID(uuidString: String(parts[0])),
            let mark = parts[2].first, mark == "p" || mark == "t",
            let number = UInt64(parts[2].dropFirst()), number > 0, number < Self.numberLimit,
            String(number) == parts[2].dropFirst()
        else { return nil }
        let name = String(parts[1])
        let store = stores.first { $0.identifier == identifier }
        let object = store?.object(ofEntityNamed: name, number: number)
        guard
            let entity = object.map({ schema.entity($0.entity) }) ?? schema.entity(named: name),
            !entity.isAbstract
        else { return nil }
        self.init(
            storeIdentifier: identifier, object: ObjectID(entity: entity.number, number: number),
            entityName: entity.name, isTemporaryID: mark == "t")
    }

    /// `Country/17`, as the command writes it.
    public var description: String {
        "\(entityName)/\(object.number)"
    }
}

/// What the identifiers of an entity's objects in a store have in common.
final class IdentifierGroup: Sendable {
    let storeIdentifier: UUID
    let entity: EntityNumber
    let entityName: String
    /// Whether the objects had not been saved.
    let isTemporary: Bool
    /// Whether the identifiers come from outside, and may not fit any model.
    let isDecoded: Bool

    init(
        storeIdentifier: UUID, entity: EntityNumber, entityName: String, isTemporary: Bool,
        isDecoded: Bool = false
    ) {
        self.storeIdentifier = storeIdentifier
        self.entity = entity
        self.entityName = entityName
        self.isTemporary = isTemporary
        self.isDecoded = isDecoded
    }

    /// Whether equal numbers in both name the same object.
    func names(sameAs other: IdentifierGroup) -> Bool {
        self === other || (entity == other.entity && storeIdentifier == other.storeIdentifier)
    }
}

extension PersistentStore {
    /// The object that an entity's name and a number mean; see `Store.object(ofEntityNamed:number:)`.
    fileprivate func object(ofEntityNamed name: String, number: UInt64) -> ObjectID? {
        do {
            return try store.object(ofEntityNamed: name, number: number)
        } catch {
            // A store that cannot be read says so when the object is asked for.
            return nil
        }
    }
}

extension PersistentStoreCoordinator {
    /// The identifier from which ``ManagedObjectID/uriRepresentation()`` made the text.
    ///
    /// It is found also when its entity has been renamed since.
    ///
    /// - Returns: Nil when the text has another form, when the coordinator has no such store, or the
    ///   model no such entity, or one without objects. There need not be such an object.
    /// - Complexity: O(log *n*) page reads; O(*v*) more, *v* the number of versions of the model, when
    ///   no object has the name and number today.
    public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
        let stores = persistentStores
        guard let id = ManagedObjectID(uri: url.absoluteString, in: model.schema, among: stores),
            let store = stores.first(where: { $0.identifier == id.storeIdentifier }),
            store.holds(id.object.entity)
        else { return nil }
        return id
    }
}

/// Identifies an object among all stores of one coordinator.
struct GraphID: Hashable, Sendable {
    /// The number of the store in its coordinator.
    let store: UInt32
    // The parts of the object's identifier are stored one by one to avoid padding: every object, and
    // every table of objects, has one of these.
    private let entity: EntityNumber
    private let number: UInt64

    init(store: UInt32, object: ObjectID) {
        self.store = store
        entity = object.entity
        number = object.number
    }

    /// The object within its store.
    var object: ObjectID { ObjectID(entity: entity, number: number) }

    /// The highest bit marks numbers that no store has given out; see
    /// ``PersistentStoreCoordinator/provisionalID(of:)``.
    static let provisionalMark: UInt64 = 1 << 63

    /// Whether the object can never be saved.
    var isProvisional: Bool { number & Self.provisionalMark != 0 }

    static func == (left: GraphID, right: GraphID) -> Bool {
        left.number == right.number && left.store == right.store && left.entity == right.entity
    }

    /// Numbers are unique over all entities of a store, so the number alone spreads well.
    func hash(into hasher: inout Hasher) {
        hasher.combine(number)
    }

    /// The identifier in one word that no other object of the coordinator has: numbers are unique in
    /// a store and stay far below 2⁴⁸, where the store's number is put; the highest bit marks
    /// identifiers that are never saved. Never 0.
    var word: UInt64 { number &+ UInt64(store) << 48 }

    /// The number of the store in such a word.
    static func store(ofWord word: UInt64) -> UInt64 { word >> 48 }
}
