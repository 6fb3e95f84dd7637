private import CDaybookObjectLiveness

/// A reference that does not keep its object alive and can tell whether it still is: a weak one at
/// half the price.
///
/// Swift's own weak references move the counts of their object into a table beside it, which costs an
/// allocation for each object and makes every later retain and release of it dearer. This one keeps
/// the *memory* of the object, as an unowned reference does, and asks the count itself.
///
/// It is safe for the reason that a weak reference is: the memory stays an object's until
/// ``release()``, so there is a count to look at, and looking and retaining are one atomic step. An
/// object that is let go of elsewhere at the same moment is either retained before its count falls to
/// zero, and lives, or found to be going.
///
/// Copies share one claim on the memory; whoever made the first one releases it, once.
///
/// The functions are the runtime's and not the language's: `LivenessReferenceTests` says whether a
/// toolchain still has them as they are used here. ``WeakReference`` does without them.
struct LivenessReference<Object: AnyObject>: LooseReference {
    // The one place above `LMDB` with a pointer: what the runtime's functions take.
    private let pointer: UnsafeMutableRawPointer

    /// Refers to an object.
    init(to object: Object) {
        pointer = Unmanaged.passUnretained(object).toOpaque()
        swift_unownedRetain(pointer)
    }

    /// The object; nil when it has gone or is about to.
    var object: Object? {
        swift_tryRetain(pointer).map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
    }

    /// Gives the memory back; the reference and its copies must not be used any more.
    func release() {
        swift_unownedRelease(pointer)
    }

    /// Whether this refers to an object, alive or not.
    func refers(to object: Object) -> Bool {
        pointer == Unmanaged.passUnretained(object).toOpaque()
    }
}
