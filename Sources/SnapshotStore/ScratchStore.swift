internal import Foundation
internal import JournalLog
internal import LMDB
internal import ObjectModel

/// A projection without a journal, in the system's temporary folder, that goes away with this
/// value.
final class ScratchStore {
    private let folder: URL
    private let environment: Environment
    private let projection: Projection
    private var recentTimes: [Int64?] = []

    init(_ schema: Schema) throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "daybook-verify-\(ProcessInfo.processInfo.globallyUniqueString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        environment = try Environment.open(
            at: folder.appending(path: "scratch").path,
            options: EnvironmentOptions(
                tables: StoreLayout.projectionNames + [StoreLayout.metaName],
                durability: .relaxed))
        projection = Projection(tables: try StoreTables(in: environment), schema: schema)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            // The system clears its temporary folder by itself.
            return
        }
    }

    /// Folds the next entries together: all of them or none.
    func fold(_ entries: [JournalEntry]) throws {
        recentTimes = try environment.write { [projection, recentTimes] transaction in
            var projector = Projector(projection, recentTimes: recentTimes)
            for entry in entries { try projector.fold(entry, in: transaction) }
            return projector.recentTimes
        }
    }

    func table(_ name: String) throws -> Table {
        try environment.table(name)
    }

    func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        try environment.read(body)
    }
}
