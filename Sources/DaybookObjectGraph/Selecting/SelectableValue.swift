public import DaybookObjectModel

/// A type that a column of a ``Selection`` can have: that of an attribute, or an identifier; optional where
/// there may be no value.
public protocol SelectableValue: SendableMetatype {
    /// Reads a value of a column; nil when it has another form.
    init?(selected: SelectedValue)
}

/// A value of a column, as it is found.
public struct SelectedValue: Sendable {
    /// The value; null when there is none.
    public let value: Value
    /// The object that the value leads to; nil for the value of an attribute.
    public let objectID: ManagedObjectID?
}

extension AttributeValue {
    /// Reads an attribute. Where nothing is stored, the type's empty value stands for it.
    public init?(selected: SelectedValue) {
        guard
            let value = Self(storedValue: selected.value)
                ?? (selected.value.isNull ? Self.emptyValue : Self.unknownValue)
        else { return nil }
        self = value
    }
}

extension ManagedObjectID: SelectableValue {
    /// Reads the identifier of an object.
    public init?(selected: SelectedValue) {
        guard let id = selected.objectID else { return nil }
        self = id
    }
}

extension Optional: SelectableValue where Wrapped: SelectableValue {
    /// Reads a value; null is nil.
    public init?(selected: SelectedValue) {
        if selected.value.isNull {
            self = nil
        } else if let value = Wrapped(selected: selected) {
            self = value
        } else {
            return nil
        }
    }
}

extension Array: SelectableValue where Element: Codable {}

extension Set: SelectableValue where Element: Codable {}

extension Dictionary: SelectableValue where Key: Codable, Value: Codable {}
