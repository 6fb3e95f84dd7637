internal import DaybookObjectModel

/// The inserts that an entry begins with, in the order of their objects.
///
/// Their rows are made of the bytes of the entry alone, and so they need not be kept until everything
/// is written.
struct InsertPrefix {
    let payload: EntryPayload.Encoded
    /// How many changes of the entry they are.
    private(set) var count = 0
    private var last: ObjectID?

    init(_ payload: EntryPayload.Encoded) {
        self.payload = payload
    }

    /// Takes in an insert.
    ///
    /// - Returns: Whether it follows on those before.
    mutating func take(_ object: ObjectID, at place: Int) -> Bool {
        guard place == count else { return false }
        if let last, object <= last { return false }
        last = object
        count += 1
        return true
    }
}
