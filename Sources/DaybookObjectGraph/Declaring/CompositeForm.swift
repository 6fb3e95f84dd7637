import DaybookObjectModel

/// Collects the attributes that keep the value of a composite attribute.
public struct CompositeForm {
    /// The elements, nested ones included, in the order in which they are read and written.
    private(set) var leaves: [CompositeLeaf] = []
    /// Mistakes of the struct that no model can show.
    private(set) var problems: [String] = []
    /// The names found so far in the structs that are being described.
    var names: [String] = []
    /// Whether a value may be missing as a whole.
    var isOptional = false
    private var path = ""
    private var steps: [KeyPathStep] = []

    init<Value: CompositeValue>(of type: Value.Type) {
        type.describe(to: &self)
        if leaves.isEmpty { problems.append("'\(type)' has no elements.") }
    }

    mutating func append<Root, Value: AttributeValue>(
        _ keyPath: WritableKeyPath<Root, Value>, _ options: AttributeOptions,
        _ rules: [AttributeRule<Value>], _ merge: MergeStrategy?
    ) {
        let name = name(of: keyPath)
        var collected = AttributeRules()
        for rule in rules { rule.apply(&collected) }
        var declared = Declared(
            description: AttributeDescription(
                name: name, type: Value.attributeType,
                isOptional: isOptional || Value.isOptionalAttribute, rules: collected, merge: merge,
                isSet: Value.self is any SetValue.Type))
        options.apply(&declared)
        if MemoryLayout<Value>.size == 0 {
            problems.append(
                "'\(Root.self).\(name)' is of a type with a single value and so cannot be told from "
                    + "what follows it. Leave it out of the struct.")
        }
        if declared.description.derivation != nil || declared.unknownDerivation != nil {
            problems.append(
                "'\(Root.self).\(name)' is an element of a composite attribute and so cannot be derived."
            )
        }
        leaves.append(
            CompositeLeaf(
                path: path + name, steps: steps + KeyPathStep.properties(of: keyPath),
                earlierPath: declared.description.renamingIdentifier.map { path + $0 },
                description: declared.description,
                hasDefault: !declared.isRequired && !declared.description.isUnique,
                form: { AttributeForm(Value.self, $0) }))
    }

    mutating func enter<Root, Value: CompositeValue>(_ keyPath: WritableKeyPath<Root, Value>) {
        let outer = (path, steps)
        path += name(of: keyPath) + "."
        steps += KeyPathStep.properties(of: keyPath)
        Value.describe(to: &self)
        (path, steps) = outer
    }

    /// The name of the property that a key path leads to, which becomes one of ``names``.
    private mutating func name(of keyPath: AnyKeyPath) -> String {
        // The description of a key path is the type, a dot and the name of the property.
        let name = keyPath.debugDescription.split(separator: ".").last.map(String.init) ?? ""
        names.append(name)
        return name
    }

    /// Reports stored properties that are not among the elements, and elements that are not stored
    /// properties.
    mutating func check<Root>(names: ArraySlice<String>, of root: Root) {
        let stored = Mirror(reflecting: root).children.compactMap(\.label)
        for name in stored where !names.contains(name) {
            problems.append(
                "'\(Root.self).\(name)' is stored and not among the elements of '\(Root.self)': name it "
                    + "there, as every stored property of a composite attribute is kept.")
        }
        if !names.allSatisfy(stored.contains) {
            problems.append("'\(Root.self)' names an element that is not a stored property.")
        }
        if Set(names).count < names.count {
            problems.append("'\(Root.self)' names an element twice.")
        }
    }
}

/// An attribute that keeps a part of a composite attribute's value.
struct CompositeLeaf {
    /// The name in the composite attribute: `city`, or `place.latitude`.
    let path: String
    /// The steps of a key path from the struct to the value.
    let steps: [KeyPathStep]
    /// The earlier path; nil if it had no other.
    let earlierPath: String?
    let description: AttributeDescription
    /// Whether new objects have what the declaration of the composite attribute gives.
    let hasDefault: Bool
    let form: (InitialValue) -> AttributeForm
}

/// Reads the elements of a composite attribute of an object, one after the other.
public struct CompositeReader {
    private let source: Source
    private var slots: ArraySlice<Int>
    /// Whether values that a type does not have are reported.
    private let reports: Bool

    private enum Source {
        case object(ManagedObject)
        /// What an object had, by slot.
        case values([Value])
    }

    init(_ object: ManagedObject, _ slots: [Int], reporting reports: Bool = true) {
        source = .object(object)
        self.reports = reports
        self.slots = slots[...]
    }

    init(_ values: [Value], _ slots: [Int]) {
        source = .values(values)
        reports = false
        self.slots = slots[...]
    }

    /// The value of the next element; nil when it has none, or one that the type does not have.
    mutating func next<Value: AttributeValue>() -> Value? {
        guard let slot = slots.popFirst() else { return nil }
        switch source {
        case .values(let values):
            return Value(storedValue: values[slot])
                ?? (values[slot].isNull ? nil : Value.unknownValue)
        case .object(let object):
            if let value = Value(StoredAttribute(object: object, slot: slot)) { return value }
            let stored = object.readableValue(inSlot: slot)
            guard !stored.isNull else { return nil }
            if let value = Value.unknownValue { return value }
            if reports { object.reportUnreadable(stored, inSlot: slot) }
            return nil
        }
    }

    /// Skips elements if none of them has a value.
    mutating func skipNulls(_ count: Int) -> Bool {
        let isNull = slots.prefix(count).allSatisfy { slot in
            switch source {
            case .values(let values): values[slot].isNull
            case .object(let object): object.value(inSlot: slot).isNull
            }
        }
        if isNull { slots = slots.dropFirst(count) }
        return isNull
    }
}

/// Collects the stored values of the elements of a composite attribute.
public struct CompositeWriter {
    /// The values so far.
    var values: [Value] = []

    init() {}

    /// The values of all elements.
    init(_ value: some CompositeValue) {
        value.write(to: &self)
    }
}
