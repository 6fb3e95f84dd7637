import DaybookObjectModel

/// Replaces composite attributes by their elements.
///
/// Xcode's model declares a kind of composite attribute once, and attributes of that kind wherever they
/// are needed, in other kinds too.
struct XcodeComposites {
    /// A plain attribute, and the names that lead to it.
    struct Element {
        /// Its name in the entity, with those of the composite attributes in which it lies.
        var path: String
        var attribute: XcodeAttribute
    }

    /// What an attribute becomes.
    struct Expansion {
        var elements: [Element] = []
        var remarks: [String] = []
        var problems: [String] = []
    }

    /// The names of the kinds of composite attributes in the source, by `Entity.attribute`.
    private(set) var kinds: [String: String] = [:]
    /// The elements of each kind.
    private let elements: [String: [XcodeAttribute]]
    /// How many elements composite attributes have so far.
    private var elementCount = 0
    private var hasTooManyElements = false
    /// As many as an entity can have properties.
    private static let elementsMaximum = 65_535

    init(_ elements: [String: [XcodeAttribute]]) {
        self.elements = elements
    }

    /// An attribute itself, or the elements of a composite one.
    mutating func expand(_ attribute: XcodeAttribute, of entityName: String) -> Expansion {
        expand(attribute, of: entityName, in: [])
    }

    /// The same within composite attributes of these names and kinds, the outermost first.
    private mutating func expand(
        _ source: XcodeAttribute, of entityName: String, in outer: [(name: String, kind: String)]
    ) -> Expansion {
        var expansion = Expansion()
        guard case .composite(let kind) = source.type else {
            expansion.elements = [Element(source)]
            return expansion
        }
        let path = (outer.map(\.name) + [source.name]).joined(separator: ".")
        let subject = "'\(entityName).\(path)'"
        if let problem = XcodeModel.problem(ofName: source.name, of: subject) {
            expansion.problems.append(problem)
        }
        guard let kind, let elements = elements[kind], !source.isTransient else {
            expansion.remarks.append(
                "\(subject) is a composite attribute and is left out: "
                    + (source.isTransient
                        ? "here it cannot be transient."
                        : "the file does not say what elements it has."))
            return expansion
        }
        guard !outer.contains(where: { $0.kind == kind }) else {
            expansion.problems.append("\(subject) is a composite attribute that contains itself.")
            return expansion
        }
        // Kinds that contain others several times are few bytes, and many attributes.
        guard outer.count < AttributeDescription.levelsMaximum,
            elementCount <= Self.elementsMaximum
        else {
            if !hasTooManyElements {
                expansion.problems.append("\(subject) has too many elements, or lies too deep.")
            }
            hasTooManyElements = true
            return expansion
        }
        elementCount += elements.count
        kinds["\(entityName).\(path)"] = kind
        for element in elements {
            let inner = expand(element, of: entityName, in: outer + [(source.name, kind)])
            expansion.elements += inner.elements.map { $0.within(source) }
            expansion.remarks += inner.remarks
            expansion.problems += inner.problems
        }
        return expansion
    }
}

extension XcodeComposites.Element {
    fileprivate init(_ attribute: XcodeAttribute) {
        path = attribute.name
        self.attribute = attribute
        self.attribute.history.renamingIdentifier =
            attribute.history.renamingIdentifier(of: attribute.name)
    }

    /// The same element, seen from where its composite attribute is declared.
    fileprivate func within(_ composite: XcodeAttribute) -> Self {
        var element = self
        element.path = "\(composite.name).\(path)"
        // Where the composite attribute may be missing, so may its elements.
        if composite.isOptional { element.attribute.isOptional = true }
        // The renaming identifier of an element is its earlier name in the composite attribute.
        let own = attribute.history.renamingIdentifier
        let earlier = composite.history.renamingIdentifier(of: composite.name)
        if own != nil || earlier != nil {
            element.attribute.history.renamingIdentifier =
                "\(earlier ?? composite.name).\(own ?? path)"
        }
        return element
    }
}
