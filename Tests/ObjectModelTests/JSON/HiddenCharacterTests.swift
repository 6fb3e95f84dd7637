import Foundation
import Testing

@testable import DaybookObjectModel

/// Invisible characters that affect the text around them.
@Suite struct HiddenCharacterTests {
    /// Each control character of ASCII and Latin-1, and all marks that reverse letters.
    private static let hidden: [Unicode.Scalar] =
        [0...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069]
        .flatMap { $0.compactMap { Unicode.Scalar(UInt32($0)) } }

    @Test func `B15 hidden characters are escaped in JSON and read back`() throws {
        for scalar in Self.hidden {
            let text = "é\(scalar)日\(scalar)\(scalar)x"

            let json = JSONValue.object([JSONMember(text, .string(text))]).text

            #expect(json.unicodeScalars.allSatisfy { !$0.isHidden }, "\(scalar.value)")
            #expect(
                try JSONValue(parsing: json) == .object([JSONMember(text, .string(text))]),
                "\(scalar.value)")
        }
    }

    @Test func `neighbouring letters are written unchanged`() {
        let text = "Türkiye, Ελλάδα, 日本, עברית, \u{FEFF}\u{200D}🇫🇷 ÂÃØâ"

        #expect(JSONValue.string(text).text == "\"\(text)\"")
    }

    @Test func `the bytes of a coded value stay unchanged`() throws {
        let data = Data("{\"a\":\"\u{85}\u{202E}\u{7F}é\"}".utf8)

        let value = JSONValue(coded: data)
        let read = try JSONValue(parsing: value.text)

        #expect(value.base64Member == nil)
        #expect(read.coded == data)
    }
}

extension JSONValue {
    fileprivate var base64Member: JSONValue? { self["base64"] }
}
