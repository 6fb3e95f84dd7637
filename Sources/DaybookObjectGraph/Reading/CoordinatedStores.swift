import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

/// The stores of a coordinator, as one context reads and follows them.
///
/// Invariants:
/// - A store has a position here once the context has asked for it.
/// - While reading is held, only pinned stores are read; a store without a pin is empty.
final class CoordinatedStores: ParentStore, @unchecked Sendable {
    // @unchecked Sendable because all mutable state is confined to the queue of the one context that
    // reads through it.

    private let coordinator: PersistentStoreCoordinator
    /// Whether the context always reads a point in the past.
    private let isPast: Bool
    /// How far the context has followed each store, by the store's number.
    private var positions: [UInt32: StorePosition] = [:]
    /// Which entries those are that the context is held to.
    private var pinMarks = PinMarks()
    // Unchecked because every fault would pay for the check, and nothing here calls the program.
    /// The state to read, as it was requested; nil for always the newest.
    @exclusivity(unchecked) private var held: QueryGenerationToken?
    /// Whether the next read decides which entries ``QueryGenerationToken/current`` means.
    private var isHeldAtNextRead = false
    /// The store that was asked for last, and what distinguishes it from others.
    @exclusivity(unchecked) private var storeInUse: PersistentStore?
    @exclusivity(unchecked) private var storeMark = StoreMark()
    /// Whether changes start from a point in the past.
    private var speculates = false
    private var follows = false
    /// By the number of the store.
    private var subscriptions: [UInt32: Subscription] = [:]
    /// Counts what is read; nil while nobody asks.
    private var watch: ReadWatch?
    /// The last entry of each store when the context began to follow it, by the store's number.
    private var followedFrom: [UInt32: SequenceNumber] = [:]

    /// The stores at their newest state.
    init(of coordinator: PersistentStoreCoordinator) {
        self.coordinator = coordinator
        isPast = false
        startAtHeads()
    }

    /// The stores as of given entries; stores without one are empty.
    init(
        of coordinator: PersistentStoreCoordinator, asAt sequences: [UInt32: SequenceNumber]
    ) {
        self.coordinator = coordinator
        isPast = true
        startAtHeads()
        held = QueryGenerationToken(entries: [:])
        for (store, sequence) in sequences { positions[store]?.pinned = sequence }
        notePins()
    }

    /// The stores as of given entries, from which the context's changes start until they are saved,
    /// everything is merged or the context is held to a query generation.
    init(
        of coordinator: PersistentStoreCoordinator,
        speculatingFrom sequences: [UInt32: SequenceNumber]
    ) {
        self.coordinator = coordinator
        isPast = false
        speculates = true
        startAtHeads()
        held = QueryGenerationToken(entries: [:])
        for (store, sequence) in sequences {
            let rewinds = positions[store]?.rewinds ?? 0
            positions[store] = StorePosition(
                base: JournalEnd(head: sequence, rewinds: rewinds), pinned: sequence)
        }
        notePins()
    }

    /// Notes which entries those are that the context is held to.
    private func notePins() {
        do {
            for store in stores {
                try pinMarks.check(positions[store.number]?.pinned ?? .zero, of: store)
            }
        } catch {
            // The first read meets the error.
            return
        }
    }

    private func startAtHeads() {
        for store in coordinator.persistentStores {
            positions[store.number] = StorePosition(
                base: coordinator.endForNewContext(of: store))
        }
    }

    var context: ManagedObjectContext? { nil }
    var keepsEntries: Bool { true }
    var mayHaveNews: Bool { true }
    var isSpeculative: Bool { speculates }
    var isFollowing: Bool { follows }

    func hasMoved() throws -> Bool {
        try coordinator.persistentStores.contains { store in
            let (position, end) = (position(in: store), try store.store.end())
            return position.rewinds != end.rewinds
                || position.hasForeignEntries(before: end.head.next)
        }
    }

    var isHeld: Bool { held != nil }

    // MARK: - Stores

    /// The stores, in the order in which they were added.
    var stores: [PersistentStore] { coordinator.persistentStores }

    /// The rows that objects share with those of other contexts.
    var rows: RowCache { coordinator.rows }

    /// The store of a number; nil when it was removed.
    func store(numbered number: UInt32) -> PersistentStore? { coordinator.store(number) }

    /// Why there is no store of a number.
    func absence(ofStore number: UInt32) -> StoreError {
        .noSuchStore(coordinator.storeName(number))
    }

    func store(of id: GraphID) throws -> PersistentStore {
        if storeMark.number == id.store, storeMark.attachments == coordinator.attachmentCount,
            let store = storeInUse
        {
            return store
        }
        let attachments = coordinator.attachmentCount
        guard let store = coordinator.store(id.store) else {
            throw absence(ofStore: id.store)
        }
        storeInUse = store
        storeMark = StoreMark(of: store, attachments: attachments)
        return store
    }

