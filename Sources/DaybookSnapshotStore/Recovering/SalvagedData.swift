internal import DaybookLMDB
internal import DaybookObjectModel

/// The records of large data that were found in a damaged file. Whoever gets one checks it.
struct SalvagedData: RecordSource {
    private let file: SalvagedFile
    /// A page that was freed may have a record once more, whole or not.
    private var places: [ChunkKey: [SalvagedFile.Place]] = [:]

    init(in file: SalvagedFile) {
        self.file = file
    }

    mutating func add(_ key: RawSpan, _ place: SalvagedFile.Place) {
        guard place.count <= ChunkTree.chunkBytes, let key = ChunkTable.key(key), key.level <= 3
        else { return }
        places[key, default: []].append(place)
    }

    func records(_ keys: [ChunkKey]) throws(SharedJournalError) -> [SharedRecord] {
        keys.compactMap { key in
            for place in places[key] ?? [] {
                guard let bytes = file.bytes(at: place),
                    ChunkKey(level: key.level, of: bytes.span.bytes) == key
                else { continue }
                return SharedRecord(key, bytes)
            }
            return nil
        }
    }
}
