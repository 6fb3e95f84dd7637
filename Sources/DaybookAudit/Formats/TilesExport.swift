public import DaybookJournalLog
internal import DaybookNewFiles
internal import DaybookSnapshotStore
public import Foundation

/// The journal as a folder that anyone can check with tools for transparency logs: the layout of
/// C2SP's tlog-tiles.
///
/// | path | content |
/// |---|---|
/// | `checkpoint` | the signed checkpoint, written last |
/// | `tile/<L>/<N>[.p/<W>]` | the hashes of a tile: 256 of 32 bytes, or *W* at the right edge |
/// | `tile/entries/<N>[.p/<W>]` | the entries of a tile, each after its length in two bytes |
/// | `entry/<N>` | an entry alone, for tiles with an entry longer than 65,535 bytes |
///
/// *N* is written in groups of three digits, all but the last behind an `x`: 1234067 is `x001/x234/067`. A
/// bundle cannot hold an entry longer than 65,535 bytes. Where there is one, all entries of that
/// tile are single files instead, named by their position from 0.
///
/// ```swift
/// let tiles = try TilesExport(reader, into: folder, checkpoint: note)
/// try tiles.write()
/// ```
///
/// A later export with a newer checkpoint only adds to the folder: complete tiles are never
/// rewritten, and files that an earlier checkpoint needs remain. Each file is written under another
/// name and renamed when it is complete, the checkpoint last, so an interrupted export can simply
/// be run again.
public struct TilesExport: Sendable {
    /// The result of an export.
    public struct Summary: Sendable, Hashable {
        /// The number of entries in the folder.
        public internal(set) var size: UInt64
        /// The number of entries before the export.
        public internal(set) var previousSize: UInt64
        /// The number of tiles of hashes written.
        public internal(set) var tiles = 0
        /// The number of bundles of entries written.
        public internal(set) var bundles = 0
        /// The number of entries written to single files, because a bundle cannot hold them or
        /// their neighbours.
        public internal(set) var singleEntries = 0
    }

    private let reader: AuditReader
    private let folder: String
    private let note: SignedNote
    private let checkpoint: Checkpoint

    /// The number of hashes or entries in a tile.
    private static let tileWidth: UInt64 = 256
    /// The longest entry whose length fits into two bytes.
    private static let bundledBytesMaximum = Int(UInt16.max)

    /// Prepares an export.
    ///
    /// - Parameters:
    ///   - reader: The store.
    ///   - folder: The folder, which is made if necessary.
    ///   - note: A signed checkpoint of the store. Entries after it are not exported. Its signature
    ///     is not checked; see `SignedNote.verify(with:)`.
    /// - Throws: `ProofError` with code `mismatch` when the journal does not continue from the
    ///   checkpoint, with code `malformed` when it is not a checkpoint; `StoreError` when the store
    ///   cannot be read.
    public init(_ reader: AuditReader, into folder: URL, checkpoint note: SignedNote) throws {
        try self.init(reader, into: folder.path, checkpoint: note)
    }

    /// Prepares an export into the folder at a path, which may be relative.
    package init(
        _ reader: AuditReader, into folder: String, checkpoint note: SignedNote
    ) throws {
        self.reader = reader
        self.folder = folder
        self.note = note
        checkpoint = try Checkpoint(note.text)
        if let flaw = try reader.store.flaw(of: checkpoint) { throw ProofError(.mismatch, flaw) }
    }

