import Foundation

@testable import DaybookObjectGraph

/// Keeps the notifications that one object posts.
final class Recorder: @unchecked Sendable {
    // @unchecked Sendable because notifications come on the queue of the context that posts them, and
    // tests look at them there.
    private(set) var heard: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name, from object: AnyObject) {
        token = NotificationCenter.default.addObserver(
            forName: name, object: object, queue: nil
        ) { [weak self] notification in
            self?.heard.append(notification)
        }
    }

    deinit {
        if let token { NotificationCenter.default.removeObserver(token) }
    }

    /// Forgets the notifications.
    func clear() {
        heard = []
    }

    /// The objects of a set in the last notification; none when it is missing.
    func objects(_ key: String) -> Set<ManagedObject> {
        heard.last?.userInfo?[key] as? Set<ManagedObject> ?? []
    }

    /// The identifiers of a set in the last notification; none when it is missing.
    func identifiers(_ key: String) -> Set<ManagedObjectID> {
        heard.last?.userInfo?[key] as? Set<ManagedObjectID> ?? []
    }

    /// The sets of the last notification.
    var keys: Set<String> {
        Set((heard.last?.userInfo ?? [:]).keys.compactMap { $0 as? String })
    }
}
