import DaybookSnapshotStore

/// A place in the journal as a command line names it: `SEQ|TIME`.
///
/// Digits alone are always a sequence number, so `2011` is entry 2011 and not a year; `head` is the
/// newest entry; what looks like a time is one (see ``PointInTime``) and stands for the latest entry
/// that is not after it; everything else is the name of a tag.
enum PlaceInJournal: Equatable, Sendable {
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
