internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// The versions of the model that the tables of a damaged file have beside the journal. Each proves itself by its digest.
struct SalvagedModels {
    private let file: SalvagedFile
    private var versions: [SequenceNumber: ModelVersion] = [:]

    init(in file: SalvagedFile) {
        self.file = file
    }

    /// Keeps the model of a record, if it is one and proves itself. A page that was freed may have it once more.
    mutating func add(_ key: RawSpan, _ place: SalvagedFile.Place) throws {
        guard key.byteCount == StoreKey.sequence(.zero).count else { return }
        var reader = KeyReader()
        let number = try reader.uint64(key)
        guard (1...SequenceNumber.maximum.rawValue).contains(number),
            case let sequence = SequenceNumber(number), versions[sequence] == nil
        else { return }
        versions[sequence] = version(at: place, of: sequence)
    }

    /// The last model that an entry of some set, if the tables still have it.
    ///
    /// - Parameter range: The entries.
    /// - Returns: The model, and the number of its entry; nil when none is there.
    /// - Complexity: O(*m*), *m* the number of models.
    func last(
        in range: ClosedRange<SequenceNumber>
    ) -> (sequence: SequenceNumber, version: ModelVersion)? {
        versions.keys.filter(range.contains).max().flatMap { sequence in
            versions[sequence].map { (sequence, $0) }
        }
    }

    private func version(
        at place: SalvagedFile.Place, of sequence: SequenceNumber
    ) -> ModelVersion? {
        guard let bytes = file.bytes(at: place), bytes.count > SalvagedFile.checkSize else {
            return nil
        }
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
