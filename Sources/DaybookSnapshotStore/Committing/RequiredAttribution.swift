internal import DaybookObjectModel

extension Set<AttributionRequirement> {
    /// Checks that an entry says what a model requires.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/attribution``, and what is missing.
    func check(_ header: EntryHeader) throws(StoreError) {
        guard !isEmpty else { return }
        let missing = ordered.filter { !$0.isMet(header.author, header.note, header.info) }
        guard missing.isEmpty else { throw .attributionMissing(missing) }
    }
}

extension AttributionRequirement {
    /// How a program says it, and how the command does.
    var remedy: String {
        switch self {
        case .author: "'author:' or the context's 'author', '--author'"
        case .note: "'note:', '--note'"
        case .info(let key): "'info: [\"\(key)\": …]' or the context's 'info', '--info \(key)=…'"
        }
    }
}

extension StoreError {
    fileprivate static func attributionMissing(
        _ missing: [AttributionRequirement]
    ) -> StoreError {
        StoreError(
            .attribution,
            "Nothing was saved: the model requires \(missing.map(\.noun).joined(separator: " and ")). "
                + "Give \(missing.count == 1 ? "it" : "them") and save again.",
            details: missing.map { "\($0.noun): \($0.remedy)" })
    }
}