    func graphID(of id: ManagedObjectID) -> GraphID? {
        if storeMark.attachments == coordinator.attachmentCount,
            storeMark.identifier == id.storeIdentifier, !id.isDecoded
        {
            return GraphID(store: storeMark.number, object: id.object)
        }
        return coordinator.graphID(of: id)
    }

    func add(_ store: PersistentStore, for context: ManagedObjectContext) {
        guard coordinator.has(store) else { return }
        let head = store.endWhenAdded.head
        let known = position(in: store)
        if known.base > head {
            // An older copy was put in the place of the store that was here.
            positions[store.number] = StorePosition(
                base: store.endWhenAdded, pinned: known.pinned.map { min($0, head) })
        }
        guard follows, subscriptions[store.number] == nil else { return }
        follow(store, for: context)
    }

    func remove(_ store: PersistentStore) {
        subscriptions[store.number] = nil
    }

    func replace(
        _ old: PersistentStore, with store: PersistentStore, for context: ManagedObjectContext
    ) {
        guard subscriptions.removeValue(forKey: old.number) != nil, coordinator.has(store) else {
            return
        }
        follow(store, for: context)
    }

    // MARK: - Reading

    /// Reads a store in the state that the context sees.
    func read<Result>(
        _ store: PersistentStore, _ body: (borrowing Snapshot) throws -> Result
    ) throws -> Result {
        guard held != nil else { return try store.read(at: nil, watchedBy: watch, body) }
        let pinned = try pin(of: store)
        var isOpen = false
        do {
            return try store.read(at: pinned, watchedBy: watch) { snapshot in
                isOpen = true
                try pinMarks.check(pinned, of: store, in: snapshot)
                return try body(snapshot)
            }
        } catch let error as StoreError where error.code == .noSuchEntry && !isOpen {
            guard pinMarks.place(of: pinned, in: store.number) != nil else { throw error }
            throw StoreError.cutOff(pinned, of: store)
        }
    }

    /// Whether what is read is counted.
    var isWatched: Bool { watch != nil }

    func watching<Result>(_ watch: ReadWatch, _ body: () throws -> Result) throws -> Result {
        let before = self.watch
        defer { self.watch = before }
        self.watch = watch
        return try body()
    }

    // MARK: - Positions

    /// How far the context has followed a store. A store added after the context was made is followed
    /// from then on.
    func position(in store: PersistentStore) -> StorePosition {
        if let position = positions[store.number] { return position }
        let position = StorePosition(base: store.endWhenAdded)
        positions[store.number] = position
        return position
    }

    /// The entry whose state is read; nil for the newest.
    func position(toRead store: PersistentStore) throws -> SequenceNumber? {
        guard held != nil else { return nil }
        let pinned = try pin(of: store)
        try pinMarks.check(pinned, of: store)
        return pinned
    }

    /// The entry to which reading is held, as far as is known there still.
    private func pin(of store: PersistentStore) throws -> SequenceNumber {
        if isHeldAtNextRead { try pin() }
        return positions[store.number]?.pinned ?? .zero
    }

    private func pin() throws {
        pinMarks.forgetAll()
        for store in coordinator.persistentStores {
            var position = position(in: store)
            position.pinned = try store.head()
            positions[store.number] = position
        }
        isHeldAtNextRead = false
        notePins()
    }

    func reading<Result>(_ state: ReadState, _ body: () throws -> Result) throws -> Result {
        let (before, isHeldLater) = (held, isHeldAtNextRead)
        let (pins, marks) = (positions.mapValues(\.pinned), pinMarks)
        defer {
            (held, isHeldAtNextRead, pinMarks) = (before, isHeldLater, marks)
            for number in positions.keys { positions[number]?.pinned = pins[number] ?? nil }
        }
        (held, isHeldAtNextRead) = (QueryGenerationToken(entries: [:]), false)
        for store in stores {
            var position = position(in: store)
            position.pinned = state.sequences[store.number] ?? .zero
            positions[store.number] = position
        }
        return try body()
    }

    func mayHaveMerged(after state: ReadState) -> Bool {
        guard !isHeld else { return false }
        return follows
            || state.sequences.contains { positions[$0.key].map { $0.base } ?? .zero > $0.value }
    }

    var generation: QueryGenerationToken? {
        guard held != nil, !isHeldAtNextRead else { return held }
        notePins()
        let pairs = coordinator.persistentStores.compactMap { store in
            positions[store.number]?.pinned.map { sequence in
                let place = pinMarks.place(of: sequence, in: store.number)
                return (
                    store.identifier,
                    QueryGenerationToken.Entry(sequence: sequence, digest: place?.digest)
                )
            }
        }
        return QueryGenerationToken(entries: Dictionary(pairs) { first, _ in first })
    }

