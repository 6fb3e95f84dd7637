extension String {
    /// The text with other texts in place of some of its scalars.
    ///
    /// Quotes and escapes are made with this, because what reads them reads scalars or bytes. `replacing` compares
    /// characters: it overlooks a quotation mark before an accent, which is one character with it, and a value could
    /// then end the text that it stands in.
    ///
    /// - Parameter replacements: What stands in place of a scalar; the others stay.
    /// - Returns: The text, in which nothing that was put in is replaced again.
    /// - Complexity: O(*n*), *n* the length of the text.
    package func substituting(_ replacements: [Unicode.Scalar: String]) -> String {
        var text = UnicodeScalarView()
        for scalar in unicodeScalars {
            if let replacement = replacements[scalar] {
                text.append(contentsOf: replacement.unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        return String(text)
    }
}
