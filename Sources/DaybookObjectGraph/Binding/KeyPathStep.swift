private import CDaybookKeyPathSteps

/// One step of a key path.
enum KeyPathStep: Equatable {
    /// A property with a getter. Two steps with the same identity run the same getter, wherever
    /// their key paths start.
    case property(PropertyIdentity)
    /// A field of a struct, by its offset.
    case field(UInt)
    /// `?` or `!`, or the optional that a `?` makes of what lies behind it.
    case unwrapping
    /// Anything that is not a declared property.
    case other

    /// The identity of a getter.
    struct PropertyIdentity: Equatable {
        fileprivate let kind: UInt32
        fileprivate let number: UInt
    }

    /// The steps of a key path, the first one first.
    static func steps(of keyPath: AnyKeyPath) -> [KeyPathStep] {
        // The runtime keeps the steps behind the object's header; the object lives while they are read.
        withExtendedLifetime(keyPath) {
            let address = Unmanaged.passUnretained(keyPath).toOpaque()
            var steps: [KeyPathStep] = []
            var cursor: UInt = 0
            var step = key_path_step()
            while key_path_next_step(address, &cursor, &step) { steps.append(KeyPathStep(step)) }
            return steps
        }
    }

    /// The steps of a key path without those that unwrap optionals.
    static func properties(of keyPath: AnyKeyPath) -> [KeyPathStep] {
        steps(of: keyPath).filter { $0 != .unwrapping }
    }

    private init(_ step: key_path_step) {
        switch step.kind {
        case Int32(key_path_step_computed.rawValue):
            self = .property(PropertyIdentity(kind: step.identity_kind, number: step.identity))
        case Int32(key_path_step_field.rawValue): self = .field(step.identity)
        case Int32(key_path_step_optional.rawValue): self = .unwrapping
        default: self = .other
        }
    }
}
