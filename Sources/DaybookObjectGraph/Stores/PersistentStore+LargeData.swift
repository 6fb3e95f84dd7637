public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation
import Synchronization

extension PersistentStore {
    /// Large data that the store has, so that their bytes can be read.
    ///
    /// Properties of objects, histories and blame give large data that can be read already. Those in
    /// conflicts and failures are references only.
    ///
    /// - Parameter data: A reference from this store.
    /// - Returns: The same, with a way to the bytes if it had none. Whether they are there is known when
    ///   they are read.
    public func largeData(_ data: LargeData) -> LargeData {
        data.attached(to: store)
    }

    /// A value of this store, from which the bytes can be read.
    func attached(_ value: Value) -> Value {
        guard case .large(let data) = value else { return value }
        return .large(largeData(data))
    }

    /// A change of this store, of whose large data the bytes can be read.
    func attached(_ change: Change) -> Change {
        guard change.hasLargeData else { return change }
        var change = change
        switch change.kind {
        case .insert(let values, let members):
            change.kind = .insert(values: values.map(attached), members: members)
        case .delete(let values, let members):
            change.kind = .delete(values: values.map(attached), members: members)
        case .update(let edits, let members):
            let edits = edits.map {
                Edit(property: $0.property, old: attached($0.old), new: attached($0.new))
            }
            change.kind = .update(edits: edits, members: members)
        }
        return change
    }

    /// All bytes of large data; those read last are still in memory.
    func data(of data: LargeData) throws -> Data {
        if let recent = recentData.data(of: data) { return recent }
        let found = try store.data(of: data)
        recentData.keep(found, as: data)
        return found
    }
}

/// The large data that were read last as a whole, so that a property that is read twice costs one
/// reading.
final class RecentData: Sendable {
    private let kept = Mutex<[(key: LargeData, data: Data)]>([])

    /// How many bytes are kept at most, all together.
    private static let bytesMaximum = 16 << 20

    func data(of key: LargeData) -> Data? {
        kept.withLock { kept in
            guard let index = kept.firstIndex(where: { $0.key == key }) else { return nil }
            let found = kept.remove(at: index)
            kept.append(found)
            return found.data
        }
    }

    func keep(_ data: Data, as key: LargeData) {
        guard data.count <= Self.bytesMaximum else { return }
        kept.withLock { kept in
            kept.removeAll { $0.key == key }
            kept.append((key.detached, data))
            var count = kept.reduce(0) { $0 + $1.data.count }
            while count > Self.bytesMaximum { count -= kept.removeFirst().data.count }
        }
    }
}

// MARK: - Importing

extension PersistentStore {
    /// Writes the rest of a file into the store, and holds little of it in memory.
    ///
    /// Give the result to a property of type ``LargeData`` and save. Until then nothing refers to the
    /// bytes; if that never happens, `daybook compact` leaves them out of its copy. Equal bytes are
    /// stored once, so importing a file again costs no room.
    ///
    /// ```swift
    /// let file = try FileHandle(forReadingFrom: url)
    /// recording.sound = try store.importData(from: file)
    /// ```
    ///
    /// - Parameter file: Open for reading; it is left open, at its end.
    /// - Returns: The data. Up to 64 KiB are not written, but stay in memory and are saved with their object.
    /// - Throws: ``StoreError`` with code `readOnly`, `full` or another when the store cannot be written;
    ///   what reading the file throws. No object has changed then.
    /// - Complexity: O(*n*) writes, *n* the number of bytes: a durable one for every 8 MiB.
    public func importData(from file: FileHandle) throws -> LargeData {
        var staging = DataStaging(in: store)
        while let piece = try file.read(upToCount: Self.pieceBytes), !piece.isEmpty {
            try staging.append(piece)
        }
        return try staging.finish()
    }

    /// Writes a file into the store; see ``importData(from:)``.
    ///
    /// - Throws: As there.
    public func importData(contentsOf url: URL) throws -> LargeData {
        let file = try FileHandle(forReadingFrom: url)
        let imported = Result { try importData(from: file) }
        try file.close()
        return try imported.get()
    }

    /// Writes bytes that come piece by piece into the store; see ``importData(from:)``.
    ///
    /// - Parameter pieces: The bytes, such as the body of a response.
    /// - Returns: As there.
    /// - Throws: As there, and what the sequence throws.
    public func importData<Pieces: AsyncSequence>(
        _ pieces: Pieces
    ) async throws -> LargeData where Pieces.Element == Data {
        var staging = DataStaging(in: store)
        for try await piece in pieces { try staging.append(piece) }
        return try staging.finish()
    }

    private static let pieceBytes = 1 << 20
}

extension ManagedObjectContext {
    /// Writes the rest of a file into the first store that can be written; see
    /// ``PersistentStore/importData(from:)``. An object in another store gets a copy when it is saved.
    ///
    /// - Throws: As there; with code `noSuchStore` when there is no such store.
    public func importData(from file: FileHandle) throws -> LargeData {
        try storeToImportInto().importData(from: file)
    }

    /// Writes a file into the first store that can be written; see
    /// ``PersistentStore/importData(from:)``.
    ///
    /// - Throws: As ``importData(from:)``.
    public func importData(contentsOf url: URL) throws -> LargeData {
        try storeToImportInto().importData(contentsOf: url)
    }

    private func storeToImportInto() throws -> PersistentStore {
        guard let store = coordinator.persistentStores.first(where: { !$0.isReadOnly }) else {
            throw StoreError(
                .noSuchStore,
                "There is no store to import into: add one to the coordinator that can be written."
            )
        }
        return store
    }
}

extension Change {
    /// Whether a value is large data, old or new.
    fileprivate var hasLargeData: Bool {
        switch kind {
        case .insert(let values, _), .delete(let values, _):
            let values = values.span
            for slot in values.indices where values[slot].isLarge { return true }
        case .update(let edits, _):
            let edits = edits.span
            for index in edits.indices where edits[index].old.isLarge || edits[index].new.isLarge {
                return true
            }
        }
        return false
    }
}

extension Value {
    fileprivate var isLarge: Bool {
        if case .large = self { true } else { false }
    }
}
