internal import DaybookLMDB
internal import DaybookNewFiles
package import DaybookObjectModel

extension Store {
    /// Creates an empty store that is kept in memory and belongs to this process alone.
    ///
    /// It is a file like any other, in a private folder of the file system that is in memory, and gives up
    /// its name as soon as it is open: LMDB needs the names of its two files only to open them. So
    /// nothing is left of it when it is closed, or when the process ends in any way. Only a process that
    /// is killed within the few milliseconds of the making leaves a file, until the system restarts.
    ///
    /// - Parameters:
    ///   - version: The model.
    ///   - options: How it is opened.
    ///   - folder: A folder in memory; nil for the system's.
    /// - Returns: The open store.
    /// - Throws: ``StoreError`` with ``StoreError/Code/unsupportedFileSystem`` when the folder is not in
    ///   memory: the store is never made on a disk instead; with ``StoreError/Code/readOnly`` when the
    ///   options say so.
    package static func createInMemory(
        version: ModelVersion, options: StoreOptions = StoreOptions(),
        folder: String? = nil
    ) throws -> Store {
        let name = "memory"
        guard !options.isReadOnly else {
            throw StoreError(
                .readOnly,
                "A store in memory begins empty, so it cannot be opened for reading only. Open it for "
                    + "writing.")
        }
        return try wrapping(name) {
            let folder = folder ?? MemoryFolder.path
            try MemoryFolder.check(folder)
            let scratch = try ScratchFolder(in: folder, for: name)
            return try withExtendedLifetime(scratch) {
                let store = try create(at: scratch.path(name), version: version, options: options)
                try store.openEnvironment().giveUpName()
                return store
            }
        }
    }
}
