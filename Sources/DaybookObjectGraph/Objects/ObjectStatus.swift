/// What an object is to its context, and everything that can happen to it.
///
/// It answers three separate questions: where the object is, whether its values have been read, and what
/// the next save will do with it. Each answer is a case of an enumeration, so contradictory answers are
/// impossible; and the answers change only with an ``Event``, in ``undergo(_:)``.
///
/// ```
///   new ──inserted──▶ insertOfEvent ──eventEnded──▶ insert ──saved──▶ nothing ──edited──▶ update
///                          └────────────deleted────────┴──▶ insertAndDelete     └deleted─▶ delete
/// ```
struct ObjectStatus {
    /// Where an object is.
    enum Standing: UInt8 {
        /// In its context.
        case present
        /// In its context, but its record has been deleted by someone else.
        case gone
        /// Out of its context: an insert that was undone or rolled back, a delete that was saved, or
        /// anything after a reset.
        case detached
    }

    /// Whether there are values.
    enum Reading: UInt8 {
        /// They have been read, or set.
        case read
        /// They have not been read.
        case fault
        /// They have not been read since a refresh dropped them.
        case refreshedFault
    }

    /// What the next save will do.
    enum Pending: UInt8 {
        case nothing
        /// Insert an object that is new in the event that is being recorded: what is set needs no
        /// record of its own.
        case insertOfEvent
        case insert
        case update
        case delete
        /// Nothing: the object was inserted since the last save and deleted in this event.
        case insertAndDelete
    }

    /// What happens to an object.
    enum Event {
        /// It was made, or made again by a child that saves it.
        case inserted
        /// One of its properties is about to change.
        case edited
        /// It was deleted here, by the program or a delete rule.
        case deleted
        /// The event in which it changed has ended.
        case eventEnded
        /// Its pending change is known again, after undo, redo or a rollback.
        case settled(Pending)
        /// It agrees with the parent store.
        case saved
        /// Its pending changes are dropped: all of them, or only edits.
        case changesDropped, editsDropped
        /// Its values must be read again.
        case outdated
        /// It has values that were read.
        case read
        /// Its record was found deleted.
        case foundGone
        /// A delete is taken back, by undo or a rollback, or by a child that inserts the object again.
        case broughtBack
        /// A child has made it and saves it into this context; or has brought it back.
        case arrived(isReturned: Bool)
        /// Its values are dropped.
        case turnedIntoFault(FaultReason)
        /// It leaves its context.
        case detached
        /// Its identifier counts as permanent before it is saved.
        case promisedIdentifier
    }

    /// Why an object drops its values.
    enum FaultReason {
        /// Its record must be read as if for the first time.
        case anew
        /// The program has asked for the stored values.
        case refresh
        /// The context forgets all its objects.
        case reset
    }

    /// What may hold for an object in any state.
    private struct Marks: OptionSet {
        let rawValue: UInt8
        static let temporary = Marks(rawValue: 1)
        static let permanent = Marks(rawValue: 2)
        static let counted = Marks(rawValue: 4)
        static let valid = Marks(rawValue: 8)
        static let holdsRow = Marks(rawValue: 16)
        static let journaled = Marks(rawValue: 32)
        static let returned = Marks(rawValue: 64)
        /// Marks that are not about the record but about who remembers the object.
        static let ofOthers: Marks = [.holdsRow, .journaled]
    }

    private(set) var standing: Standing
    private(set) var reading: Reading
    private(set) var pending: Pending
    private var marks: Marks

    /// An object that has just been made.
    static let new = ObjectStatus(.present, .read, .insert, [.temporary])
    /// An object that stands for a record.
    static let fault = ObjectStatus(.present, .fault, .nothing, [])

    private init(_ standing: Standing, _ reading: Reading, _ pending: Pending, _ marks: Marks) {
        self.standing = standing
        self.reading = reading
        self.pending = pending
        self.marks = marks
    }

