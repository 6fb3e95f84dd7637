import ObjectModel
import Synchronization

/// An entity together with the class that represents it.
///
/// Shared by all contexts of a coordinator.
final class GraphEntity: Sendable {
    let schema: SchemaEntity
    let type: ManagedObject.Type
    // Never changed after it was made and never given out; contexts on any thread read wrapper
    // declarations from it.
    private let prototypeBox: PrototypeBox?

    init(schema: SchemaEntity, type: ManagedObject.Type, prototype: ManagedObject?) {
        self.schema = schema
        self.type = type
        prototypeBox = prototype.map(PrototypeBox.init)
    }

    /// The object whose wrappers hold the declarations of the class; nil for an entity that the
    /// generic class represents.
    var prototype: ManagedObject? { prototypeBox?.object }

    /// The property path that a key path leads along, found by following it on the prototype.
    ///
    /// - Returns: Names from this entity on; empty when the key path leads along nothing modelled.
    func path(of keyPath: AnyKeyPath) -> [String] {
        guard let prototype else { return [] }
        return KeyPathProbe.record { prototype[keyPath: keyPath] }
    }
}

/// Holds a prototype.
private final class PrototypeBox: @unchecked Sendable {
    // @unchecked Sendable because the object is never changed after the model was built, and reading
    // its wrappers changes nothing.
    let object: ManagedObject

    init(_ object: ManagedObject) {
        self.object = object
    }
}

/// Notes which properties of prototypes are read while a key path is followed.
enum KeyPathProbe {
    private static let key = "Daybook.KeyPathProbe"

    private final class Trace {
        var names: [String] = []
    }

    /// Runs `body` and returns the names of the properties it read from prototypes, in order.
    static func record(_ body: () -> Any?) -> [String] {
        let trace = Trace()
        ThreadNotes[key] = trace
        defer { ThreadNotes[key] = nil }
        _ = body()
        return trace.names
    }

    /// Notes that a property was read.
    static func note(_ name: String) {
        (ThreadNotes[key] as? Trace)?.names.append(name)
    }
}