    /// Writes the missing files.
    ///
    /// - Parameter progress: Called occasionally with the number of finished entries and their
    ///   total.
    /// - Returns: The result.
    /// - Throws: `ProofError` with code `mismatch` when the folder is of another journal or already
    ///   has more entries, with code `malformed` when its checkpoint is not one; `StoreError` with
    ///   code `corrupt` at an entry or hash that is not what was written; Foundation's error when
    ///   the folder cannot be written. The folder still fits its old checkpoint then.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of entries since the folder's checkpoint;
    ///   the memory of one bundle.
    @discardableResult
    public func write(
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> Summary {
        let previous = try previousSize()
        var summary = Summary(size: checkpoint.size, previousSize: previous)
        for level in 0..<8 where checkpoint.size >> UInt64(8 * level) > 0 {
            try eachTile(level, after: previous) { index, width in
                try writeTile(level, index, width)
                summary.tiles += 1
            }
        }
        try eachTile(0, after: previous) { index, width in
            let first = index * Self.tileWidth
            progress(first - min(first, previous), checkpoint.size - previous)
            try writeEntries(index, width, &summary)
        }
        // The checkpoint may cover only what is on the disk, including the folders of the tiles.
        NewFile.syncAll()
        try write(Array(note.description.utf8), to: "checkpoint")
        progress(checkpoint.size - previous, checkpoint.size - previous)
        return summary
    }

    // MARK: - Existing files

    /// The number of entries in the folder; 0 without a checkpoint.
    private func previousSize() throws -> UInt64 {
        let file = "\(folder)/checkpoint"
        guard FileManager.default.fileExists(atPath: file) else { return 0 }
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw ProofError(.malformed, "The checkpoint in '\(folder)' cannot be read.")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ProofError(.malformed, "The checkpoint in '\(folder)' is not text.")
        }
        let before = try Checkpoint(SignedNote(text).text)
        guard before.origin == checkpoint.origin else {
            throw ProofError(
                .mismatch,
                "The folder '\(folder)' belongs to the journal '\(before.origin)', and the checkpoint "
                    + "to '\(checkpoint.origin)'. Choose another folder.")
        }
        guard before.size <= checkpoint.size else {
            throw ProofError(
                .mismatch,
                "The folder '\(folder)' covers \(before.size) entries, and the checkpoint "
                    + "\(checkpoint.size). Sign a newer one.")
        }
        guard try reader.store.flaw(of: before) == nil else {
            throw ProofError(
                .mismatch,
                "The folder '\(folder)' belongs to another journal: its first \(before.size) entries "
                    + "are not those of the store.")
        }
        return before.size
    }

    /// Calls `body` with the index and width of each tile of a level that an earlier export has not
    /// completed.
    private func eachTile(
        _ level: Int, after previous: UInt64, _ body: (UInt64, Int) throws -> Void
    ) throws {
        let nodes = checkpoint.size >> UInt64(8 * level)
        let nodesBefore = previous >> UInt64(8 * level)
        for index in (nodesBefore / Self.tileWidth)..<(nodes / Self.tileWidth) {
            try body(index, Int(Self.tileWidth))
        }
        let rest = nodes % Self.tileWidth
        if rest > 0 { try body(nodes / Self.tileWidth, Int(rest)) }
    }

    // MARK: - Writing

    private func writeTile(_ level: Int, _ index: UInt64, _ width: Int) throws {
        let hashes = try reader.store.tile(level, index, width: width)
        try write(hashes.flatMap(\.bytes), to: "tile/\(level)/" + Self.path(index, width))
    }

    private func writeEntries(_ index: UInt64, _ width: Int, _ summary: inout Summary) throws {
        let first = index * Self.tileWidth
        var bundle: [UInt8] = []
        var waiting: [[UInt8]] = []
        var written = 0
        var isBundle = true
        try reader.store.entryBytes(
            from: SequenceNumber(first + 1), through: SequenceNumber(first + UInt64(width))
        ) { _, bytes in
            waiting.append(bytes)
            if isBundle, bytes.count <= Self.bundledBytesMaximum {
                bundle += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
                return
            }
            (isBundle, bundle) = (false, [])
            for bytes in waiting {
                try write(bytes, to: "entry/" + Self.path(first + UInt64(written)))
                written += 1
            }
            waiting = []
        }
        if isBundle {
            try write(bundle, to: "tile/entries/" + Self.path(index, width))
            summary.bundles += 1
        }
        summary.singleEntries += written
    }

    /// Writes a file completely or not at all.
    private func write(_ bytes: [UInt8], to path: String) throws {
        let parts = path.split(separator: "/").dropLast()
        try FileManager.default.createDirectory(
            atPath: ([folder[...]] + parts).joined(separator: "/"),
            withIntermediateDirectories: true)
        try NewFile.replace("\(folder)/\(path)", with: bytes)
    }

    /// The path of a tile: `x001/x234/067`, or for a partial one `x001/x234/067.p/12`.
    private static func path(_ index: UInt64, _ width: Int) -> String {
        width == Int(tileWidth) ? path(index) : "\(path(index)).p/\(width)"
    }

    /// A number in groups of three digits.
    static func path(_ number: UInt64) -> String {
        var groups: [String] = []
        var rest = number
        repeat {
            let digits = String(rest % 1_000)
            let group = String(repeating: "0", count: 3 - digits.count) + digits
            groups.append(groups.isEmpty ? group : "x" + group)
            rest /= 1_000
        } while rest > 0
        return groups.reversed().joined(separator: "/")
    }
}
