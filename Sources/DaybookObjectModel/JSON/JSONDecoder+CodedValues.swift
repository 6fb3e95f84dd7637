package import Foundation

extension JSONDecoder {
    /// Decodes the coded values of attributes.
    package static var ofCodedValues: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return decoder
    }
}
