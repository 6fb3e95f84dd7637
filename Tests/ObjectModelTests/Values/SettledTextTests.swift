import Foundation
import Testing

@testable import DaybookObjectModel

/// Texts folded by tables that stay as they are.
@Suite struct SettledTextTests {
    private static let options: TextOptions = [.caseInsensitive, .diacriticInsensitive]

    @Test(arguments: [
        ("Éclair", "eclair"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("ǅ", "ǆ"),
        ("İstanbul", "istanbul"), ("Iğdır", "igdir"), ("ﬁn", "fin"), ("Σίσυφος", "σισυφοσ"),
        ("A\u{301}\u{327}", "a"), ("Ω", "ω"), ("ὈΔΥΣΣΕΎΣ", "οδυσσευσ"), ("", ""),
        ("한", "\u{1112}\u{1161}\u{11AB}"),
    ])
    func `a folded text has neither case nor diacritics`(text: String, folded: String) {
        let found = text.folded(Self.options)

        #expect(Array(found.unicodeScalars) == Array(folded.unicodeScalars), "\(found)")
        #expect(found.folded(Self.options) == found)
    }

    @Test func `letters of Unicode 15 have the mappings of the running program`() {
        for value: UInt32 in 0...0x2FFF {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age,
                age.major <= 15
            else { continue }
            let text = String(scalar)
            // What became a letter with case later has an answer of its own.
            let later = [text.uppercased(), text.lowercased()].contains { mapped in
                mapped.unicodeScalars.contains { ($0.properties.age?.major ?? 99) > 15 }
            }
            if later { continue }
            #expect(text.settledUppercase == text.uppercased(), "\(value)")
            #expect(text.settledLowercase == text.lowercased(), "\(value)")
            #expect(
                text.settledDecomposition.utf8.elementsEqual(
                    text.decomposedStringWithCanonicalMapping.utf8), "\(value)")
        }
    }

    /// Unicode 16 has these letters in capitals and small, and a capital of one from before.
    @Test(arguments: [
        ("\u{10D50}", "\u{10D70}"), ("\u{A7CB}", "\u{264}"), ("\u{A7DA}", "\u{A7DB}"),
    ])
    func `a letter that came after Unicode 15 is like itself only`(capital: String, small: String) {
        #expect(capital.settledLowercase == capital)
        #expect(small.settledUppercase == small)
        #expect(capital.folded(Self.options) != small.folded(Self.options))
        #expect((capital + "É").folded(Self.options) == capital + "e")
        #expect(("É" + small).settledUppercase == "É" + small)
    }

    @Test func `a mark that came after Unicode 15 stays, and what is beside it is folded`() {
        // U+10D69 is a nonspacing mark of Unicode 16.
        let text = "é\u{10D69}É"

        #expect(
            Array(text.folded(Self.options).unicodeScalars)
                == Array("e\u{10D69}e".unicodeScalars))
        #expect(
            Array(text.settledDecomposition.unicodeScalars)
                == Array("e\u{301}\u{10D69}E\u{301}".unicodeScalars))
    }
}
