internal import Dispatch
internal import Foundation

extension ReadTransaction {
    /// Walks many records on all of the processor's cores.
    ///
    /// The range is cut where the lowest branch pages of the tables begin, each of which has about a hundred leaves.
    /// What is found in the parts is joined on the calling thread, in the order of the keys. Few parts are walked at
    /// first, so that whoever soon has enough walks little in vain, and fewer again when they bring much.
    ///
    /// - Parameters:
    ///   - tables: The tables, each of which has records in the range.
    ///   - lower: The first key.
    ///   - upper: The key behind the last.
    ///   - size: Records whose keys begin with the same bytes, so many of them, are in the same part.
    ///   - begin: Makes what parts begin with; called before some are walked.
    ///   - walk: Walks one part, from a key up to another one, in a transaction of the same state that ends
    ///     with the call. Several parts are walked at the same time.
    ///   - join: Takes what a part has brought, and says whether to continue.
    ///   - bytes: How much memory that takes, where it may be much.
    /// - Throws: ``LMDBError`` when a page cannot be read; what `walk` throws for the first part in
    ///   which it does; what `join` throws.
    /// - Complexity: O(*n*) page reads, *n* the number of records in the range, shared among the cores.
    package func scanInParts<Part: Sendable>(
        _ tables: [Table], from lower: [UInt8], to upper: [UInt8], cutAfter size: Int = .max,
        begin: () -> Part,
        walk:
            @Sendable (
                inout Part, borrowing ReadTransaction, _ lower: [UInt8], _ upper: [UInt8]
            ) throws -> Void,
        join: (Part) throws -> ScanStep, bytes: (Part) -> Int = { _ in 0 }
    ) throws {
        let boundaries = try boundaries(of: tables, from: lower, to: upper, cutAfter: size)
        var next = 0
        var size = 1
        while next < boundaries.count - 1 {
            let end = min(next + size, boundaries.count - 1)
            var brought = 0
            for part in walkAtOnce(boundaries[next...end], begin(), walk) {
                let found = try part.get()
                brought += bytes(found)
                if try join(found) == .stop { return }
            }
            next = end
            size =
                brought > Self.bytesAtOnceMaximum
                ? max(1, size / 2) : min(2 * size, Self.partsAtOnceMaximum)
        }
    }

    /// When parts bring more, fewer are walked at once.
    private static let bytesAtOnceMaximum = 32 << 20
    private static let partsAtOnceMaximum = 8 * ProcessInfo.processInfo.activeProcessorCount

    /// Walks the parts between boundaries at the same time.
    private func walkAtOnce<Part: Sendable>(
        _ boundaries: ArraySlice<[UInt8]>, _ empty: Part,
        _ walk: @Sendable (inout Part, borrowing ReadTransaction, [UInt8], [UInt8]) throws -> Void
    ) -> [Result<Part, any Error>] {
        let boundaries = Array(boundaries)
        let count = boundaries.count - 1
        guard count > 1 else {
            return [
                Result {
                    var found = empty
                    try walk(&found, self, boundaries[0], boundaries[1])
                    return found
                }
            ]
        }
        // The state is only read meanwhile.
        nonisolated(unsafe) let state = snapshot
        let (environment, meter) = (environment, meter)
        return Array(unsafeUninitializedCapacity: count) { results, initialized in
            // Each call has an element of its own.
            nonisolated(unsafe) let results = results
            DispatchQueue.concurrentPerform(iterations: count) { part in
                let own = ReadTransaction(
                    state.forAnotherThread(), environment: environment, meter: meter)
                results.initializeElement(
                    at: part,
                    to: Result {
                        var found = empty
                        try walk(&found, own, boundaries[part], boundaries[part + 1])
                        return found
                    })
            }
            initialized = count
        }
    }

    /// The keys at which the parts of a range begin, in order, and the end of the last part.
    private func boundaries(
        of tables: [Table], from lower: [UInt8], to upper: [UInt8], cutAfter size: Int
    ) throws(LMDBError) -> [[UInt8]] {
        var cuts: [[UInt8]] = []
        for table in tables {
            for key in try boundaries(of: table, from: lower, to: upper) {
                cuts.append(key.count > size ? Array(key.prefix(size)) : key)
            }
        }
        if tables.count > 1 { cuts.sort { $0.lexicographicallyPrecedes($1) } }
        var boundaries = [lower]
        for cut in cuts where boundaries[boundaries.count - 1].lexicographicallyPrecedes(cut) {
            boundaries.append(cut)
        }
        boundaries.append(upper)
        return boundaries
    }

    /// The keys in a range at which the lowest branch pages of a table begin, in order.
    private func boundaries(
        of table: Table, from lower: [UInt8], to upper: [UInt8]
    ) throws(LMDBError) -> [[UInt8]] {
        try located(table) { tree throws(PageFault) in
            try lower.span.bytes.withUnsafeBytes { lower throws(PageFault) in
                try upper.span.bytes.withUnsafeBytes { upper throws(PageFault) in
                    try tree.branchBoundaries(from: SoughtKey(lower), to: SoughtKey(upper))
                }
            }
        }
    }
}

extension Tree {
    /// The keys between two at which the lowest branch pages begin, each behind the one before.
    ///
    /// Whatever the pages say, these keys cut the range into parts that have each record once.
    func branchBoundaries(
        from lower: SoughtKey, to upper: SoughtKey
    ) throws(PageFault) -> [[UInt8]] {
        var boundaries: [[UInt8]] = []
        var pagesLeft = pages.count
        try addBoundaries(of: record.root, level: 1, lower, upper, &boundaries, &pagesLeft)
        return boundaries
    }

    private func addBoundaries(
        of number: UInt64, level: Int, _ lower: SoughtKey, _ upper: SoughtKey,
        _ boundaries: inout [[UInt8]], _ pagesLeft: inout Int
    ) throws(PageFault) {
        // The children of the page must be branches themselves.
        guard level + 1 < record.depth else { return }
        let page = try pages.page(number, .branch)
        // Pages that lead to each other have no end.
        pagesLeft -= 1
        guard pagesLeft >= 0 else {
            throw PageFault(page: number, what: "more pages lead to others than there are")
        }
        try pages.confirmComplete(page, isOrdered: isOrdered)
        let first = try page.childIndex(for: lower)
        let last = max(first, try page.childIndex(for: upper))
        for index in first...last {
            let node = try page.node(index)
            if index > first { try append(node.key, lower, upper, to: &boundaries) }
            try addBoundaries(
                of: node.child, level: level + 1, lower, upper, &boundaries, &pagesLeft)
        }
    }

    private func append(
        _ key: UnsafeRawBufferPointer, _ lower: SoughtKey, _ upper: SoughtKey,
        to boundaries: inout [[UInt8]]
    ) throws(PageFault) {
        let isBehind =
            boundaries.last.map { $0.withUnsafeBytes { compareBytes(key, $0) > 0 } }
            ?? (lower.order(to: key) < 0)
        guard isBehind, upper.order(to: key) > 0 else { return }
        boundaries.append(Array(key))
    }
}
