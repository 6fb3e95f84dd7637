internal import DaybookObjectModel

/// The inserts that an entry begins with, in the order of their objects.
///
/// Their rows are made from the bytes of the entry alone, so they need not be kept until everything
/// is written.
struct InsertPrefix {
    let payload: EntryPayload.Encoded
    /// How many inserts there are.
    private(set) var count = 0
    private var last: ObjectID?

    init(_ payload: EntryPayload.Encoded) {
        self.payload = payload
    }

    /// Adds an insert.
    ///
    /// - Returns: Whether it directly follows those before.
    mutating func take(_ object: ObjectID, at index: Int) -> Bool {
        guard index == count else { return false }
        if let last, object <= last { return false }
        last = object
        count += 1
        return true
    }
}
