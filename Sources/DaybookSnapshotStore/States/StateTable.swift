// The room of states: what the folds of a program's own have made of the journal, kept in the same file. It
// runs no fold and decodes no value; it keeps records, says how far each state has come, and replaces one state
// by another. The states do not follow from the journal without the program that folds them.

internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// | table | key | value |
// |---|---|---|
// | states | number of the generation u32, key of at most 507 bytes | value |
//
// The table is made with the first state of a store. Which generations there are, the record `states` of
// `meta` says: see `StateList`. The records carry a check, as those of the store's own projection do.

/// The table of states.
enum StateTable {
    static let name = "states"

    /// The greatest length of a key without the number before it, in bytes: LMDB allows 511.
    static let keyBytesLimit = 511 - prefixSize

    /// The size of the number before a key, in bytes.
    static let prefixSize = 4

    /// What the keys of a generation begin with.
    static func prefix(_ generation: UInt32) -> [UInt8] {
        var writer = KeyWriter(capacity: prefixSize)
        writer.append(generation)
        return writer.bytes
    }

    /// The generation of a key, and the key without its number; nil when the bytes are too short to be one.
    static func parts(of key: RawSpan) throws -> (generation: UInt32, key: [UInt8])? {
        guard key.byteCount >= prefixSize else { return nil }
        var reader = KeyReader()
        return (try reader.uint32(key), try reader.bytes(key, count: reader.remaining(in: key)))
    }
}

/// What the keys of a projection's state are. Their bytes are in the order of the keys.
public enum ProjectionKeyForm: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Text, as UTF-8.
    case string = 1
    /// Bytes.
    case data
    /// A whole number of eight bytes.
    case integer
    /// A UUID.
    case uuid
    /// A date.
    case date
    /// An object of the store.
    case object

    /// The name of the form.
    public var description: String {
        switch self {
        case .string: "string"
        case .data: "data"
        case .integer: "integer"
        case .uuid: "uuid"
        case .date: "date"
        case .object: "object"
        }
    }
}

/// A state that a fold has made of the entries up to a place.
package struct StateGeneration: Sendable, Hashable {
    /// What its keys begin with. No number is given twice.
    package let number: UInt32
    /// The version of the fold.
    package let version: Int
    /// What its keys are.
    package let form: ProjectionKeyForm
    /// Behind which entry it stands.
    package internal(set) var place: JournalPlace
    /// How many keys it has.
    package internal(set) var keyCount: Int
    /// How many bytes its keys and values have together.
    package internal(set) var byteCount: Int

    /// Counts records that come or go.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when what was counted before cannot be true.
    mutating func count(keys: Int, bytes: Int) throws(StoreError) {
        let (keys, hasTooManyKeys) = keyCount.addingReportingOverflow(keys)
        let (bytes, hasTooManyBytes) = byteCount.addingReportingOverflow(bytes)
        guard !hasTooManyKeys, !hasTooManyBytes, keys >= 0, bytes >= 0 else {
            throw .corrupt(
                "The state \(number) of a projection has other records than were counted")
        }
        (keyCount, byteCount) = (keys, bytes)
    }
}

/// A state that the store keeps under a name, for a projection of a program's own.
package struct FoldedState: Sendable, Hashable {
    /// The name.
    package let name: String
    /// The state that is read.
    package internal(set) var current: StateGeneration
    /// The state that is being built beside it and takes its place; nil for none.
    package internal(set) var successor: StateGeneration?

    /// Its generation of a number.
    package func generation(_ number: UInt32) -> StateGeneration? {
        if current.number == number { return current }
        return successor?.number == number ? successor : nil
    }

    /// The generation that a fold moves next; nil when it has to begin one.
    ///
    /// The state that is read goes on while another is built, where the fold is its own.
    ///
    /// - Parameters:
    ///   - version: The version of the fold.
    ///   - target: The entry to reach.
    ///   - rebuilds: Whether the state to come goes first.
    /// - Returns: The generation.
    /// - Throws: ``StoreError`` with ``StoreError/Code/projectionSuperseded`` when a newer version has taken
    ///   over.
    func generation(
        movedBy version: Int, to target: SequenceNumber, rebuilds: Bool
    ) throws(StoreError) -> StateGeneration? {
        if let successor, successor.version == version {
            let isBehind = current.version == version && current.place.sequence < target
            return isBehind && !rebuilds ? current : successor
        }
        if current.version == version { return current }
        try checkNewest(version)
        return nil
    }

    /// Refuses a version when there is a newer one, be it that it is still being built.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/projectionSuperseded``.
    func checkNewest(_ version: Int) throws(StoreError) {
        let newest = successor?.version ?? current.version
        guard newest <= version else { throw .projectionSuperseded(name, version, by: newest) }
    }
}

extension StoreError {
    fileprivate static func projectionSuperseded(
        _ name: String, _ version: Int, by newer: Int
    ) -> StoreError {
        StoreError(
            .projectionSuperseded,
            "The projection '\(name)' is of version \(newer) in the store, and this program has version "
                + "\(version). Use the newer program, or give the fold a version above \(newer).")
    }

    static func projectionName(_ name: String, _ objection: String) -> StoreError {
        StoreError(
            .projectionName, "A projection cannot be named '\(name)': the name \(objection).")
    }
}

extension FoldedState {
    /// The greatest length of a name, in bytes of UTF-8.
    package static let nameBytesLimit = 200

    /// Refuses a name that is not allowed.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/projectionName`` for one that is empty, too long, begins
    ///   with a hyphen, or has characters that do not show.
    package static func check(name: String) throws(StoreError) {
        if name.isEmpty { throw .projectionName(name, "is empty") }
        if name.utf8.count > nameBytesLimit {
            throw .projectionName(
                "\(name.prefix(20))…", "is longer than \(nameBytesLimit) bytes")
        }
        // The command would take it for an option.
        if name.hasPrefix("-") { throw .projectionName(name, "begins with '-'") }
        let unfit = name.unicodeScalars.first {
            [.control, .format, .lineSeparator, .paragraphSeparator]
                .contains($0.properties.generalCategory)
        }
        guard let unfit else { return }
        throw .projectionName(
            name.unicodeScalars.map { $0.escaped(asASCII: false) }.joined(),
            "has the character '\(unfit.escaped(asASCII: true))' in it")
    }
}
