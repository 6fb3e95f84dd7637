import DaybookStopping

/// What a key path means to the model.
enum KeyPathMeaning {
    /// A path along declared properties to the last of them, or to the object itself when there are
    /// none.
    case properties([String])
    /// The same path, and then the identifier of the object there.
    case identifier(after: [String])
    /// A path to a composite attribute, or to one in another: the path to the entity's object, and the
    /// elements with the steps that still lead to each.
    case composite(after: [String], [CompositeElementPath])
    /// Something else, such as a computed property, which has read these declared properties.
    case computed(reading: [String])
}

/// An element of a composite attribute, as seen from a place in the composite attribute.
struct CompositeElementPath {
    /// The full name of the attribute.
    let name: String
    /// The steps of the key path that leads there.
    let steps: [KeyPathStep]

    /// The same element from behind some steps; nil when they do not lead there.
    func after(_ taken: some Collection<KeyPathStep>) -> CompositeElementPath? {
        steps.starts(with: taken)
            ? CompositeElementPath(name: name, steps: Array(steps.dropFirst(taken.count))) : nil
    }
}

/// Finds out what key paths mean by following them on prototypes, whose properties record that they are
/// read.
///
/// A key path that reads a property need not be the property's own: a computed property reads properties as
/// well, and may return the value of one of them for some objects only. So the steps of the key path must
/// be the getters of the properties that were read, one by one, and nothing else.
enum KeyPathProbe {
    private static let key = "Daybook.KeyPathProbe"

    private struct Read {
        let name: String
        let step: KeyPathStep?
        /// What there is in a composite attribute.
        var elements: [CompositeElementPath] = []
    }

    private final class Trace {
        var reads: [Read] = []
    }

    /// Follows a key path that starts at a prototype.
    static func meaning(of keyPath: AnyKeyPath, on prototype: ManagedObject) -> KeyPathMeaning {
        let trace = Trace()
        // A computed property may have others followed, as in a fetch in another container.
        let outer = ThreadValues[key]
        ThreadValues[key] = trace
        defer { ThreadValues[key] = outer }
        _ = prototype[keyPath: keyPath]
        var steps = KeyPathStep.properties(of: keyPath)
        let isIdentifier = steps.last == identifierStep
        if isIdentifier { steps.removeLast() }
        let computed = KeyPathMeaning.computed(reading: trace.reads.map(\.name))
        guard isIdentifier || !steps.isEmpty else { return computed }
        var names: [String] = []
        var rest = steps[...]
        for read in trace.reads {
            guard let step = rest.popFirst(), step == read.step else { return computed }
            guard !read.elements.isEmpty else {
                names.append(read.name)
                continue
            }
            // Only elements are behind a composite attribute, and no element leads on.
            return isIdentifier
                ? computed : meaning(of: rest, among: read.elements, after: names) ?? computed
        }
        guard rest.isEmpty else { return computed }
        return isIdentifier ? .identifier(after: names) : .properties(names)
    }

    /// What steps behind a composite attribute mean; nil when they lead to no element.
    static func meaning(
        of steps: some Collection<KeyPathStep>, among elements: [CompositeElementPath],
        after names: [String]
    ) -> KeyPathMeaning? {
        let left = elements.compactMap { $0.after(steps) }
        if let element = left.first(where: \.steps.isEmpty) {
            return .properties(names + [element.name])
        }
        return left.isEmpty ? nil : .composite(after: names, left)
    }

    /// Records that a property was read through a key path of one step.
    static func recordRead(of name: String, _ keyPath: AnyKeyPath) {
        let step = KeyPathStep.steps(of: keyPath).first
        (ThreadValues[key] as? Trace)?.reads.append(Read(name: name, step: step))
    }

    /// Records that a composite attribute was read through a key path of one step.
    static func recordRead(
        of name: String, _ keyPath: AnyKeyPath, elements: [CompositeLeaf]
    ) {
        let step = KeyPathStep.steps(of: keyPath).first
        let elements = elements.map {
            CompositeElementPath(name: "\(name).\($0.path)", steps: $0.steps)
        }
        (ThreadValues[key] as? Trace)?.reads.append(
            Read(name: name, step: step, elements: elements))
    }

    /// This also checks that the runtime stores key paths in the form that is read here.
    private static let identifierStep: KeyPathStep? = {
        let steps = KeyPathStep.steps(of: \ManagedObject.objectID)
        require(
            steps.count == 1,
            "This version of Swift keeps key paths in a form that Daybook cannot read. Build with a toolchain that "
                + "the README names.")
        return steps.first
    }()
}
