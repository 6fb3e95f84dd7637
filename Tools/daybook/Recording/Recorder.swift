import Daybook
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// Turns operations into entries by way of a context, so that delete rules, inverses and validation
/// are the same as for any program.
///
/// Used on the main thread. After an error, drop the open entry together with the recorder.
final class Recorder {
    /// An entry that has become durable.
    struct RecordedEntry {
        let sequence: SequenceNumber
        let digest: Digest
        let inserts: Int
        let updates: Int
        let deletes: Int
    }

    /// An object that was named by `ref`.
    private struct NamedObject {
        let id: ManagedObjectID
        let line: Int
    }

    let context: ManagedObjectContext
    let store: Store
    private let container: PersistentContainer
    private let author: String?
    private let note: String?
    private let info: [String: String]
    /// The folder of the files that values may name; nil when they may not.
    let files: String?
    /// Whether nothing is saved.
    let isDry: Bool
    private var refs: [String: NamedObject] = [:]
    let matcher: ObjectMatcher
    var trace = EntryTrace()

    var schema: Schema { store.schema }
    /// Whether the model has laws, which may be about any property.
    private(set) lazy var hasLaws = schema.model.entities.contains { !$0.laws.isEmpty }

    /// Opens an existing store.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - author: The author of saves that name none.
    ///   - note: The note of saves that have none.
    ///   - info: Information on saves that have none by the same key.
    ///   - files: The folder of the files that values may name; nil when they may not.
    ///   - isDry: Whether nothing is saved, and not even a number taken for a new object.
    ///   - console: Where it is shown that pages are checked before the first save.
    /// - Throws: ``StoreError`` when the store cannot be used.
    init(
        path: String, author: String?, note: String?, info: [String: String] = [:],
        files: String? = nil, isDry: Bool = false, _ console: Console
    ) throws {
        // The container shares the file that is open here, and what is told of its check.
        let opened =
            isDry ? try StoreReading.open(path) : try StoreWriting.open(path, console)
        var options = PersistentStoreOptions()
        options.isReadOnly = isDry
        if !isDry { options.sharing = try SharedStores.link(in: opened).map(StoreSharing.init) }
        container = try withExtendedLifetime(opened) {
            try PersistentContainer(
                URL(fileURLWithPath: path), managedObjectModel: opened.schema.model,
                options: options)
        }
        guard let added = container.persistentStoreCoordinator.persistentStores.first else {
            preconditionFailure("A container has a store.")
        }
        store = added.store
        if isDry { try store.imagineObjectNumbers() }
        context = container.viewContext
        context.undoManager = nil
        self.author = author
        self.note = note
        self.info = info
        self.files = files
        self.isDry = isDry
        matcher = ObjectMatcher(context: context, store: store)
    }

    // MARK: - Operations

    /// Carries out one operation.
    ///
    /// - Returns: The entry of a save; nil for other operations and if there was nothing to save.
    /// - Throws: ``LineProblem`` when the operation does not fit; ``StoreError`` when the store
    ///   fails.
    func perform(_ operation: Operation, line: Int) throws -> RecordedEntry? {
        switch operation {
        case .insert(let entity, let ref, let values):
            try insert(entity, ref, values, line)
        case .update(let target, let values):
            try update(try object(target), values, line)
        case .delete(let target):
            delete(try object(target), line)
        case .save(let notes):
            return try save(notes, line: line)
        }
        return nil
    }

    /// Saves the open entry at the end of the input.
    func finish(line: Int) throws -> RecordedEntry? {
        trace.isEmpty ? nil : try save(Operation.SaveNotes(), line: line)
    }

    private func insert(
        _ entityName: String, _ ref: String?, _ values: [JSONMember], _ line: Int
    ) throws {
        if let ref, let other = refs[ref] {
            throw LineProblem(
                "'ref' cannot be '\(ref)' again: it names the object of line \(other.line).")
        }
        let object = try newObject(of: try entity(named: entityName), line)
        if let ref { refs[ref] = NamedObject(id: object.objectID, line: line) }
        try set(values, of: object, line)
        matcher.markTouched(object)
    }

    /// Inserts an object, whose values are set next.
    func newObject(of entity: SchemaEntity, _ line: Int) throws -> ManagedObject {
        guard !entity.isAbstract else {
            let names = entity.family.compactMap { schema.entity($0) }
                .filter { !$0.isAbstract }.map(\.name)
            throw LineProblem(
                "'\(entity.name)' is abstract, so no object of it can be inserted; there is "
                    + "\(Operation.list(names)).")
        }
        let object = context.insertNewObject(forEntityName: entity.name)
        trace.count(.insert, of: object, line: line)
        return object
    }

    /// Sets properties of an existing object.
    func update(_ object: ManagedObject, _ values: [JSONMember], _ line: Int) throws {
        trace.count(.update, of: object, line: line)
        try set(values, of: object, line)
        matcher.markTouched(object)
    }

    /// Deletes an object.
    func delete(_ object: ManagedObject, _ line: Int) {
        trace.count(.delete, of: object, line: line)
        context.delete(object)
        // Delete rules are carried out now, so that later lines see the result.
        context.processPendingChanges()
        matcher.markTouched(object)
    }

    /// Adds values about the store to the existing ones; the next save writes them with its entry.
    func keep(_ values: [String: Value]) throws {
        let coordinator = container.persistentStoreCoordinator
        guard let added = coordinator.persistentStores.first else {
            preconditionFailure("A container has a store.")
        }
        try coordinator.setMetadata(try store.userValues().merging(values) { $1 }, for: added)
    }