    func hold(to token: QueryGenerationToken?) throws {
        guard !isPast else { throw StoreError.noGeneration(isChild: false) }
        let places = try places(of: token)
        speculates = false
        held = token
        isHeldAtNextRead = token == .current
        pinMarks.forgetAll()
        for store in coordinator.persistentStores {
            var position = position(in: store)
            position.pin(at: token?.sequence(inStore: store.identifier))
            positions[store.number] = position
        }
        for (store, place) in places { pinMarks.note(place, in: store) }
        if held != nil, !isHeldAtNextRead { notePins() }
    }

    /// The entries of a token that are known by more than their numbers, by the number of the store.
    ///
    /// - Throws: ``StoreError`` with code `generation` when one is not there any more; when a store cannot be read.
    private func places(of token: QueryGenerationToken?) throws -> [UInt32: JournalPlace] {
        var places: [UInt32: JournalPlace] = [:]
        for store in stores {
            guard let place = token?.entries?[store.identifier]?.place else { continue }
            guard try store.store.has(place) else {
                throw StoreError.cutOff(place.sequence, of: store)
            }
            places[store.number] = place
        }
        return places
    }

    func reset() {
        for store in coordinator.persistentStores {
            var position = StorePosition(base: coordinator.endForNewContext(of: store))
            position.pin(at: positions[store.number]?.pinned)
            positions[store.number] = position
        }
    }

    /// Records an entry that the context has saved, and reads on from there: what the context reads
    /// again has to be what was saved.
    func recordSave(_ sequence: SequenceNumber, in store: PersistentStore) {
        positions[store.number]?.recordSave(sequence)
        pinMarks.forget(store.number)
    }

    func unmergedTouches(
        of changes: [Change], in store: PersistentStore
    ) throws -> [UndoObstacle] {
        let position = position(in: store)
        return try store.store.touches(
            of: changes, after: position.base, except: position.ownEntries)
    }

    /// Moves the base of a store past the entries up to one, and passes on those of others.
    func moveBase(
        of store: PersistentStore, through target: SequenceNumber,
        _ body: (SequenceNumber, [Change]) throws -> Void
    ) throws {
        var position = position(in: store)
        coordinator.rows.learn(of: target, in: store.number)
        pinMarks.forget(store.number)
        if position.pinned != nil { position.pinned = target }
        // What is read from here on is what the entries lead to.
        positions[store.number]?.pinned = position.pinned
        do {
            try store.store.entries(from: position.base.next, through: target) { entry in
                if !position.ownEntries.remove(entry.sequence) {
                    // A program with another model may have saved it.
                    let schema = store.store.schema
                    try body(
                        entry.sequence, entry.changes.compactMap { $0.shown(by: schema) })
                }
                position.base = entry.sequence
                positions[store.number] = position
                return .proceed
            }
        } catch {
            // Reading stays where merging stopped.
            let reached = self.position(in: store).base
            positions[store.number]?.advancePin(to: reached)
            throw error
        }
    }

    /// Begins to follow a store anew, after entries were cut off.
    func restart(at end: JournalEnd, of store: PersistentStore) {
        let isPinned = position(in: store).pinned != nil
        coordinator.rows.learn(of: end, in: store.number)
        pinMarks.forget(store.number)
        positions[store.number] = StorePosition(base: end, pinned: isPinned ? end.head : nil)
    }

    /// Lets go of the past, now that everything since has been merged.
    func endSpeculation() {
        guard speculates else { return }
        speculates = false
        held = nil
        for number in Array(positions.keys) { positions[number]?.pinned = nil }
    }

    // MARK: - Following

    func follow(_ isFollowing: Bool, for context: ManagedObjectContext) {
        guard isFollowing != follows else { return }
        follows = isFollowing
        subscriptions = [:]
        guard isFollowing else { return }
        for store in coordinator.persistentStores { follow(store, for: context) }
    }

    private func follow(_ store: PersistentStore, for context: ManagedObjectContext) {
        followedFrom[store.number] = coordinator.endForNewContext(of: store).head
        let subscription = store.store.subscribe { [weak self, weak context, weak store] sequence in
            guard let context, self != nil, let store else { return }
            context.perform { [weak self, weak context] in
                guard let self, let context else { return }
                mergeAsTheyCome(sequence, of: store, into: context)
            }
        }
        subscriptions[store.number] = subscription
    }

    func knewFault(_ id: GraphID, before sequence: SequenceNumber?) -> Bool {
        // A fault may be made from an identifier before its record exists; then the insert is news. It is
        // none when the entry that inserted the object is older than the moment this context began to
        // follow others.
        guard let sequence, let beginning = followedFrom[id.store] else { return false }
        return sequence <= beginning
    }
}

/// The store that was asked for last, and how often stores had come and gone by then.
private struct StoreMark {
    let identifier: UUID
    let number: UInt32
    let attachments: UInt64

    /// The mark of no store.
    init() {
        identifier = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        number = 0
        attachments = .max
    }

    init(of store: PersistentStore, attachments: UInt64) {
        identifier = store.identifier
        number = store.number
        self.attachments = attachments
    }
}
