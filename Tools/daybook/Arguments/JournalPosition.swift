import DaybookSnapshotStore

/// A position in the journal on the command line: `SEQ|TIME`.
///
/// Digits alone are always a sequence number, so `2011` is entry 2011 and not a year; `head` is the
/// newest entry; text in the form of a time (see ``PointInTime``) means the latest entry that is
/// not after it; anything else is the name of a tag.
enum JournalPosition: Equatable, Sendable {
    case head
    case sequence(UInt64)
    case time(PointInTime)
    case tag(String)

    init?(_ text: String) {
        if text == "head" {
            self = .head
        } else if let number = Self.sequence(from: text) {
            self = .sequence(number)
        } else if let time = PointInTime(text) {
            self = .time(time)
        } else if StoreTag.objection(to: text) == nil {
            self = .tag(text)
        } else {
            return nil
        }
    }

    /// The sequence number in a text of digits only.
    static func sequence(from text: String) -> UInt64? {
        guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return UInt64(text)
    }
}
