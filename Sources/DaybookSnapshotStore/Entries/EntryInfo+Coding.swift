package import DaybookObjectModel

// | field | bytes |
// |---|---|
// | count | variable length, 1 to `countMaximum` |
// | pairs | key and value, text each, in the order of the bytes of the keys |

extension EntryInfo {
    /// Checks what is to be kept with an entry.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/information`` and the key.
    package static func check(_ info: [String: String]) throws(StoreError) {
        guard let objection = objection(to: info) else { return }
        throw StoreError(.information, "Nothing was saved: \(objection)")
    }
}

extension ByteWriter {
    /// Appends information that there is.
    mutating func append(info: [String: String]) {
        append(variable: UInt64(info.count))
        for (key, value) in EntryInfo.ordered(info) {
            append(key)
            append(value)
        }
    }
}

extension RawSpan {
    /// Reads information, and only in its canonical form.
    func readInfo(at offset: inout Int) throws(DecodingFailure) -> [String: String] {
        let start = offset
        let count = try readCount(at: &offset)
        guard (1...EntryInfo.countMaximum).contains(count) else {
            throw DecodingFailure(
                at: start, expected: "1 to \(EntryInfo.countMaximum) pairs of information")
        }
        var info: [String: String] = [:]
        var previous: String?
        for _ in 0..<count {
            let keyStart = offset
            let key = try readText(at: &offset)
            let isNext = previous?.utf8.lexicographicallyPrecedes(key.utf8) ?? true
            guard isNext, EntryInfo.objection(toKey: key) == nil else {
                throw DecodingFailure(at: keyStart, expected: "a key after the one before")
            }
            let valueStart = offset
            let value = try readText(at: &offset)
            guard value.utf8.count <= EntryInfo.valueBytesMaximum else {
                throw DecodingFailure(
                    at: valueStart, expected: "at most \(EntryInfo.valueBytesMaximum) bytes")
            }
            // Two spellings of one text are one key.
            guard info.updateValue(value, forKey: key) == nil else {
                throw DecodingFailure(at: keyStart, expected: "each key once")
            }
            previous = key
        }
        return info
    }
}
