internal import CDaybookLMDB
internal import Foundation

extension Environment {
    /// Copies the file, as it is now, to `path`, for its owner alone.
    ///
    /// Readers and writers continue meanwhile, but pages freed in that time are not reused, so the
    /// file may grow. A compacting copy omits free pages with their old content.
    ///
    /// - Parameters:
    ///   - path: The path of the copy; no file may exist there.
    ///   - compacting: Whether free pages are left out.
    /// - Throws: ``LMDBError``; no file is left at `path` then. Its code is
    ///   ``LMDBError/Code/alreadyOpen`` when something exists there already, and
    ///   ``LMDBError/Code/corrupt`` when a damaged file was to be compacted.
    /// - Complexity: O(*p*) page reads and writes, *p* the number of the file's pages.
    package func copy(to path: String, compacting: Bool) throws {
        try core.checkUsable()
        // LMDB registers a reader, and waits for the writer before it also copies free pages.
        try core.pair.awaitRegistering(patience)
        if !compacting { try core.pair.awaitWriter(patience) }
        if compacting { try read { try $0.snapshot.checkPages() } }
        // LMDB would make it for everybody.
        let copy = daybook_open(path, O_WRONLY | O_CREAT | O_EXCL)
        guard copy >= 0 else {
            guard errno != EEXIST else {
                throw LMDBError(.alreadyOpen, "'\(path)' exists already and is not replaced.")
            }
            throw LMDBError.status(errno, "copying to '\(path)'")
        }
        var isComplete = false
        defer {
            close(copy)
            if !isComplete { unlink(path) }
        }
        try core.pool.withReader(patience) {
            let flags = compacting ? UInt32(MDB_CP_COMPACT) : 0
            let status = mdb_env_copyfd2(core.handle.pointer, copy, flags)
            guard status == MDB_SUCCESS else {
                throw LMDBError.status(status, "copying to '\(path)'")
            }
        }
        isComplete = true
    }
}
