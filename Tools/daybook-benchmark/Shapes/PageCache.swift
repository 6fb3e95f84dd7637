import Foundation

/// The copies of files that the system keeps in memory.
enum PageCache {
    /// Drops those of the files in a folder, which nobody may have mapped.
    ///
    /// In a file system in memory there is nothing to drop.
    static func drop(_ folder: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        for url in files {
            let file = try FileHandle(forReadingFrom: url)
            // Pages that are not written yet would stay.
            guard fsync(file.fileDescriptor) == 0 else {
                throw PeerFailure("fsync", String(cString: strerror(errno)))
            }
            let status = posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED)
            guard status == 0 else {
                throw PeerFailure("posix_fadvise", String(cString: strerror(status)))
            }
            try file.close()
        }
    }
}
