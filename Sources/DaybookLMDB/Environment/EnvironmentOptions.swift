/// How a file is opened.
package struct EnvironmentOptions: Sendable {
    /// The tables of the file; made when the file is new, otherwise looked up once.
    package var tables: [String]

    /// Tables that few files have, opened with the others where they are there.
    package var tablesIfThere: [String] = []

    /// Those of the tables whose records carry a check; a record whose check does not fit is never
    /// handed out.
    package var checkedTables: Set<String> = []

    /// Whether a file that does not exist is made.
    package var create: Bool

    /// Whether the file is only read. Its bytes are then never written, not even by LMDB.
    package var readOnly: Bool

    /// When a write counts as done.
    package var durability: Durability

    /// The first size of the memory map in bytes. The map grows by itself.
    package var mapSize: Int

    /// The maximal number of open read transactions of all processes together.
    package var maxReaders: Int

    /// The limit of waiting for locks of other processes.
    package var patience: LockPatience

    /// Whether the file comes from an untrusted source: then all its pages are checked before the
    /// first write, whatever it says of itself.
    package var isUntrusted = false

    /// Told how far that check has come, on the thread of the first write; nil for nobody.
    package var checking: CheckHandler?

    /// Takes the number of pages that have been checked and that of all pages. The last call has both the same, unless
    /// the file is so damaged that its pages cannot be walked. The lock on writing is held meanwhile.
    package typealias CheckHandler = @Sendable (_ done: Int, _ total: Int) -> Void

    /// Whether readers get numbers of their own where LMDB allows it. Tests turn this off, to open a
    /// file as with an LMDB that does not.
    var numbersReaders = true

    /// Options with default values.
    package init(
        tables: [String] = [],
        create: Bool = true,
        readOnly: Bool = false,
        durability: Durability = .durable,
        mapSize: Int = EnvironmentOptions.mapSizeUsual,
        maxReaders: Int = 510,
        patience: LockPatience = LockPatience()
    ) {
        self.tables = tables
        self.create = create
        self.readOnly = readOnly
        self.durability = durability
        self.mapSize = mapSize
        self.maxReaders = maxReaders
        self.patience = patience
    }

    /// Address space costs nothing until it is used, so the first growth comes late.
    package static let mapSizeUsual = 1 << 30

    /// The writes that an operating-system crash may lose.
    package enum Durability: Sendable, Hashable {
        /// None that was reported as written.
        case durable
        /// The last writes, but the file stays sound: the meta page is not synced
        /// (`MDB_NOMETASYNC`).
        case relaxed
        /// All of them, and the file with them (`MDB_NOSYNC`): it can be made anew from a place that is named
        /// here. A mark beside the file tells when that has to be done; see ``Environment/lostOrigin(at:)``.
        case rebuildable(from: String)
    }
}
