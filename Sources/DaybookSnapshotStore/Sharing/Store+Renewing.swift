internal import DaybookLMDB
internal import DaybookNewFiles

// A linked file is not brought to the disk with each save: the servers have every entry of it. After a crash of the
// system nobody knows what of it was on the disk, so it is made anew.

extension Store {
    /// Where a file can be made anew from that was not brought to the disk before the system ended; nil for every
    /// other file.
    ///
    /// - Returns: The place of a shared store; empty when the file does not say.
    /// - Throws: ``StoreError`` when that cannot be read.
    package static func lostOrigin(at path: String) throws -> String? {
        try wrapping(path) { try Environment.lostOrigin(at: path) }
    }

    /// Makes the file of a shared store anew if it was not brought to the disk before the system ended.
    ///
    /// Any number of processes may try at once.
    ///
    /// - Throws: ``StoreError`` as ``clone(from:into:options:)``; the file is unchanged then.
    static func renewLostCopy(_ path: String, _ options: StoreOptions) throws {
        guard let link = options.link, !options.isReadOnly,
            let origin = try lostOrigin(at: path)
        else { return }
        guard origin.isEmpty || origin == link.place else {
            throw StoreError(
                .unreachable,
                "'\(path)' was a copy of '\(origin)', not of '\(link.place)'. Open it with its own link."
            )
        }
        let draft = try DraftFile(replacing: FileNaming.resolved(path))
        defer { draft.discard() }
        try wrapping(path, besides: draft) {
            try makeClone(from: link, at: draft.path, options)
            do {
                try draft.place { _ = try Environment.renew(at: path, withFileAt: draft.path) }
            } catch let error as LMDBError where error.code == .alreadyOpen {
                // Another process has made it anew and uses it.
                guard try lostOrigin(at: path) == nil else { throw error }
            }
        }
    }

    /// Brings the file to the disk, if it can be.
    func bringToDiskQuietly() {
        do {
            try openEnvironment().bringToDisk()
        } catch {
            // The next process that writes and closes the file does.
            return
        }
    }
}
