internal import DaybookLMDB
internal import DaybookObjectModel

/// The records beside the journal that were found in a damaged file. They are for one that cannot be opened.
///
/// Each proves itself by its digest, and only those count that the trees lead to: pages that are free have older ones.
struct SalvagedMetadata {
    private let file: SalvagedFile
    private var places: [String: [SalvagedFile.Place]] = [:]

    init(in file: SalvagedFile) {
        self.file = file
    }

    /// Keeps where a record is, if it may be one of them.
    mutating func add(_ key: RawSpan, _ place: SalvagedFile.Place) {
        guard key.byteCount <= Self.nameMaximum, place.count <= Self.bytesMaximum else { return }
        let name = String(decoding: key.array, as: UTF8.self)
        if Self.names.contains(name) { places[name, default: []].append(place) }
    }

    /// What there is of a record.
    enum Record {
        /// The store has none.
        case absent
        /// It had one, or may have had.
        case lost
        /// Its bytes.
        case found([UInt8])
    }

    /// The record of a name.
    func record(_ name: String) -> Record {
        let current = (places[name] ?? []).filter(file.isInUse)
        for place in current {
            guard let bytes = file.bytes(at: place),
                let content = StoreMetadata.content(of: bytes, named: name)
            else { continue }
            return .found(content)
        }
        return current.isEmpty && file.hasWhole(StoreLayout.metaName) ? .absent : .lost
    }

    private static let names: Set = [
        StoreMetadata.Name.uuid, StoreMetadata.Name.createdAt, StoreMetadata.Name.tags,
        StoreMetadata.Name.cursors, StoreMetadata.Name.userValues,
    ]
    private static let nameMaximum = names.map(\.utf8.count).max() ?? 0
    /// A count may be anything. Hundreds of thousands of tags take less.
    private static let bytesMaximum = 1 << 26
}
