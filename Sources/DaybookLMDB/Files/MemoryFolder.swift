internal import CDaybookLMDB

/// The folder of the file system that is kept in memory: what is written there reaches no disk, unless
/// the operating system moves memory out to one.
package enum MemoryFolder {
    /// Where Linux has it.
    package static let path = "/dev/shm"

    /// Refuses a folder that is on a disk, or not there.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/notInMemory``.
    package static func check(_ path: String = path) throws(LMDBError) {
        guard fileSystems.contains(UInt64(daybook_file_system_type(path))) else {
            throw LMDBError(
                .notInMemory,
                "'\(path)' is not in memory, so that a store there would reach a disk. Mount the file "
                    + "system tmpfs at '\(Self.path)', or make a store in a file.")
        }
    }

    /// Kernel numbers of `statfs(2)`: tmpfs and ramfs.
    private static let fileSystems: Set<UInt64> = [0x0102_1994, 0x8584_58F6]
}

extension Environment {
    /// Takes the file and its lock file out of their folder. They are this process's alone then, and gone
    /// when it closes them or ends, for whatever reason.
    ///
    /// The path must not be opened again: there may be another file.
    ///
    /// - Throws: ``LMDBError`` when a name cannot be removed.
    package func giveUpName() throws(LMDBError) {
        try core.pair.giveUpName()
    }
}
