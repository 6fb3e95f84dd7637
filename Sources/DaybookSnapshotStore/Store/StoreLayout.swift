internal import DaybookJournalLog
internal import DaybookLMDB

// The layout of a store's file. Keys are big-endian and of fixed width, except for the value inside
// an index key; "object" is entity u32, number u64.
//
// | table | key | value |
// |---|---|---|
// | journal | see `Journal` | |
// | rows | object | since u64, row |
// | versions | object, sequence u64 | the row as it stood before that entry, with its own since |
// | index | property u32, ordered value, object | nothing |
// | index | 2³⁰ + property u32, sequence u64, object | nothing; what entries have changed, where the model asks for it |
// | index | 3·2³⁰ u32, key as ordered value, text as ordered value, sequence u64 | nothing; entries by author (no key) and information, where the model asks for it |
// | members | owner, property u32, member | since u64, order f64 |
// | membersPast | owner, property u32, member, removal u64 | since u64, order f64 |
// | referrers | destination, property u32, owner | since u64 |
// | referrersPast | destination, property u32, owner, removal u64 | since u64 |
// | times | sequence u64, level u8 | times i64: one, 64, or the first and last of 64 records below; see `TimeTree` |
// | models | sequence u64 | the version of the model: see `ModelRecord` |
// | meta | name | bytes, SHA-256 of name and bytes |
//
// Beside the tables stands `head`: see `Journal`.
//
// Two tables are made when they are needed first: `chunks` of large data, see `ChunkTable`, and `states`
// of what programs fold out of the journal, see `StateTable`.
//
// Everything but `journal`, `meta`, `chunks` and `states` is the projection: it follows from the
// journal alone, byte for byte. Each of its records, and of `states`, ends with a check of four
// bytes, which `DaybookLMDB` adds and looks at: see `RecordCheck`.

/// Names and limits of the file format.
enum StoreLayout {
    /// The format of everything in the file. A store of another format is left alone.
    static let format: UInt32 = 1

    /// The table that is read before anything else.
    static let metaName = "meta"

    /// The tables that follow from the journal.
    static let projectionNames = [
        "index", "members", "membersPast", "models", "referrers", "referrersPast", "rows", "times",
        "versions",
    ]

    /// The tables that are made when they are needed first.
    static let laterNames = [ChunkTable.name, StateTable.name]

    /// The tables whose records carry a check.
    static let checkedNames = Set(projectionNames + [StateTable.name])

    /// All tables of a new store.
    static let tableNames = Journal.tableNames + projectionNames + [metaName]

    /// How many bytes of an indexed value its key holds. A longer value is cut off there and
    /// followed by its digest, so that a key fits LMDB's 511 bytes.
    static let indexedBytesLimit = 400

    /// The greatest number of an object.
    static let objectNumberMaximum: UInt64 = (1 << 48) - 1

    /// How many object numbers are taken from the file at a time.
    static let numberBlockSize: UInt64 = 4096

    /// How many are taken at most at a time, when many objects are made between two saves.
    static let numberBlockSizeMaximum: UInt64 = 65_536

    /// The number of changed objects from which a save is followed by a write that lets the next
    /// one use the pages it freed.
    static let changesBeforePagesAreFreed = 4096

    /// When fewer than this are left, a save takes the next block in its own LMDB transaction.
    static let numberBlockLow: UInt64 = 1024

    /// How many bytes of entries are read in one read transaction when many are walked.
    static let walkedBytesLimit = 4 << 20
}

/// The handles of a store's tables. It is a class because handles have names, and everything that
/// reads tables holds one.
final class StoreTables: Sendable {
    let rows: Table
    let versions: Table
    let index: Table
    let members: Table
    let membersPast: Table
    let referrers: Table
    let referrersPast: Table
    let times: Table
    let models: Table
    let meta: Table

    init(in environment: Environment) throws(LMDBError) {
        rows = try environment.table("rows")
        versions = try environment.table("versions")
        index = try environment.table("index")
        members = try environment.table("members")
        membersPast = try environment.table("membersPast")
        referrers = try environment.table("referrers")
        referrersPast = try environment.table("referrersPast")
        times = try environment.table("times")
        models = try environment.table("models")
        meta = try environment.table(StoreLayout.metaName)
    }

    /// The tables that follow from the journal, in the order of their names.
    var projection: [Table] {
        [index, members, membersPast, models, referrers, referrersPast, rows, times, versions]
    }
}
