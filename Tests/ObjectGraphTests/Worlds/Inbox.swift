import Foundation
import Synchronization

@testable import DaybookObjectGraph

/// The notifications a context posts while this is alive.
final class Inbox {
    private let received = Received()
    private var observer: (any NSObjectProtocol)?

    private final class Received: @unchecked Sendable {
        // @unchecked Sendable because a notification is not; the list is guarded, and tests read it
        // only after the context has posted.
        private let lock = NSLock()
        private var list: [Notification] = []

        var notifications: [Notification] { lock.withLock { list } }

        func append(_ notification: Notification) {
            lock.withLock { list.append(notification) }
        }
    }

    init(_ name: Notification.Name, of context: ManagedObjectContext?) {
        observer = NotificationCenter.default.addObserver(
            forName: name, object: context, queue: nil
        ) { [received] in received.append($0) }
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
    }

    var notifications: [Notification] { received.notifications }
}