    /// Saves the open entry, which may say that it undoes others; nil if there was nothing to save.
    func save(
        _ notes: Operation.SaveNotes, undoing undone: ClosedRange<SequenceNumber>? = nil, line: Int
    ) throws -> RecordedEntry? {
        let sequence: SequenceNumber?
        do {
            sequence = try context.save(
                author: notes.author ?? author, note: notes.note ?? note,
                info: info.merging(notes.info) { _, own in own },
                occurredAt: notes.time, undoing: undone)
        } catch let error as StoreError {
            throw EntryDiagnosis(self).problem(error, savedInLine: line)
        }
        let counted = trace
        trace = EntryTrace()
        // The next entry reads the newest state of the store, and memory does not grow with the
        // input.
        context.reset()
        matcher.removeAll()
        return try sequence.map {
            RecordedEntry(
                sequence: $0, digest: try digest(of: $0), inserts: counted.inserts,
                updates: counted.updates, deletes: counted.deletes)
        }
    }

    /// The digest of an entry just saved; it is read only if others have saved since.
    private func digest(of sequence: SequenceNumber) throws -> Digest {
        let digest = try store.headDigest()
        return try store.head() == sequence ? digest : try store.entry(sequence).digest
    }

    // MARK: - Finding

    func entity(named name: String) throws -> SchemaEntity {
        if let entity = schema.entity(named: name) { return entity }
        let names = schema.entities.map(\.name)
        let near = Suggestion.nearest(to: name, among: names)
        throw LineProblem(
            "There is no entity '\(name)'; "
                + (near.map { "did you mean '\($0)'?" } ?? "there is \(Operation.list(names))."))
    }

    private func object(_ target: Operation.Target) throws -> ManagedObject {
        switch target {
        case .match(let name, let conditions):
            return try matchedObject(of: try entity(named: name), conditions)
        case .object(let text, let name):
            let object = try object(named: text)
            try check(object, isKindOf: name, text)
            return object
        case .ref(let ref, let name):
            let object = try object(ref: ref)
            try check(object, isKindOf: name, ref)
            return object
        }
    }

    private func check(
        _ object: ManagedObject, isKindOf name: String?, _ text: String
    ) throws {
        guard let name else { return }
        guard try entity(named: name).family.contains(object.objectID.object.entity) else {
            throw LineProblem(
                "'\(text)' is an object of '\(object.objectID.entityName)', not of '\(name)'.")
        }
    }

    /// The object with a name such as `Country/17`.
    func object(named text: String) throws -> ManagedObject {
        guard let id = schema.object(named: text) else {
            let name = String(text.prefix { $0 != "/" })
            if text.contains("/"), schema.entity(named: name) == nil {
                _ = try entity(named: name)
            }
            throw LineProblem(
                "'\(text)' is not the name of an object: one such as "
                    + "'\(schema.entities.first?.name ?? "Country")/17' was expected.")
        }
        do {
            return try context.existingObject(with: managedID(of: id))
        } catch let error as StoreError
            where error.code == .noSuchObject || error.code == .objectDeleted
        {
            throw LineProblem(error.message)
        }
    }

    /// The object that an earlier line has named.
    func object(ref: String) throws -> ManagedObject {
        guard let named = refs[ref] else {
            let near = Suggestion.nearest(to: ref, among: Array(refs.keys))
            throw LineProblem(
                "No line before this one has the ref '\(ref)'"
                    + (near.map { "; did you mean '\($0)'?" } ?? "."))
        }
        do {
            return try context.existingObject(with: named.id)
        } catch let error as StoreError
            where error.code == .noSuchObject || error.code == .objectDeleted
        {
            throw LineProblem(
                "The ref '\(ref)' names the object of line \(named.line), which has been deleted.")
        }
    }

    /// The one object that meets all conditions.
    func matchedObject(
        of entity: SchemaEntity, _ members: [JSONMember]
    ) throws -> ManagedObject {
        guard !members.isEmpty else {
            throw LineProblem("'match' is empty: at least one attribute was expected.")
        }
        var match = ObjectMatcher.Match(entity: entity)
        for member in try elementMembers(members, of: entity) {
            let property = try property(named: member.name, of: entity)
            if let attribute = property.attribute {
                guard property.isPersistent else {
                    throw LineProblem("'\(property.name)' is transient and cannot be matched.")
                }
                let value = try value(member.value, of: attribute)
                match.attributes.append((property, value))
            } else if property.relationship?.isToMany == false {
                match.destinations.append(
                    (property, try destination(member.value, of: property)))
            } else {
                throw LineProblem(
                    "'\(property.name)' leads to many objects and cannot be matched.")
            }
        }
        let found = try matcher.objects(match)
        guard found.count == 1, let object = found.first else {
            throw LineProblem(
                found.isEmpty
                    ? "'match' finds no object of '\(entity.name)'."
                    : "'match' finds \(found.count) objects of '\(entity.name)', where one was "
                        + "expected: \(Self.names(of: found)).")
        }
        return object
    }

    private static func names(of objects: [ManagedObject]) -> String {
        let names = objects.prefix(3).map { $0.objectID.description }
        return names.joined(separator: ", ") + (objects.count > 3 ? " and others" : "")
    }

    /// The names of the objects that lines of the open entry are about.
    var touchedObjects: [String] {
        trace.inOrder.map { object, _ in
            "\(schema.entity(object.entity)?.name ?? "")/\(object.number)"
        }
    }

    /// The instance of an object that the open entry has touched.
    func registeredObject(_ id: ObjectID) -> ManagedObject? {
        context.registeredObject(for: managedID(of: id))
    }

    private func managedID(of id: ObjectID) -> ManagedObjectID {
        ManagedObjectID(
            storeIdentifier: store.uuid, object: id,
            entityName: schema.entity(id.entity)?.name ?? "", isTemporaryID: false)
    }
}