    /// Applies an event.
    mutating func undergo(_ event: Event) {
        switch event {
        case .inserted: pending = .insertOfEvent
        case .edited: if pending == .nothing { pending = .update }
        case .deleted: pending = isPendingInsert ? .insertAndDelete : .delete
        case .eventEnded: if pending == .insertOfEvent { pending = .insert }
        case .settled(let known): pending = known
        case .saved:
            pending = .nothing
            marks.subtract([.temporary, .returned])
        case .changesDropped: pending = .nothing
        case .editsDropped: if pending == .update { pending = .nothing }
        case .outdated: if reading == .read { reading = .fault }
        case .read: reading = .read
        case .foundGone: standing = .gone
        case .broughtBack:
            if standing == .detached {
                standing = .present
                marks.insert(.returned)
            }
            reading = .read
            if pending == .delete { pending = .nothing }
            if pending == .insertAndDelete { pending = .insert }
        case .arrived(let isReturned):
            become(.present, .read, isReturned ? [.temporary, .returned] : [.temporary])
        case .turnedIntoFault(.anew): become(.present, .fault)
        case .turnedIntoFault(.refresh):
            become(.present, reading == .fault ? .fault : .refreshedFault)
        case .turnedIntoFault(.reset): become(.detached, .fault)
        case .detached: become(.detached, .read, [.temporary])
        case .promisedIdentifier: marks.insert(.permanent)
        }
    }

    /// Starts over, with nothing pending.
    private mutating func become(
        _ standing: Standing, _ reading: Reading, _ marks: Marks = []
    ) {
        self = ObjectStatus(
            standing, reading, .nothing, marks.union(self.marks.intersection(.ofOthers)))
    }

    // MARK: - Asking

    /// Whether the values have not been read.
    var isFault: Bool { reading != .read }
    /// Whether a refresh has dropped the values, which have not been read since.
    var isRefreshed: Bool { reading == .refreshedFault }
    /// Whether the record has been deleted by someone else.
    var isGone: Bool { standing == .gone }
    /// Whether the object has left its context.
    var isDetached: Bool { standing == .detached }
    /// Whether the object is new in the event that is being recorded.
    var isOfEvent: Bool { pending == .insertOfEvent }
    /// Whether the object has been inserted since the last save, even if it was deleted again.
    var isPendingInsert: Bool {
        pending == .insertOfEvent || pending == .insert || pending == .insertAndDelete
    }
    /// Whether the object was deleted here.
    var isPendingDelete: Bool { pending == .delete || pending == .insertAndDelete }
    /// Whether the object has never been in the store.
    var isTemporary: Bool { marks.contains(.temporary) }
    /// Whether the object is to be inserted again after it had left the context: others may know it.
    var isReturned: Bool { marks.contains(.returned) }
    /// Whether the identifier counts as permanent in any case.
    var isPromisedIdentifier: Bool { marks.contains(.permanent) }

    // MARK: - Marks

    /// Whether the object has come up in a list that is being searched for duplicates.
    var isCounted: Bool {
        get { marks.contains(.counted) }
        set { set(.counted, newValue) }
    }

    /// Whether a save that calls the object's hooks has just found that it meets the rules of the model.
    var isValid: Bool {
        get { marks.contains(.valid) }
        set { set(.valid, newValue) }
    }

    /// Whether the row that the values come from is kept for other contexts on its own.
    var holdsRow: Bool {
        get { marks.contains(.holdsRow) }
        set { set(.holdsRow, newValue) }
    }

    /// Whether a step of undo may mention the object.
    var isJournaled: Bool { marks.contains(.journaled) }

    /// Marks the object as one that an undo step may mention; the mark stays.
    mutating func markJournaled() { marks.insert(.journaled) }

    private mutating func set(_ mark: Marks, _ isSet: Bool) {
        if isSet { marks.insert(mark) } else { marks.remove(mark) }
    }
}
