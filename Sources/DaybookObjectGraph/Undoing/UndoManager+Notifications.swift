public import Foundation

extension Notification.Name {
    /// Posted before a group of an undo manager is begun or ended and before something is undone or
    /// redone, while the event is still open: the moment to apply what a user is typing. The
    /// notification's object is the undo manager, as in the others; all are posted on its queue.
    public static var undoManagerCheckpoint: Notification.Name { .named(.checkpoint) }
    /// Posted after a group was begun.
    public static var undoManagerDidOpenUndoGroup: Notification.Name { .named(.didOpenGroup) }
    /// Posted after a group was ended, or an event has become a step.
    public static var undoManagerDidCloseUndoGroup: Notification.Name { .named(.didCloseGroup) }
    /// Posted before a step is undone.
    public static var undoManagerWillUndo: Notification.Name { .named(.willUndo) }
    /// Posted after a step was undone.
    public static var undoManagerDidUndo: Notification.Name { .named(.didUndo) }
    /// Posted before a step is redone.
    public static var undoManagerWillRedo: Notification.Name { .named(.willRedo) }
    /// Posted after a step was redone.
    public static var undoManagerDidRedo: Notification.Name { .named(.didRedo) }

    /// The name of a notification, read by somebody who may listen to it.
    private static func named(_ notice: UndoManager.Notice) -> Notification.Name {
        NotificationInterest.undoManager.markRequested()
        return notice.name
    }
}

extension UndoManager {
    /// What an undo manager posts.
    enum Notice: String {
        case checkpoint = "Checkpoint"
        case didOpenGroup = "DidOpenUndoGroup"
        case didCloseGroup = "DidCloseUndoGroup"
        case willUndo = "WillUndo"
        case didUndo = "DidUndo"
        case willRedo = "WillRedo"
        case didRedo = "DidRedo"

        /// The name of its notification.
        var name: Notification.Name { Notification.Name("DaybookUndoManager" + rawValue) }
    }

    /// Posts a notification if somebody may listen.
    func post(_ notice: Notice) {
        guard NotificationInterest.undoManager.isThere else { return }
        NotificationCenter.default.post(name: notice.name, object: self)
    }
}
