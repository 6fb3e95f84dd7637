internal import DaybookObjectModel
package import DaybookSnapshotStore
internal import Foundation

/// Takes the lines of an export that have bytes of large data into a store.
package struct LargeDataIntake {
    /// The data of which some bytes have come.
    private var incoming: IncomingData?

    /// Expects no bytes yet.
    package init() {}

    /// Takes the next bytes; with the last ones, all are in the store.
    ///
    /// - Throws: ``ExportError`` when these are not the next bytes, or all together do not have the digest
    ///   under which they come; `StoreError` when the store cannot be written.
    package mutating func take(_ part: LargeDataLine, into store: Store, line: Int) throws {
        var current = incoming ?? IncomingData(part.data, in: store)
        guard part.data == current.data, part.offset == current.count,
            part.bytes.count <= current.data.count - current.count
        else {
            throw ExportError(.malformed, line: line, current.unfinished)
        }
        incoming = nil
        try current.append(part.bytes)
        guard current.count == current.data.count else {
            incoming = current
            return
        }
        guard try current.finish() == current.data else {
            throw ExportError(
                .mismatch, line: line,
                "The \(current.data.count) bytes do not have the digest that they were exported with. "
                    + "The export was altered after it was made.")
        }
    }

    /// Makes sure that no data have come in part.
    ///
    /// - Throws: ``ExportError``.
    package func expectNothing(line: Int?) throws(ExportError) {
        if let incoming { throw ExportError(.malformed, line: line, incoming.unfinished) }
    }
}

/// Large data that come line by line.
private struct IncomingData {
    let data: LargeData
    private(set) var count = 0
    private var staging: DataStaging

    init(_ data: LargeData, in store: Store) {
        self.data = data.detached
        staging = DataStaging(in: store)
    }

    mutating func append(_ bytes: Data) throws {
        count += bytes.count
        try staging.append(bytes)
    }

    mutating func finish() throws -> LargeData { try staging.finish() }

    /// What is missing.
    var unfinished: String {
        "The bytes \(count) to \(data.count) of the data '\(data.reference)' were expected."
    }
}
