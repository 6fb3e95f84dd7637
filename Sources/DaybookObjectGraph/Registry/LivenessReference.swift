private import CDaybookObjectLiveness

/// A reference that does not keep its object alive and can tell whether it still is: a weak one at
/// half the price.
///
/// Swift's own weak references move their object's counts into a side table, which costs an allocation
/// for each object and makes every later retain and release more expensive. This one keeps the *memory*
/// of the object, as an unowned reference does, and asks the count itself.
///
/// It is safe for the same reason as a weak reference: the memory stays the object's until
/// ``release()``, so there is a count to check, and checking and retaining are one atomic step. An
/// object that is released elsewhere at the same moment is either retained before its count falls to
/// zero, and lives, or found to be going away.
///
/// Copies share one claim on the memory; the maker of the first one releases it, once.
///
/// The functions belong to the runtime and not to the language: `LivenessReferenceTests` checks that a
/// toolchain still has them as they are used here. ``WeakReference`` does without them.
struct LivenessReference<Object: AnyObject>: LooseReference {
    // A pointer, because the functions of the runtime take one.
    private let pointer: UnsafeMutableRawPointer

    /// Refers to an object.
    init(to object: Object) {
        pointer = Unmanaged.passUnretained(object).toOpaque()
        swift_unownedRetain(pointer)
    }

    /// The object; nil when it has gone or is about to go.
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
