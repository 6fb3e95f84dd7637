/// The rules for the information of an entry: texts by keys, such as the identifier of a request.
///
/// Models, entries, filters, exports and the command all keep to them, so that what one accepts every
/// other one can say.
package enum EntryInfo {
    /// So many pairs an entry can have.
    package static let countMaximum = 64
    /// The greatest length of a key, in bytes of UTF-8.
    package static let keyBytesMaximum = 128
    /// The greatest length of a value, in bytes of UTF-8.
    package static let valueBytesMaximum = 4096

    /// Why a key is not allowed, as the rest of a sentence; nil when it is.
    package static func objection(toKey key: String) -> String? {
        if key.isEmpty { return "is empty" }
        if key.utf8.count > keyBytesMaximum { return "is longer than \(keyBytesMaximum) bytes" }
        // The command says `--info KEY=VALUE`.
        if key.utf8.contains(UInt8(ascii: "=")) { return "has '=' in it" }
        let unfit = key.unicodeScalars.first { $0.properties.generalCategory == .control }
        return unfit.map { "has the character '\($0.escaped(asASCII: false))' in it" }
    }

    /// Why an entry cannot keep some information, as a sentence that begins in lower case; nil when it
    /// can.
    package static func objection(to info: [String: String]) -> String? {
        guard !info.isEmpty else { return nil }
        if info.count > countMaximum {
            return "\(info.count) keys of information were given, and an entry keeps at most "
                + "\(countMaximum). Keep the rest in an object, and its identifier here."
        }
        for (key, value) in ordered(info) {
            if let objection = objection(toKey: key) {
                return "information cannot have the key \(ReadableText.quoted(key)), because that "
                    + "\(objection). Choose a key such as 'request'."
            }
            if value.utf8.count > valueBytesMaximum {
                return "the information for the key '\(key)' has \(value.utf8.count) bytes, and an "
                    + "entry keeps at most \(valueBytesMaximum). Keep it in an object, and its "
                    + "identifier here."
            }
        }
        return nil
    }

    /// The pairs in the order of the bytes of their keys.
    package static func ordered(_ info: [String: String]) -> [(key: String, value: String)] {
        info.count < 2
            ? info.map { ($0.key, $0.value) }
            : info.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The pairs on one line, `request=7, reason="two words"`; nil when there are none.
    package static func text(_ info: [String: String]) -> String? {
        guard !info.isEmpty else { return nil }
        return ordered(info).map { "\(word($0.key))=\(word($0.value))" }.joined(separator: ", ")
    }

    /// A text, in quotes unless it is one plain word.
    private static func word(_ text: String) -> String {
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "-_.:/@+#".unicodeScalars.contains(scalar)
        }
        return isPlain && !text.isEmpty ? text : ReadableText.quoted(text)
    }
}
