/// The binding used last for each class.
struct ClassBindings {
    private var bindings: [ObjectIdentifier: EntityBinding] = [:]
    // Objects of one class are usually made one after the other.
    private var latest: (type: ObjectIdentifier, binding: EntityBinding)?

    subscript(type: ManagedObject.Type) -> EntityBinding? {
        mutating get {
            let key = ObjectIdentifier(type)
            if let latest, latest.type == key { return latest.binding }
            guard let binding = bindings[key] else { return nil }
            latest = (key, binding)
            return binding
        }
        set {
            let key = ObjectIdentifier(type)
            bindings[key] = newValue
            latest = newValue.map { (key, $0) }
        }
    }
}
