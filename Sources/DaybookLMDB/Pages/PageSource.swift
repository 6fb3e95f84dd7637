internal import Foundation

/// The source of the bytes of a file that is checked: memory, or a file that is read page by page.
///
/// A file that may be cut short meanwhile is read, not mapped: behind its new end a map ends the
/// process.
final class PageSource {
    private let memory: UnsafeRawBufferPointer?
    private let descriptor: Int32
    /// The number of the error that prevented reading, if any.
    private(set) var failure: Int32 = 0
    /// A page for each level of a tree, and one buffer for values.
    private var buffers: [UnsafeMutableRawBufferPointer?] = []

    /// Bytes that must outlive the source.
    init(_ memory: UnsafeRawBufferPointer) {
        self.memory = memory
        descriptor = -1
    }

    /// A file that stays open as long as the source.
    init(descriptor: Int32) {
        memory = nil
        self.descriptor = descriptor
    }

    deinit {
        for buffer in buffers { buffer?.deallocate() }
    }

    /// The first pages, one of which every commit changes.
    var metaBytes: [UInt8] {
        Array(bytes(at: 0, count: FileFormat.pageSizeRange.upperBound * 2, level: 0))
    }

    /// Up to `count` bytes; fewer at the end of the file.
    ///
    /// They are valid until the next call for the same level.
    func bytes(at offset: Int, count: Int, level: Int) -> UnsafeRawBufferPointer {
        if let memory {
            let begin = min(max(0, offset), memory.count)
            return UnsafeRawBufferPointer(
                rebasing: memory[begin..<begin + min(count, memory.count - begin)])
        }
        let buffer = buffer(count, level)
        return UnsafeRawBufferPointer(rebasing: buffer[..<read(offset, into: buffer)])
    }

    /// Whether the file has at least `length` bytes.
    func has(_ length: Int) -> Bool {
        length <= 0 || bytes(at: length - 1, count: 1, level: 0).count == 1
    }

    /// The first byte from a place on that was ever written, or is not known not to have been; nil when there is none.
    func written(from offset: Int) -> Int? {
        guard memory == nil else { return offset }
        let found = lseek(descriptor, off_t(offset), Self.seekData)
        if found >= 0 { return Int(found) }
        // Not every file system can tell.
        return errno == ENXIO ? nil : offset
    }

    /// Linux's `SEEK_DATA`, which the headers of the C library show only to those that ask for its extensions.
    private static let seekData: Int32 = 3

    private func buffer(_ count: Int, _ level: Int) -> UnsafeMutableRawBufferPointer {
        while buffers.count <= level { buffers.append(nil) }
        if let found = buffers[level], found.count >= count {
            return UnsafeMutableRawBufferPointer(rebasing: found[..<count])
        }
        buffers[level]?.deallocate()
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        buffers[level] = made
        return made
    }

    /// - Returns: The number of bytes that could be read.
    private func read(_ offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < buffer.count {
            let start = buffer.baseAddress.map { $0 + filled }
            let more = pread(descriptor, start, buffer.count - filled, off_t(offset + filled))
            if more < 0, errno == EINTR { continue }
            // A folder, a pipe or a similar file has no bytes to read.
            if more < 0, ![EISDIR, ESPIPE, EINVAL].contains(errno) { failure = errno }
            if more <= 0 { return filled }
            filled += more
        }
        return filled
    }
}
