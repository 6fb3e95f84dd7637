internal import Foundation
internal import Synchronization

/// What was found about the pages of one state of a file, so that it is looked for once a state: a
/// page of a state does not change.
///
/// Forgetting everything takes no time, however many pages there are: each word says for which
/// state its marks were set.
///
/// Several threads that walk the same state may set marks at once: one may be lost then, and is found again.
/// Only the owner, which also deallocates it, begins another state.
struct PageMarks {
    /// Bytes for four pages in the lower half of a word, and in the upper one the state.
    ///
    /// The lowest bit of a page's byte says that no node is missing and that the keys are in order. The others
    /// are the handle of the table whose checks fit all records of the leaf; 0 for none. A damaged branch may
    /// lead to a leaf of another table, whose checks are not its own.
    private var words: UnsafeMutablePointer<Atomic<UInt64>>?
    private var wordCount = 0
    private var state: UInt64 = 0
    private static let pagesInWord = 4

    /// Forgets all, for another state.
    ///
    /// - Parameter pageCount: The number of its pages.
    mutating func begin(pageCount: Int) {
        let needed = pageCount / Self.pagesInWord + 1
        state += 1
        if needed <= wordCount, state <= UInt32.max { return }
        deallocate()
        // Half as many again, for the states that come; what is not used takes no memory.
        let room = needed + needed / 2
        words = calloc(room, MemoryLayout<Atomic<UInt64>>.stride)?
            .bindMemory(to: Atomic<UInt64>.self, capacity: room)
        wordCount = words == nil ? 0 : room
        state = 1
    }

    mutating func deallocate() {
        free(words)
        words = nil
        wordCount = 0
    }

    /// Whether a page is known to be complete.
    @inline(__always)
    func isComplete(_ page: UInt64) -> Bool { marks(of: page) & 1 != 0 }

    @inline(__always)
    func setComplete(_ page: UInt64) { add(1, to: page) { _ in true } }

    /// Whether all records of a leaf are known to have the checks of a table.
    @inline(__always)
    func isSound(_ leaf: UInt64, in table: UInt32) -> Bool {
        marks(of: leaf) >> 1 == table && table != 0
    }

    @inline(__always)
    func setSound(_ leaf: UInt64, in table: UInt32) {
        guard table <= 0x7F else { return }
        // Two tables that are damaged may share a leaf; the first one keeps its mark.
        add(UInt64(table) << 1, to: leaf) { $0 >> 1 == 0 }
    }

    @inline(__always)
    private func marks(of page: UInt64) -> UInt64 {
        guard let (word, shift) = place(of: page) else { return 0 }
        let marks = word.pointee.load(ordering: .relaxed)
        return marks >> 32 == state ? marks >> shift & 0xFF : 0
    }

    /// Adds bits to the marks of a page where those it has allow that. They are read once, so that what
    /// another thread writes meanwhile is lost, or this, but never mixed with it.
    @inline(__always)
    private func add(_ bits: UInt64, to page: UInt64, if isAllowed: (UInt64) -> Bool) {
        guard let (word, shift) = place(of: page) else { return }
        let read = word.pointee.load(ordering: .relaxed)
        let marks = read >> 32 == state ? read : state << 32
        guard isAllowed(marks >> shift & 0xFF) else { return }
        word.pointee.store(marks | bits << shift, ordering: .relaxed)
    }

    @inline(__always)
    private func place(
        of page: UInt64
    ) -> (word: UnsafeMutablePointer<Atomic<UInt64>>, shift: UInt64)? {
        let index = Int(truncatingIfNeeded: page >> 2)
        guard let words, index < wordCount else { return nil }
        return (words + index, (page & 3) << 3)
    }
}
