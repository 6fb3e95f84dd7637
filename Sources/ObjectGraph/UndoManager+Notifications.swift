public import Foundation

extension Notification.Name {
    /// Posted before a group of an undo manager is begun or ended and before something is undone or
    /// redone, while the event still goes on: the moment to bring in what a user is typing. The
    /// notification's object is the undo manager, as in the others; all are posted on its queue.
    public static let undoManagerCheckpoint = Notification.Name("DaybookUndoManagerCheckpoint")
    /// Posted after a group was begun.
    public static let undoManagerDidOpenUndoGroup = Notification.Name(
        "DaybookUndoManagerDidOpenUndoGroup")
    /// Posted after a group was ended, or an event has become a step.
    public static let undoManagerDidCloseUndoGroup = Notification.Name(
        "DaybookUndoManagerDidCloseUndoGroup")
    /// Posted before a step is undone.
    public static let undoManagerWillUndo = Notification.Name("DaybookUndoManagerWillUndo")
    /// Posted after a step was undone.
    public static let undoManagerDidUndo = Notification.Name("DaybookUndoManagerDidUndo")
    /// Posted before a step is redone.
    public static let undoManagerWillRedo = Notification.Name("DaybookUndoManagerWillRedo")
    /// Posted after a step was redone.
    public static let undoManagerDidRedo = Notification.Name("DaybookUndoManagerDidRedo")
}

extension UndoManager {
    func post(_ name: Notification.Name) {
        NotificationCenter.default.post(name: name, object: self)
    }
}
