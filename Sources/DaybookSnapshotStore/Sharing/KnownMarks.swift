internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel
internal import Foundation

// What is kept beside a journal - tags, values and cursors - is in records of `meta`, in every store. A linked file
// also keeps what the servers were last known to have of it, so that it can be told who has changed what since.
//
// | record `sharedMarks` of `meta` | bytes |
// |---|---|
// | version | 1: 1 |
// | count | variable length |
// | each mark, sorted by kind and name | kind: 1, version (variable length), name, body |

/// Which mark it is.
struct MarkName: Hashable, Comparable, Sendable {
    let kind: SharedMark.Kind
    /// Names that mean the same to people are the same.
    let name: String

    init(_ kind: SharedMark.Kind, _ name: String) {
        self.kind = kind
        self.name = name.precomposedStringWithCanonicalMapping
    }

    init(_ mark: SharedMark) {
        self.init(mark.kind, mark.name)
    }

    static func < (left: MarkName, right: MarkName) -> Bool {
        (left.kind.rawValue, left.name) < (right.kind.rawValue, right.name)
    }
}

typealias MarkBodies = [MarkName: [UInt8]]
typealias KnownMarks = [MarkName: SharedMark]

extension StoreMetadata {
    private static let knownMarksVersion: UInt8 = 1

    /// What the servers were last known to have.
    static func knownMarks(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> KnownMarks {
        guard let bytes = try record(Name.sharedMarks, meta, in: transaction) else { return [:] }
        do {
            return try decodeMarks(bytes)
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.sharedMarks)' of the store cannot be read", cause: error)
        }
    }

    static func setKnownMarks(
        _ marks: KnownMarks, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        guard !marks.isEmpty else { return try remove(Name.sharedMarks, meta, in: transaction) }
        var writer = ByteWriter(capacity: 64 * marks.count)
        writer.append(knownMarksVersion)
        writer.append(variable: UInt64(marks.count))
        for (_, mark) in marks.sorted(by: { $0.key < $1.key }) {
            writer.append(mark.kind.rawValue)
            writer.append(variable: UInt64(mark.version))
            writer.append(mark.name)
            writer.append(variable: UInt64(mark.body?.count ?? 0))
            writer.append(raw: mark.body ?? [])
        }
        try put(Name.sharedMarks, writer.bytes, meta, in: transaction)
    }

    private static func decodeMarks(_ bytes: [UInt8]) throws(DecodingFailure) -> KnownMarks {
        let span = bytes.span.bytes
        var offset = 0
        guard try span.readByte(at: &offset) == knownMarksVersion else {
            throw DecodingFailure(at: 0, expected: "version \(knownMarksVersion) of marks")
        }
        var marks: KnownMarks = [:]
        for _ in 0..<(try span.readCount(at: &offset)) {
            let start = offset
            guard let kind = SharedMark.Kind(rawValue: try span.readByte(at: &offset)),
                let version = Int64(exactly: try span.readVariable(at: &offset))
            else { throw DecodingFailure(at: start, expected: "a mark") }
            let name = try span.readText(at: &offset)
            let body = try span.readBytes(try span.readCount(at: &offset), at: &offset)
            marks[MarkName(kind, name)] = SharedMark(kind, name, body, version: version)
        }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the marks")
        }
        return marks
    }
}
