import Synchronization

/// Whether the program may listen to a notification.
///
/// A notification center cannot be asked. But to listen, a program must name the notification, and its
/// name is a computed property that records it here. Until then nothing is gathered and nothing posted.
final class NotificationInterest: Sendable {
    static let objectsDidChange = NotificationInterest()
    static let willSave = NotificationInterest()
    static let didSave = NotificationInterest()
    static let didSaveObjectIDs = NotificationInterest()
    static let didMergeObjectIDs = NotificationInterest()
    static let remoteChange = NotificationInterest()
    /// Any notification of undo managers.
    static let undoManager = NotificationInterest()

    private let flag = Atomic<Bool>(false)

    /// Whether the notification has been named.
    var isThere: Bool { flag.load(ordering: .relaxed) }

    /// Records that the notification is named.
    func markRequested() {
        flag.store(true, ordering: .relaxed)
    }
}
