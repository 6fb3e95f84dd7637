public import DaybookDigest
import DaybookStopping
public import Foundation

/// Bytes that are read when they are asked for, whole or in part.
///
/// A `Data` value of more than 64 KiB is not kept in the record of its object: the store keeps the bytes
/// once, in chunks, however many objects and entries have them, and the record has their number and
/// digest. A property of type `Data` reads all of them at once. One of type `LargeData` gives this, from
/// which parts can be read, and which can be made from a file without holding it in memory.
///
/// ```swift
/// final class Recording: ManagedObject {
///     @Attribute var title: String = ""
///     @Attribute var sound: LargeData?
/// }
///
/// recording.sound = try context.importData(from: file)
/// try context.save()
/// let beginning = try recording.sound?.bytes(in: 0..<1024)
/// ```
///
/// Two are equal when they have the same bytes, which their digests tell without reading them. One that
/// was read from a store keeps the store's file open.
///
/// ## Topics
///
/// ### Making one
/// - ``init(_:)``
///
/// ### What is known without reading
/// - ``count``
/// - ``digest``
///
/// ### Reading
/// - ``data()``
/// - ``bytes(in:)``
/// - ``copy(to:)``
/// - ``DetachedDataError``
public struct LargeData: Sendable {
    /// The greatest number of bytes that a record holds itself.
    public static let inlineBytesMaximum = 64 << 10

    /// The greatest number of bytes that there can be: 2⁴⁸, more than a file holds.
    public static let bytesMaximum = 1 << 48

    private let body: Body

    // A class, so that the value is one word, whatever is known about it.
    private final class Body: Sendable {
        let count: Int
        let digest: Digest
        let content: Content

        init(_ count: Int, _ digest: Digest, _ content: Content) {
            (self.count, self.digest, self.content) = (count, digest, content)
        }
    }

    /// Where the bytes are.
    private enum Content: Sendable {
        /// In the store of the record that refers to them.
        case elsewhere
        /// In memory; with the digests of the chunks.
        case memory(Data, [Digest])
        case source(any LargeDataSource)
    }

    /// Takes bytes in memory.
    ///
    /// - Complexity: O(*n*) hashing, *n* the number of bytes.
    public init(_ data: Data) {
        var builder = ChunkTreeBuilder()
        var chunks: [Digest] = []
        for index in 0..<ChunkTree(byteCount: data.count).chunkCount {
            let chunk = ChunkKey(level: 0, of: data.chunk(index).span.bytes).digest
            chunks.append(chunk)
            builder.add(chunk) { _, _ in }
        }
        body = Body(data.count, builder.finish { _, _ in }.digest, .memory(data, chunks))
    }

    /// A reference to bytes, which can be read only through a source.
    package init(count: Int, digest: Digest, source: (any LargeDataSource)? = nil) {
        body = Body(count, digest, source.map { .source($0) } ?? .elsewhere)
    }

    /// How many bytes there are.
    public var count: Int { body.count }

    /// The digest of the bytes: the root of the tree over their chunks.
    public var digest: Digest { body.digest }

    /// The shape of the tree.
    package var tree: ChunkTree { ChunkTree(byteCount: count) }

    /// The key of the record at the top of the tree.
    package var top: ChunkKey { ChunkKey(level: tree.height, digest: digest) }

    /// The bytes, if they are in memory.
    package var inMemory: Data? {
        if case .memory(let data, _) = body.content { data } else { nil }
    }

    /// Whether the bytes can be read.
    package var isAttached: Bool {
        if case .elsewhere = body.content { false } else { true }
    }

    /// The same bytes, read from a source unless they can be read already.
    package func attached(to source: @autoclosure () -> (any LargeDataSource)?) -> LargeData {
        guard !isAttached, let source = source() else { return self }
        return LargeData(count: count, digest: digest, source: source)
    }

    /// The same bytes without a way to read them.
    package var detached: LargeData {
        LargeData(count: count, digest: digest)
    }

    // MARK: - Reading

    /// All bytes.
    ///
    /// - Throws: `StoreError` with code `corrupt` when a chunk is damaged; ``DetachedDataError``
    ///   when the value came without its store.
    /// - Complexity: O(*n*) page reads and hashing, *n* the number of bytes; nothing when they are in
    ///   memory.
    public func data() throws -> Data {
        switch body.content {
        case .memory(let data, _): return data
        case .source(let source): return try source.data(of: self)
        case .elsewhere: throw DetachedDataError(count: count, digest: digest)
        }
    }

