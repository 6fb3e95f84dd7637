import DaybookObjectModel
import Foundation

extension ObjectSnapshot: Encodable {
    /// Encodes the properties by their names.
    ///
    /// - Throws: ``StoreError`` when the bytes of large data cannot be read; what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
    }
}

extension SnapshotContent: Encodable {
    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: PropertyName.self)
        try members.encode(id.uriRepresentation(), forKey: "objectID")
        for property in entity.schema.properties {
            guard property.relationship == nil else {
                try encodeDestinations(of: property, in: &members)
                continue
            }
            // The elements of a composite attribute follow each other; the first brings all.
            let path = property.name.split(separator: ".").map(String.init)
            if path.count == 1 {
                try encode(property, in: &members, as: PropertyName(property.name))
            }
        }
        for name in compositeNames { try encodeComposite(name, in: &members) }
    }

    /// The names of the composite attributes.
    private var compositeNames: [String] {
        var names: [String] = []
        for property in entity.schema.properties {
            guard let end = property.name.firstIndex(of: ".") else { continue }
            let name = String(property.name[..<end])
            if names.last != name { names.append(name) }
        }
        return names
    }

    private func encodeComposite(
        _ name: String, in members: inout KeyedEncodingContainer<PropertyName>
    ) throws {
        let elements = entity.schema.elements(of: name)
        let hasValue = elements.contains { $0.slot.map { !values[$0].isNull } == true }
        let own = PropertyName(String(name.split(separator: ".").last ?? ""))
        guard hasValue else { return try members.encodeNil(forKey: own) }
        var inner = members.nestedContainer(keyedBy: PropertyName.self, forKey: own)
        var nested: [String] = []
        for element in elements {
            let rest = element.name.dropFirst(name.count + 1)
            guard let end = rest.firstIndex(of: ".") else {
                try encode(element, in: &inner, as: PropertyName(String(rest)))
                continue
            }
            let path = "\(name).\(rest[..<end])"
            if nested.last != path { nested.append(path) }
        }
        for path in nested { try encodeComposite(path, in: &inner) }
    }

    private func encode(
        _ property: SchemaProperty, in members: inout KeyedEncodingContainer<PropertyName>,
        as name: PropertyName
    ) throws {
        guard let slot = property.slot, property.isAttribute else { return }
        let stored = values[slot]
        switch entity.payload(stored, inSlot: slot) {
        case nil: try members.encodeNil(forKey: name)
        case let data as LargeData: try members.encode(try data.data(), forKey: name)
        case let value as any Encodable: try members.encode(value, forKey: name)
        case .some:
            // An enumeration is as codable as its raw value.
            let type = property.attribute?.type
            guard let value = (type?.payload(stored) ?? stored.payload) as? any Encodable else {
                return try members.encodeNil(forKey: name)
            }
            try members.encode(value, forKey: name)
        }
    }

    private func encodeDestinations(
        of property: SchemaProperty, in members: inout KeyedEncodingContainer<PropertyName>
    ) throws {
        let name = PropertyName(property.name)
        let addresses = destinations(of: property).map { $0.uriRepresentation() }
        switch (included[property.number], property.relationship?.isToMany == true) {
        case (let contents?, true): try members.encode(contents, forKey: name)
        case (let contents?, false): try members.encode(contents.first, forKey: name)
        case (nil, true): try members.encode(addresses, forKey: name)
        case (nil, false): try members.encode(addresses.first, forKey: name)
        }
    }
}

/// The name of a property as a key.
private struct PropertyName: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    init(stringLiteral name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}
