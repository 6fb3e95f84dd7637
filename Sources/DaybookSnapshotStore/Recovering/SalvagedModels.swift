internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// The versions of the model that the tables of a damaged file have beside the journal. Each proves itself by its digest.
///
/// Pages that are free may have other versions, of entries that were cut off. Where the trees still lead to the table of
/// models, they tell which ones those are.
struct SalvagedModels {
    private let file: SalvagedFile
    /// The records that may be such a version, by the number of the entry. They are not read before one is needed.
    private var places: [SequenceNumber: [SalvagedFile.Place]] = [:]

    init(in file: SalvagedFile) {
        self.file = file
    }

    /// Keeps where a record is, if it may have a model.
    mutating func add(_ key: RawSpan, _ place: SalvagedFile.Place) throws {
        guard key.byteCount == StoreKey.sequence(.zero).count,
            (Digest.byteCount + SalvagedFile.checkSize + 1...Self.bytesMaximum)
                .contains(place.count)
        else { return }
        var reader = KeyReader()
        let number = try reader.uint64(key)
        guard (1...SequenceNumber.maximum.rawValue).contains(number) else { return }
        places[SequenceNumber(number), default: []].append(place)
    }

    /// A count may be anything, and a record is read as a whole. The model of a hundred thousand properties is shorter.
    private static let bytesMaximum = 1 << 26

    /// The last model that an entry of some set, if the tables still have it.
    ///
    /// - Parameter range: The entries.
    /// - Returns: The model, and the number of its entry; nil when none is there.
    /// - Complexity: O(*m* log *m*), *m* the number of models, and the bytes of those that are no model or damaged.
    func last(
        in range: ClosedRange<SequenceNumber>
    ) -> (sequence: SequenceNumber, version: ModelVersion)? {
        let found = places.keys.filter(range.contains).sorted(by: >)
        // It looks at all of them, so at most once.
        lazy var hasTable = self.hasTable
        for sequence in found {
            let places = places[sequence] ?? []
            let current = places.filter(file.isInUse)
            if let version = version(at: current, of: sequence) { return (sequence, version) }
            // Where the table can be read and has no such record, what is left of one was cut off.
            if current.isEmpty, hasTable { continue }
            let others = places.filter { !file.isInUse($0) }
            if let version = version(at: others, of: sequence) { return (sequence, version) }
        }
        return nil
    }

    private func version(
        at places: [SalvagedFile.Place], of sequence: SequenceNumber
    ) -> ModelVersion? {
        places.lazy.compactMap { version(at: $0, of: sequence) }.first
    }

    /// Whether the trees lead to some model.
    private var hasTable: Bool {
        places.contains { sequence, places in
            places.contains { file.isInUse($0) && version(at: $0, of: sequence) != nil }
        }
    }

    private func version(
        at place: SalvagedFile.Place, of sequence: SequenceNumber
    ) -> ModelVersion? {
        guard let bytes = file.bytes(at: place) else { return nil }
        // The digest proves more than the check behind it, which is the table's.
        let record = bytes.dropLast(SalvagedFile.checkSize)
        do {
            return try ModelRecord.version(Array(record).span.bytes, at: sequence)
        } catch {
            // Another table's, or damaged.
            return nil
        }
    }
}
