import DaybookStopping

/// What a key path means to the model.
enum KeyPathMeaning {
    /// A path along declared properties to the last of them, or to the object itself when there are
    /// none.
    case properties([String])
    /// The same path, and then the identifier of the object there.
    case identifier(after: [String])
    /// Something else, such as a computed property, which has read these declared properties.
    case computed(reading: [String])
}

/// Finds out what key paths mean by following them on prototypes, whose properties record that they are
/// read.
///
/// That a key path reads a property does not make it that property's: a computed one reads properties as
/// well, and may return what one of them is for some objects only. So the steps of the key path must be
/// the getters of the properties that were read, one by one, and nothing else.
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
        ThreadValues[key] = trace
        defer { ThreadValues[key] = nil }
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

    /// Records that a property was read through a key path of one step.
    static func recordRead(of name: String, _ keyPath: AnyKeyPath) {
        let step = KeyPathStep.steps(of: keyPath).first
        (ThreadValues[key] as? Trace)?.reads.append(Read(name: name, step: step))
    }

    /// This also checks that the runtime stores key paths in the form that is read here.
    private static let identifierStep: KeyPathStep? = {
        let steps = KeyPathStep.steps(of: \ManagedObject.objectID)
        require(
            steps.count == 1,
            "This Swift keeps key paths in another form than Daybook reads. Build with a toolchain that "
                + "the README names.")
        return steps.first
    }()
}
