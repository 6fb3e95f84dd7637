internal import DaybookObjectModel
internal import DaybookSnapshotStore
internal import Foundation

// | member | what |
// |---|---|
// | data | the reference that stands in the entries: `large:5242880:3f…` |
// | offset | how many of the bytes have come on lines before |
// | bytes | the next bytes, as base64 |

/// Some bytes of large data, on a line of an export.
package struct LargeDataLine: Sendable {
    let data: LargeData
    let offset: Int
    let bytes: Data

    /// The members of a line.
    static let members = ["data", "offset", "bytes"]

    /// How many bytes a line has.
    static let bytesMaximum = 768 << 10

    init(_ data: LargeData, _ offset: Int, _ bytes: Data) {
        (self.data, self.offset, self.bytes) = (data, offset, bytes)
    }

    /// Reads a line; nil when it is another kind of line.
    init?(_ json: JSONValue) throws(JSONError) {
        guard case .object(let members) = json, members.contains(where: { $0.name == "data" })
        else {
            return nil
        }
        let fields = try ExportMembers(json, names: Self.members)
        guard let data = LargeData(reference: try fields.required("data", read: .text)) else {
            throw JSONError("A reference such as \"large:5242880:3f…\" was expected.", at: "data")
        }
        guard let offset = Int(exactly: try fields.required("offset", read: .number)) else {
            throw JSONError("A number of bytes was expected.", at: "offset")
        }
        guard let bytes = Data(base64Encoded: try fields.required("bytes", read: .text)),
            !bytes.isEmpty, bytes.count <= data.count
        else { throw JSONError("Base64 text was expected.", at: "bytes") }
        self.init(data, offset, bytes)
    }

    /// The line, with its end.
    var text: [UInt8] {
        var writer = JSONWriter(capacity: 256 + bytes.count / 3 * 4)
        writer.object { writer in
            writer.append("data", string: data.reference)
            writer.append("offset", integer: offset)
            writer.append("bytes", string: bytes.base64EncodedString())
        }
        writer.endLine()
        return writer.bytes
    }
}

/// Writes the bytes of large data before the first record that refers to them.
struct LargeDataExport {
    private let store: Store
    private let carries: Bool
    /// What has been written, or was in the export that this one continues.
    private var written: Set<LargeData> = []

    init(of store: Store, carries: Bool) {
        self.store = store
        self.carries = carries
    }

    /// Takes what an earlier export has written with a record as written.
    mutating func pass(_ record: AuditRecord) { written.formUnion(shown(by: record)) }

    /// Writes what a record refers to and is not written yet.
    mutating func write(_ record: AuditRecord, to output: ([UInt8]) throws -> Void) throws {
        guard carries else { return }
        for data in shown(by: record) where written.insert(data).inserted {
            try write(data.attached(to: store), to: output)
        }
    }

    /// The large data that a record brings, in order. Of confidential values not even the reference is shown.
    private func shown(by record: AuditRecord) -> [LargeData] {
        record.shown.flatMap { change -> [LargeData] in
            var data: [LargeData] = []
            change.forEachNewLargeData { data.append($0.detached) }
            guard !data.isEmpty else { return [] }
            let told = record.readable(change).fields.compactMap { field in
                if case .large(let data) = field.new.value { data } else { nil }
            }
            return data.filter { told.contains($0) }
        }
    }

    private func write(_ data: LargeData, to output: ([UInt8]) throws -> Void) throws {
        var offset = 0
        while offset < data.count {
            let end = min(data.count, offset + LargeDataLine.bytesMaximum)
            try output(LargeDataLine(data, offset, try data.bytes(in: offset..<end)).text)
            offset = end
        }
    }
}
