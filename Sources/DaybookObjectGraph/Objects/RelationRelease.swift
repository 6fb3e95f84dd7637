import DaybookObjectModel
import Synchronization

/// Lets go of what objects that go have held, one after the other.
///
/// An object holds those that it leads to. Were each released by the one before, a list of some ten
/// thousand objects would need a stack for all of them; so only the first one releases, and the others
/// hand over what they hold.
///
/// Confined to one thread at a time.
final class RelationRelease {
    private var waiting: [[PropertyNumber: RelationCache]] = []
    private var isUnderWay = false
    /// Those that are under way on threads that work in no context.
    private static let elsewhere = Mutex<[ThreadMark: Elsewhere]>([:])

    /// Lets go of the relations of an object, at once or when those before have been let go of.
    func letGo(of relations: consuming [PropertyNumber: RelationCache]) {
        // They wait in every case: a parameter that is not used any more may be released before it is
        // noted that a release is under way.
        waiting.append(consume relations)
        guard !isUnderWay else { return }
        isUnderWay = true
        while let next = waiting.popLast() { _ = consume next }
        isUnderWay = false
        // Room for many is not kept for the few that follow.
        if waiting.capacity > Self.keptCapacity { waiting = [] }
    }

    private static let keptCapacity = 1024

    /// Does the same for an object that goes elsewhere than in its context, which other threads may
    /// work in at the same time.
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
        // @unchecked Sendable because only the thread that it stands for takes it out.
        let release: RelationRelease
    }
}
