import DaybookJournalLog
import DaybookObjectModel

/// An entry of one of the stores.
struct EntryName: Hashable, Comparable {
    let store: UInt32
    let sequence: SequenceNumber

    static func < (left: EntryName, right: EntryName) -> Bool {
        (left.store, left.sequence) < (right.store, right.sequence)
    }
}

/// What lists have yet to be told: which objects have changed, what of them, and through which entry.
struct ListNotices {
    /// How much a change of an object means to those who show it.
    enum Weight: Int, Comparable {
        /// The object is what it was; only what is read of it may be another.
        case silent
        /// What was pending has been saved.
        case saved
        /// The object has changed, or who is related to it.
        case update

        static func < (left: Weight, right: Weight) -> Bool { left.rawValue < right.rawValue }
    }

    /// What is known of the change of one object.
    struct Notice {
        /// The entry that has changed it last; nil for a pending change.
        var cause: EntryName?
        var weight: Weight
        /// What has changed; nil for everything.
        var properties: Set<PropertyNumber>?
    }

    private(set) var objects: [GraphID: Notice] = [:]
    /// Whether anything may have changed.
    private(set) var isEverything = false
    /// Whether the context has forgotten its objects, or has other stores.
    private(set) var isReset = false
    /// Objects that have gone, which lists can still show while they are told.
    private(set) var gone: [GraphID: ManagedObject] = [:]

    /// Whether there is nothing to tell.
    var isEmpty: Bool { objects.isEmpty && !isEverything }

    /// Takes in a change of an object, and that of the objects that it starts or ceases to refer to.
    mutating func take(
        _ change: Change, of id: GraphID, _ entity: SchemaEntity, _ weight: Weight = .update,
        cause: EntryName? = nil
    ) {
        var properties: Set<PropertyNumber>?
        if case .update(let edits, let members) = change.kind {
            properties = Set(edits.map(\.property)).union(members.map(\.property))
        }
        take(id, properties, weight, cause: cause)
        change.forEachReference(of: entity) { reference in
            guard reference.begins || reference.ends, let inverse = reference.property.end?.inverse
            else { return }
            take(
                GraphID(store: id.store, object: reference.destination), [inverse], weight,
                cause: cause)
        }
    }

    /// Takes in that something of an object has changed; nil for anything.
    mutating func take(
        _ id: GraphID, _ properties: Set<PropertyNumber>?, _ weight: Weight,
        cause: EntryName? = nil
    ) {
        guard var notice = objects[id] else {
            objects[id] = Notice(cause: cause, weight: weight, properties: properties)
            return
        }
        if let cause { notice.cause = cause }
        notice.weight = max(notice.weight, weight)
        notice.properties = notice.properties.flatMap { known in properties.map(known.union) }
        objects[id] = notice
    }

    /// Takes in what has come in later.
    mutating func take(_ later: ListNotices) {
        for (id, notice) in later.objects {
            take(id, notice.properties, notice.weight, cause: notice.cause)
        }
        isEverything = isEverything || later.isEverything
        isReset = isReset || later.isReset
        gone.merge(later.gone) { $1 }
    }

    /// Keeps an object that has gone until lists have been told.
    mutating func keep(_ object: ManagedObject) { gone[object.graphID] = object }

    /// Takes in that anything may have changed.
    mutating func takeEverything() { isEverything = true }

    /// Takes in that the context has forgotten its objects, or has other stores.
    mutating func takeReset() {
        isEverything = true
        isReset = true
    }

    /// Takes in what has changed in a parent.
    mutating func take(_ others: NoticesOfParent) {
        for (id, properties) in others.objects { take(id, properties, .silent) }
        isEverything = isEverything || others.isEverything
    }

    /// What children have to look at again; of saves and merges they are told as such.
    var forChildren: NoticesOfParent {
        NoticesOfParent(objects: objects.mapValues(\.properties), isEverything: isEverything)
    }
}

/// What has changed in a parent, for the lists of its children.
struct NoticesOfParent: Sendable {
    let objects: [GraphID: Set<PropertyNumber>?]
    let isEverything: Bool
}
