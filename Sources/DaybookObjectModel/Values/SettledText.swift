import Foundation

// Texts derived from others are in journals and indexes, next to those of later releases. So every
// release folds a text alike: by the tables of Unicode 15, whatever tables the running program has.

extension String {
    /// The text in small letters, as Unicode 15 has it: a letter that came later stays as it is.
    package var settledLowercase: String { settled { $0.lowercased() } }

    /// The text in capital letters, as Unicode 15 has it: a letter that came later stays as it is.
    package var settledUppercase: String { settled { $0.uppercased() } }

    /// The text decomposed canonically, as Unicode 15 has it.
    package var settledDecomposition: String {
        guard !isSettled else { return decomposedStringWithCanonicalMapping }
        var decomposed = ""
        var rest = unicodeScalars[...]
        while let first = rest.first {
            let isSettled = first.isSettled
            let run = rest.prefix { $0.isSettled == isSettled }
            decomposed += isSettled ? String(run).decomposedStringWithCanonicalMapping : String(run)
            rest = rest[run.endIndex...]
        }
        return decomposed
    }

    /// Whether Unicode 15 has all of the text, so that its mappings stay as they are.
    package var isSettled: Bool { unicodeScalars.allSatisfy(\.isSettled) }

    /// The text after a mapping; a letter stays as it is when it, or what it is mapped to, is
    /// newer.
    private func settled(_ map: (String) -> String) -> String {
        let mapped = map(self)
        if isSettled, mapped.isSettled { return mapped }
        return unicodeScalars.reduce(into: "") { text, scalar in
            let own = String(scalar)
            let mapped = map(own)
            text += scalar.isSettled && mapped.isSettled ? mapped : own
        }
    }
}

extension Unicode.Scalar {
    /// Whether Unicode 15 has the letter, so that its mappings stay as they are.
    var isSettled: Bool {
        // All of Latin up to here has been there for long.
        if value < 0x250 { return true }
        guard let age = properties.age else { return false }
        return age.major <= 15
    }
}
