import DaybookObjectModel
import DaybookSnapshotStore

/// The row that an object reads its values from, if it has one.
///
/// It cannot be copied, so reading a value borrows it: a copy of the row would retain and release a
/// reference for each value.
struct BorrowedRow: ~Copyable {
    let row: EncodedRow?

    init(_ row: EncodedRow? = nil) {
        self.row = row
    }

    /// Whether there is no row.
    var isEmpty: Bool { row == nil }

    /// The value in a slot; null when there is none.
    func value(inSlot slot: Int) -> Value { row?.value(inSlot: slot) ?? .null }

    /// Whether there is no value in a slot.
    func isNull(inSlot slot: Int) -> Bool { row?.isNull(inSlot: slot) ?? true }

    /// The integer in a slot; nil when there is none.
    func integer(inSlot slot: Int) -> Int64? { row?.integer(inSlot: slot) }

    /// The floating-point number in a slot; nil when there is none.
    func double(inSlot slot: Int) -> Double? { row?.double(inSlot: slot) }

    /// The text in a slot; nil when there is none.
    func text(inSlot slot: Int) -> String? { row?.text(inSlot: slot) }

    /// The seconds since the reference date of the date in a slot; nil when there is none.
    func seconds(inSlot slot: Int) -> Double? { row?.seconds(inSlot: slot) }
}
