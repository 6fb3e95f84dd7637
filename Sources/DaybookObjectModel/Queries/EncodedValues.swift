/// Values in their canonical form, sorted for a binary search.
struct EncodedValues: Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// The tag of the numbers among the values; nil without numbers.
    private let numberTag: UInt8?

    /// Encodes values; nil when they include numbers of several forms, which compare by size, or
    /// data that may be stored outside a row.
    init?(_ values: FilterValues) {
        let encoded = Set(values.values.map(\.normalizedNumber.encoded)).sorted {
            $0.lexicographicallyPrecedes($1)
        }
        let tags = Set(encoded.map { $0[0] }).filter(ValueTag.isNumber)
        guard tags.count <= 1 else { return nil }
        // Large data are equal to the same bytes in either form.
        for value in values.values where value.dataCount ?? 0 > LargeData.inlineBytesMaximum {
            return nil
        }
        numberTag = tags.first
        for value in encoded {
            bytes += value
            ends.append(bytes.count)
        }
    }

    /// Whether bytes alone tell if a value with this tag is among these.
    func decides(_ tag: UInt8) -> Bool {
        !ValueTag.isNumber(tag) || numberTag == nil || numberTag == tag
    }

    func contains(_ row: RawSpan, _ field: EncodedField) -> Bool {
        var low = 0
        var high = ends.count
        while low < high {
            let middle = (low + high) / 2
            let order = order(of: middle, row, field)
            if order == 0 { return true }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return false
    }

    private func order(of index: Int, _ row: RawSpan, _ field: EncodedField) -> Int {
        let start = index == 0 ? 0 : ends[index - 1]
        let count = ends[index] - start
        let fieldCount = field.end - field.start
        for offset in 0..<min(count, fieldCount) {
            let (own, other) = (bytes[start + offset], row.byte(at: field.start + offset))
            if own != other { return own < other ? -1 : 1 }
        }
        return count - fieldCount
    }
}

extension Value {
    /// The value as it is stored when it is a number; a date is compared as it is.
    fileprivate var normalizedNumber: Value {
        if case .double = self { normalized } else { self }
    }
}
