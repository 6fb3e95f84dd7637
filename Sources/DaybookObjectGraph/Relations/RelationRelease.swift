import DaybookObjectModel
import Synchronization

/// Releases what disappearing objects have held, one after the other.
///
/// An object holds those that it leads to. If each were released by the one before, a list of ten
/// thousand objects would need a very deep stack; so only the first one releases, and the others hand
/// over what they hold.
///
/// Confined to one thread at a time.
final class RelationRelease {
    private var waiting: [[PropertyNumber: RelationCache]] = []
    private var isUnderWay = false
    /// The releases in progress on threads that work in no context.
    private static let elsewhere = Mutex<[ThreadMark: Elsewhere]>([:])

    /// Releases the relations of an object, at once or after those before it.
    func letGo(of relations: consuming [PropertyNumber: RelationCache]) {
        // They always wait: a parameter that is no longer used may be released before the release in
        // progress is recorded.
        waiting.append(consume relations)
        guard !isUnderWay else { return }
        isUnderWay = true
        while let next = waiting.popLast() { _ = consume next }
        isUnderWay = false
        // Space for many is not kept for the few that follow.
        if waiting.capacity > Self.keptCapacity { waiting = [] }
    }

    private static let keptCapacity = 1024

    /// Does the same for an object that is released outside its context, in which other threads may work
    /// at the same time.
    static func letGoElsewhere(of relations: consuming [PropertyNumber: RelationCache]) {
        let thread = ThreadMark.current
        if let underWay = elsewhere.withLock({ $0[thread] }) {
            return underWay.release.letGo(of: consume relations)
        }
        let release = RelationRelease()
        elsewhere.withLock { $0[thread] = Elsewhere(release: release) }
        release.letGo(of: consume relations)
        elsewhere.withLock { $0[thread] = nil }
    }

    private struct Elsewhere: @unchecked Sendable {
        // @unchecked Sendable because only its own thread takes it out.
        let release: RelationRelease
    }
}
