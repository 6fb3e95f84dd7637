public import DaybookObjectModel
import Foundation

/// A `Codable` type that an attribute can have; kept as JSON with sorted keys.
///
/// Numbers for which JSON has no form are the texts `NaN`, `Infinity` and `-Infinity`. A value that cannot be encoded can
/// be set, and is refused when the context is saved.
public protocol CodableAttributeValue: AttributeValue, Codable {}

extension CodableAttributeValue {
    /// ``AttributeType/codable``.
    public static var attributeType: AttributeType { .codable }
    /// Reads stored JSON; nil when it does not decode.
    public init?(storedValue: Value) {
        guard case .data(let data) = storedValue else { return nil }
        do {
            self = try JSONDecoder.ofCodedValues.decode(Self.self, from: data)
        } catch {
            return nil
        }
    }
    /// The value as JSON; text, which no attribute of coded values holds, when it cannot be encoded.
    public var storedValue: Value { codedValue }

    /// The value as JSON, with the elements of a set in any order.
    var codedValue: Value {
        do {
            return .data(try JSONEncoder.ofCodedValues.encode(self))
        } catch {
            return .string("\(error)")
        }
    }
}

extension JSONEncoder {
    /// Encodes the values of attributes.
    fileprivate static var ofCodedValues: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return encoder
    }
}
