import DaybookObjectModel
import DaybookStopping

extension ManagedObject {
    // MARK: - Key paths

    /// The value at the end of a path of names: of an element of a composite attribute
    /// (`address.city`), or of what a relationship leads to (`department.address.city`).
    ///
    /// Past a to-many relationship, the value is an array of the values of its objects, without nils. It is
    /// nil where a to-one relationship leads to nothing.
    ///
    /// - Precondition: The entities on the way have properties of these names.
    public func value(forKeyPath keyPath: String) -> Any? {
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false)
            .map(String.init)
        guard let (property, count) = binding.schema.property(at: names[...]),
            count < names.count
        else { return value(forKey: keyPath) }
        let rest = names.dropFirst(count).joined(separator: ".")
        guard let relationship = property.relationship else {
            stop(
                "'\(binding.schema.name).\(property.name)' is an attribute: '\(rest)' is not in it."
            )
        }
        let values = relatedObjects(forKey: property.name).map { $0.value(forKeyPath: rest) }
        return relationship.isToMany ? values.compactMap(\.self) : values.first ?? nil
    }

    /// Sets the value at the end of a path of names, as ``setValue(_:forKey:)`` does. Where a to-one
    /// relationship on the way leads to nothing, nothing is set.
    ///
    /// - Precondition: The entities on the way have properties of these names, and only to-one
    ///   relationships are passed.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false)
            .map(String.init)
        guard let (property, count) = binding.schema.property(at: names[...]),
            count < names.count
        else { return setValue(value, forKey: keyPath) }
        let rest = names.dropFirst(count).joined(separator: ".")
        guard property.relationship?.isToMany == false else {
            stop(
                "'\(binding.schema.name).\(property.name)' is not a to-one relationship: '\(rest)' "
                    + "cannot be set through it.")
        }
        relatedObjects(forKey: property.name).first?.setValue(value, forKeyPath: rest)
    }

    // MARK: - Composite attributes

    /// The elements of a composite attribute that have a value, by their names in it; nil when none has.
    func compositeValue(_ composite: String) -> [String: Any]? {
        var values: [String: Any] = [:]
        for element in binding.schema.elements(of: composite) {
            let rest = element.name.dropFirst(composite.count + 1)
            let name = rest.prefix { $0 != "." }
            guard values[String(name)] == nil,
                let value = value(forKey: "\(composite).\(name)")
            else { continue }
            values[String(name)] = value
        }
        return values.isEmpty ? nil : values
    }

    /// Sets all elements of a composite attribute: those that a dictionary does not name, and all of
    /// them for nil, to nil.
    func setCompositeValue(_ value: Any?, of composite: String) {
        guard let value else {
            for element in binding.schema.elements(of: composite) {
                setStoredValue(.null, forKey: element.name)
            }
            return
        }
        let values: [String: Any?]
        switch value {
        case let value as any CompositeValue: return setElements(value, of: composite)
        case let dictionary as [String: Any?]: values = dictionary
        default:
            stop(
                "'\(binding.schema.name).\(composite)' is a composite attribute and takes a dictionary "
                    + "of its elements or its struct, not a \(type(of: value)).")
        }
        for name in values.keys {
            let path = "\(composite).\(name)"
            let isKnown =
                binding.schema.property(named: path) != nil || binding.schema.isComposite(path)
            require(isKnown, "'\(binding.schema.name).\(composite)' has no element '\(name)'.")
        }
        var seen: Set<Substring> = []
        for element in binding.schema.elements(of: composite) {
            let name = element.name.dropFirst(composite.count + 1).prefix { $0 != "." }
            guard seen.insert(name).inserted else { continue }
            setValue(values[String(name)] ?? nil, forKey: "\(composite).\(name)")
        }
    }
    private func setElements<Composite: CompositeValue>(
        _ value: Composite, of composite: String
    ) {
        let slots = CompositeForm(of: Composite.self).leaves.compactMap {
            property(named: "\(composite).\($0.path)").slot
        }
        setElements(value, inSlots: slots)
    }
}
