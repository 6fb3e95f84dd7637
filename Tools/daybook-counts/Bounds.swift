/// The maximum of each count, and its parts.
///
/// Bounds are the counts at the time they were set, plus a small margin. Lower them when the code
/// needs less; when it needs more, say in the reason what for. Allocations have two bounds, because
/// a debug build makes many that the optimizer removes.
struct Bound {
    let count: String
    let maximum: Double
    let reason: String

    static let all: [Bound] = [
        // Memory, in bytes.
        // In a debug build the Swift runtime may allocate another 16 KB meanwhile for its lookups.
        .init(
            "bytesOfFault", 165, debug: 175,
            "the instance, which can hold the rows read with its own; its place in the registry"),
        .init(
            "bytesOfObject", 390, debug: 400,
            "a fault, with its reference to the rows read with its own; its record as bytes, and the "
                + "record's place"),

        // Reading.
        .init("allocationsPerFault", 1.5, debug: 26, "the instance"),
        .init(
            "allocationsPerFiredFault", 1.5, debug: 14, "the record"),
        .init("allocationsPerNumberRead", 0, debug: 2, "a number stands in the record"),
        .init("allocationsPerShortTextRead", 0, debug: 2, "15 bytes fit into a string"),
        .init("allocationsPerLongTextRead", 1, debug: 3, "a long text may be copied out"),
        .init(
            "allocationsPerFetchedObject", 1.2, debug: 16,
            "a fault; up to 64 share the bytes of their records"),

        // Making and saving.
        .init("allocationsPerNewObject", 5, debug: 36, "the instance, its values, two long texts"),
        .init("allocationsPerObjectOfALargeSave", 0.5, debug: 70, "none: arrays that grow"),
        .init("writtenBytesPerObjectOfALargeSave", 260, "its row, and its change in the journal"),
        .init("digestedBytesPerObjectOfALargeSave", 110, "its change, once"),
        .init("allocationsPerRowOfABatch", 1.5, debug: 12, "its values, and those of the change"),
        .init(
            "allocationsPerRelatedRowOfABatch", 3.5, debug: 17,
            "a plain row's, the keys of its reference; its key path is not followed again"),

        // With 10,000 steps that can be undone, which no edit and no update may copy.
        .init(
            "allocatedBytesPerEditAfterManySteps", 1_000, debug: 1_350,
            "the event, its change, its step, and their share of dictionaries that grow"),
        .init(
            "allocatedBytesPerUpdateAfterManySteps", 14_000, debug: 16_000,
            "an edit, and a save of one change"),

        // A save of one object that is new, and of one whose number has changed.
        .init("allocationsPerSavedInsert", 57, debug: 155, "the change, the entry, its records"),
        .init("allocationsPerSavedUpdate", 66, debug: 165, "the change, the entry, its records"),
        .init(
            "pagesPerSavedInsert", 9,
            "paths in the journal and in the rows, table of tables, free list, meta page"),
        .init("pagesPerSavedUpdate", 11, "as for an insert, and the path of the version before"),
        .init("writesPerSavedInsert", 7, "one for each run of pages, one for the meta page"),
        .init("writesPerSavedUpdate", 9, "one for each run of pages, one for the meta page"),
        .init("syncsPerSavedInsert", 1, "the pages; the meta page is written through"),
        .init("syncsPerSavedUpdate", 1, "the pages; the meta page is written through"),
        .init("digestsPerSavedInsert", 1, "the entry"),
        .init("digestsPerSavedUpdate", 1, "the entry"),
        .init(
            "digestsPerLongSaveAtMost", 2,
            "the entry; with the times of many, the short one among them that sets the model"),
        .init("digestedBytesPerSavedInsert", 180, "the entry once"),
        .init("digestedBytesPerSavedUpdate", 90, "the entry once"),
    ]

    private init(_ count: String, _ maximum: Double, debug: Double? = nil, _ reason: String) {
        self.count = count
        #if DEBUG
        self.maximum = debug ?? maximum
        #else
        self.maximum = maximum
        #endif
        self.reason = reason
    }

    /// The faults of some counts: a sentence for each that is over its bound, has no bound, or is
    /// missing.
    static func findings(in counts: [String: Double]) -> [String] {
        let bounded = Set(all.map(\.count))
        let unbounded = counts.keys.filter { !bounded.contains($0) }.sorted()
        let exceeded = all.compactMap { bound -> String? in
            guard let found = counts[bound.count] else {
                return "'\(bound.count)' was not counted."
            }
            guard found > bound.maximum else { return nil }
            return "'\(bound.count)' is \(found), over its bound of \(bound.maximum): "
                + "\(bound.reason)."
        }
        return exceeded + unbounded.map { "'\($0)' has no bound." }
    }
}
