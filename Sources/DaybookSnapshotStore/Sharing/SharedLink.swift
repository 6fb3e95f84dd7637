internal import DaybookLMDB
internal import DaybookObjectModel
package import Foundation

/// What a file says about the journal that it is linked to.
///
/// Such a file is one node's copy: its journal is what the shared one has up to some entry, byte for byte.
package struct FileLink: Sendable, Hashable {
    /// Where the shared journal is, such as `postgresql:service=ledger?store=iso`; no hosts and no secrets.
    package let place: String
    /// Which node this is.
    package let node: UUID

    /// A link to a place.
    package init(to place: String, node: UUID) {
        self.place = place
        self.node = node
    }
}

/// How a node reaches the journal that its file is linked to, and how long it waits there.
package struct SharedLink: Sendable {
    /// Where the journal is: what the file must say, too.
    package let place: String
    /// Asks which store is there.
    package let identify: @Sendable () throws -> StoreIdentity
    /// Makes the journal of a file. It need not reach anybody yet.
    package let connect: Connect
    /// How long a save tries to learn whether the shared journal has its entry.
    package var saveTimeout = Duration.seconds(30)
    /// Draws the token of a group of entries.
    package var makeToken: @Sendable () -> Int64 = { .random(in: .min ... .max) }

    /// Takes what the file says, and which store it is.
    package typealias Connect =
        @Sendable (_ link: FileLink, _ identity: StoreIdentity) throws -> any SharedJournal

    /// A link to a place.
    package init(
        to place: String, identify: @escaping @Sendable () throws -> StoreIdentity,
        connect: @escaping Connect
    ) {
        self.place = place
        self.identify = identify
        self.connect = connect
    }
}

// | record `link` of `meta` | bytes |
// |---|---|
// | version | 1: 1 |
// | place | text |
// | node | text, a UUID |
//
// | record `sharedNumbers` of `meta` | bytes |
// |---|---|
// | version | 1: 1 |
// | device, inode | of the file that has kept them, variable length |
// | run | the run of the system in which it has: text |
// | count | variable length |
// | each block | first number and length, variable length |

/// Object numbers that a file has kept for its next opening.
struct KeptNumbers {
    /// The file that has kept them. A copy of it has the same record, and must not give out the same numbers.
    let file: FileIdentity
    /// The run of the system in which it has; empty where the system does not say.
    let run: String
    var blocks: [Range<UInt64>]

    init(
        _ blocks: [Range<UInt64>], of file: FileIdentity,
        in run: String = Environment.runOfSystem ?? ""
    ) {
        (self.file, self.run, self.blocks) = (file, run, blocks)
    }

    /// The numbers, where they are this file's own.
    func blocks(of file: FileIdentity) -> [Range<UInt64>] { self.file == file ? blocks : [] }

    /// Whether nobody else can have them. A machine that was begun with an image of another one's disk has the same file,
    /// as far as one can see.
    var areCertain: Bool { !run.isEmpty && run == Environment.runOfSystem }
}

extension StoreMetadata {
    private static let linkVersion: UInt8 = 1
    private static let numbersVersion: UInt8 = 1

    /// What the file says about the journal that it is linked to; nil for a store of its own.
    static func link(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> FileLink? {
        guard let bytes = try record(Name.link, meta, in: transaction) else { return nil }
        do {
            return try decodeLink(bytes)
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.link)' of the store cannot be read", cause: error)
        }
    }

    /// Refuses to give out numbers of a linked file that was opened without its link: other nodes have them, too.
    static func refuseLinked(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws {
        if try link(meta, in: transaction) != nil { throw StoreError.opensWithoutLink() }
    }

    static func setLink(
        _ link: FileLink, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = ByteWriter(capacity: 128)
        writer.append(linkVersion)
        writer.append(link.place)
        writer.append(link.node.uuidString)
        try put(Name.link, writer.bytes, meta, in: transaction)
    }

    private static func decodeLink(_ bytes: [UInt8]) throws(DecodingFailure) -> FileLink {
        let span = bytes.span.bytes
        var offset = 0
        guard try span.readByte(at: &offset) == linkVersion else {
            throw DecodingFailure(at: 0, expected: "version \(linkVersion) of a link")
        }
        let place = try span.readText(at: &offset)
        let start = offset
        guard let node = UUID(uuidString: try span.readText(at: &offset)),
            offset == span.byteCount
        else { throw DecodingFailure(at: start, expected: "the identifier of a node, at the end") }
        return FileLink(to: place, node: node)
    }

    /// The object numbers that were taken from the shared journal and have not been given out; nil when there are none.
    static func sharedNumbers(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> KeptNumbers? {
        guard let bytes = try record(Name.sharedNumbers, meta, in: transaction) else { return nil }
        do {
            return try decodeNumbers(bytes)
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.sharedNumbers)' of the store cannot be read", cause: error)
        }
    }

    static func setSharedNumbers(
        _ kept: KeptNumbers?, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        guard let kept, !kept.blocks.isEmpty else {
            return try remove(Name.sharedNumbers, meta, in: transaction)
        }
        var writer = ByteWriter(capacity: 64)
        writer.append(numbersVersion)
        writer.append(variable: kept.file.device)
        writer.append(variable: kept.file.inode)
        writer.append(kept.run)
        writer.append(variable: UInt64(kept.blocks.count))
        for block in kept.blocks {
            writer.append(variable: block.lowerBound)
            writer.append(variable: UInt64(block.count))
        }
        try put(Name.sharedNumbers, writer.bytes, meta, in: transaction)
    }

    private static func decodeNumbers(
        _ bytes: [UInt8]
    ) throws(DecodingFailure) -> KeptNumbers {
        let span = bytes.span.bytes
        var offset = 0
        guard try span.readByte(at: &offset) == numbersVersion else {
            throw DecodingFailure(at: 0, expected: "version \(numbersVersion) of numbers")
        }
        let file = FileIdentity(
            device: try span.readVariable(at: &offset), inode: try span.readVariable(at: &offset))
        let run = try span.readText(at: &offset)
        var blocks: [Range<UInt64>] = []
        for _ in 0..<(try span.readCount(at: &offset)) {
            let start = offset
            let first = try span.readVariable(at: &offset)
            let count = try span.readVariable(at: &offset)
            let (end, isTooLarge) = first.addingReportingOverflow(count)
            guard count > 0, !isTooLarge, end <= StoreLayout.objectNumberMaximum + 1 else {
                throw DecodingFailure(at: start, expected: "a block of object numbers")
            }
            blocks.append(first..<end)
        }
        guard offset == span.byteCount else {
            throw DecodingFailure(at: offset, expected: "the end of the numbers")
        }
        return KeptNumbers(blocks, of: file, in: run)
    }

    /// Removes a record, if there is one.
    static func remove(
        _ name: String, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        _ = try transaction.delete(meta, Array(name.utf8).span.bytes)
    }
}
