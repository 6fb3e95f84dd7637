internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// What a store keeps beside its journal. Each record proves itself by its digest, and one that is damaged takes none of
/// the others along.
struct SalvagedMarks {
    let identity: StoreIdentity
    /// The last entry that the store says it has; nil when that cannot be read.
    let end: RecordedHead?
    let tags: [StoreTag]
    let cursors: [StoreCursor]
    let values: [String: Value]
    /// Which of them were damaged, and are lost.
    let lost: [String]

    /// Those of a file; nil when it is too damaged to be opened.
    ///
    /// - Throws: ``StoreError`` when something else keeps the file from being read: what is there must not be given up
    ///   because another program was in the way, or a call has failed.
    init?(of path: String) throws {
        var options = StoreOptions()
        options.isReadOnly = true
        guard let store = try Self.store(at: path, options: options) else { return nil }
        defer { store.closeQuietly() }
        identity = StoreIdentity(uuid: store.uuid, createdAt: store.createdAt)
        let tags = try Self.sound { try store.tags() }
        let cursors = try Self.sound { try store.cursors() }
        let values = try Self.sound { try store.userValues() }
        lost = [
            ("tags", tags == nil), ("cursors", cursors == nil), ("kept values", values == nil),
        ]
        .filter(\.1).map(\.0)
        (self.tags, self.cursors, self.values) = (tags ?? [], cursors ?? [], values ?? [:])
        end = try Self.sound {
            try store.reading { try RecordedHead(recordedIn: store.parts.journal, in: $0) }
        }
        .flatMap(\.self)
    }

    /// Those of a file that cannot be opened, for example because it was cut; nil when it does not say which store it is.
    ///
    /// - Parameters:
    ///   - metadata: The records that were found.
    ///   - end: The last entry that the file says it has.
    /// - Throws: What is no damage.
    init?(_ metadata: SalvagedMetadata, endingWith end: RecordedHead?) throws {
        typealias Name = StoreMetadata.Name
        guard case .found(let uuid) = metadata.record(Name.uuid),
            case .found(let created) = metadata.record(Name.createdAt), created.count == 8,
            let identity = try StoreMetadata.identity(uuid: uuid, created: created)
        else { return nil }
        var lost: [String] = []
        func read<R>(
            _ name: String, _ label: String, or none: R, _ decode: ([UInt8]) throws -> R
        ) throws -> R {
            switch metadata.record(name) {
            case .absent: return none
            case .found(let bytes):
                if let found = try Self.sound({ try decode(bytes) }) { return found }
            case .lost: break
            }
            lost.append(label)
            return none
        }
        tags = try read(Name.tags, "tags", or: [], StoreMetadata.tags(in:))
        cursors = try read(Name.cursors, "cursors", or: [], StoreMetadata.cursors(in:))
        values = try read(Name.userValues, "kept values", or: [:], StoreMetadata.userValues(in:))
        self.lost = lost
        self.identity = identity
        self.end = end
    }

    /// The store, with the model of the first entry, or that of the tables where this one is lost; nil when neither can
    /// be read.
    private static func store(at path: String, options: StoreOptions) throws -> Store? {
        for source in [Store.ModelSource.journal, .table] {
            do {
                return try Store.open(at: path, model: nil, options: options, modelSource: source)
            } catch let error as StoreError where error.code.isOfDamage {
                // The other one may be sound.
            }
        }
        return nil
    }

    /// What is read; nil when it is damaged.
    private static func sound<R>(_ read: () throws -> R) throws -> R? {
        do {
            return try read()
        } catch let error as StoreError where error.code.isOfDamage {
            return nil
        }
    }
}

extension StoreError.Code {
    /// Whether it says that something in the file is not what a store has there.
    fileprivate var isOfDamage: Bool {
        [.corrupt, .notAStore, .truncated, .newerFormat, .model].contains(self)
    }
}
