import DaybookStopping

/// What a key path means to the model.
enum KeyPathMeaning {
    /// The way along declared properties to the last of them, or to the object itself for none.
    case properties([String])
    /// The same way, and then the identifier of the object there.
    case identifier(after: [String])
    /// Something else, such as a computed property, that has read the declared properties named.
    case computed(reading: [String])
}

/// Finds out what key paths mean by following them on prototypes, whose properties note that they are
/// read.
///
/// That a key path reads a property does not make it that property's: a computed one reads properties
/// as well, and may return what one of them is for some objects only. So the steps of the key path have
/// to be the getters of the properties that were read, one by one, and nothing else.
enum KeyPathProbe {
    private static let key = "Daybook.KeyPathProbe"

    private struct Read {
        let name: String
        let step: KeyPathStep?
    }

    private final class Trace {
        var reads: [Read] = []
    }

    /// Follows a key path that starts at a prototype.
    static func meaning(of keyPath: AnyKeyPath, on prototype: ManagedObject) -> KeyPathMeaning {
        let trace = Trace()
        ThreadNotes[key] = trace
        defer { ThreadNotes[key] = nil }
        _ = prototype[keyPath: keyPath]
        let names = trace.reads.map(\.name)
        var steps = KeyPathStep.steps(of: keyPath).filter { $0 != .unwrapping }
        let isIdentifier = steps.last == identifierStep
        if isIdentifier { steps.removeLast() }
        guard steps == trace.reads.map(\.step), isIdentifier || !steps.isEmpty else {
            return .computed(reading: names)
        }
        return isIdentifier ? .identifier(after: names) : .properties(names)
    }

    /// Notes that a property was read through a key path of one step.
    static func note(_ name: String, _ keyPath: AnyKeyPath) {
        let step = KeyPathStep.steps(of: keyPath).first
        (ThreadNotes[key] as? Trace)?.reads.append(Read(name: name, step: step))
    }

    /// Also shows that the runtime keeps key paths in the form in which they are read here.
    private static let identifierStep: KeyPathStep? = {
        let steps = KeyPathStep.steps(of: \ManagedObject.objectID)
        require(
            steps.count == 1,
            "This Swift keeps key paths in another form than Daybook reads. Build with a toolchain that "
                + "the README names.")
        return steps.first
    }()
}
