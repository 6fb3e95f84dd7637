/// How the registry and the row cache refer to their objects.
///
/// With `DAYBOOK_PLAIN_REFERENCES` set these are the language's own weak references, for a toolchain whose
/// runtime does not have what ``LivenessReference`` calls.
#if DAYBOOK_PLAIN_REFERENCES
typealias ObjectReference = WeakReference
#else
typealias ObjectReference = LivenessReference
#endif

/// A reference that does not keep its object alive.
protocol LooseReference<Object> {
    associatedtype Object: AnyObject

    /// Refers to an object.
    init(to object: Object)

    /// The object; nil when it has gone or is about to go.
    var object: Object? { get }

    /// Releases what the reference holds; it and its copies must not be used any more.
    func release()

    /// Whether this refers to an object, alive or not.
    func refers(to object: Object) -> Bool
}

/// A weak reference of the language.
final class WeakReference<Object: AnyObject>: LooseReference {
    private(set) weak var object: Object?
    // Only compared, and only with an object that still exists: no other has its address as long as it
    // is.
    private let identity: ObjectIdentifier

    init(to object: Object) {
        self.object = object
        identity = ObjectIdentifier(object)
    }

    func release() {}

    func refers(to object: Object) -> Bool { identity == ObjectIdentifier(object) }
}