    /// Some of the bytes.
    ///
    /// - Throws: As ``data()``; other chunks may be damaged.
    /// - Precondition: The range is within the bytes.
    /// - Complexity: O(*k* + log *n*) page reads and hashing, *k* the number of bytes asked for.
    public func bytes(in range: Range<Int>) throws -> Data {
        require(
            range.lowerBound >= 0 && range.upperBound <= count, "The range is within the bytes.")
        var data = Data(capacity: min(range.count, Self.pieceBytes))
        try forEachPiece(of: range) { data.append($0) }
        return data
    }

    /// Writes all bytes to a file, and holds few of them in memory at a time.
    ///
    /// - Parameter file: Open for writing; it is left open.
    /// - Throws: As ``data()``, and what writing throws. Some bytes may have been written then.
    public func copy(to file: FileHandle) throws {
        try forEachPiece(of: 0..<count) { try file.write(contentsOf: $0) }
    }

    /// Passes the bytes of a range on, a piece at a time.
    package func forEachPiece(of range: Range<Int>, _ body: (Data) throws -> Void) throws {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(range.upperBound, start + Self.pieceBytes)
            try body(try piece(start..<end))
            start = end
        }
    }

    /// How many bytes are read at a time when all are passed on.
    private static let pieceBytes = 16 * ChunkTree.chunkBytes

    private func piece(_ range: Range<Int>) throws -> Data {
        switch body.content {
        case .memory(let data, _):
            return data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]
        case .source(let source): return try source.bytes(of: self, in: range)
        case .elsewhere: throw DetachedDataError(count: count, digest: digest)
        }
    }

    // MARK: - The tree

    /// Passes on every record of the tree, each before those that lead to it.
    ///
    /// - Throws: As ``data()``; what `body` throws.
    package func forEachRecord(_ body: (ChunkKey, RawSpan) throws -> Void) throws {
        var builder = ChunkTreeBuilder()
        let tree = tree
        var known: [Digest]?
        if case .memory(_, let chunks) = self.body.content { known = chunks }
        for index in 0..<tree.chunkCount {
            let start = index * ChunkTree.chunkBytes
            let chunk = [UInt8](try piece(start..<start + tree.byteCount(ofChunk: index)))
            let span = chunk.span.bytes
            let key =
                known.map { ChunkKey(level: 0, digest: $0[index]) }
                ?? ChunkKey(level: 0, of: span)
            try body(key, span)
            try builder.add(key.digest) { try body($0, $1.span.bytes) }
        }
        _ = try builder.finish { try body($0, $1.span.bytes) }
    }
}

/// Where large data can be read.
package protocol LargeDataSource: Sendable {
    /// All bytes.
    func data(of data: LargeData) throws -> Data
    /// Some of the bytes.
    func bytes(of data: LargeData, in range: Range<Int>) throws -> Data
}

extension LargeDataSource {
    package func data(of data: LargeData) throws -> Data {
        try data.detached.attached(to: self).bytes(in: 0..<data.count)
    }
}

extension LargeData: Hashable {
    /// Whether both have the same bytes.
    public static func == (left: LargeData, right: LargeData) -> Bool {
        left.body === right.body || left.digest == right.digest && left.count == right.count
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(digest)
    }
}

extension LargeData: CustomStringConvertible {
    /// `5,242,880 bytes, 3f…`: their number, and the first digits of their digest.
    public var description: String {
        "\(count) bytes, digest \(digest.hexadecimal.prefix(16))…"
    }
}

/// The requested bytes are only in the store that has the record referring to them.
///
/// Values in conflicts and in validation failures are such references. Read the object's property, or
/// attach them with the store's `largeData(_:)`.
public struct DetachedDataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How many bytes there are.
    public let count: Int
    /// Their digest.
    public let digest: Digest

    /// One sentence.
    public var description: String {
        "The \(count) bytes of the digest \(digest.hexadecimal) are not available: this value came "
            + "without its store. Read them through the store, with 'largeData(_:)'."
    }
}

extension LargeData {
    private static let referenceWord = "large"

    /// The text that stands for the bytes where they are not written themselves:
    /// `large:5242880:3f…`, the number and the digest. No base64 text has a colon.
    package var reference: String {
        "\(Self.referenceWord):\(count):\(digest.hexadecimal)"
    }

    /// Reads ``reference``.
    package init?(reference: String) {
        let parts = reference.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.referenceWord, let count = Int(parts[1]),
            count > Self.inlineBytesMaximum, count <= Self.bytesMaximum,
            let digest = Digest(hexadecimal: parts[2])
        else { return nil }
        self.init(count: count, digest: digest)
    }
}

extension Data {
    /// A chunk of these bytes.
    fileprivate func chunk(_ index: Int) -> [UInt8] {
        let start = index * ChunkTree.chunkBytes
        let end = Swift.min(start + ChunkTree.chunkBytes, count)
        return [UInt8](self[startIndex + start..<startIndex + end])
    }
}
