/// Where keys that are numbers of objects stand in a table of open addressing.
///
/// Objects are mostly made, read and let go of in the order of their numbers, and a large table does
/// not fit into the processor's caches. So 64 numbers in a row, a page, begin side by side, and only
/// the pages are spread by a hash. Within a page, the hash says which place is the first, so that
/// numbers in steps of 64 do not all want the same one. A key that finds its slot taken goes on 65
/// slots further: that is another page and another place in it, and because 65 is odd it comes by
/// every slot of a table whose size is a power of two.
enum LocalityHash {
    /// The slot a key begins at, in a table of `mask + 1` slots.
    static func home(of key: UInt64, _ mask: Int) -> Int {
        // Fibonacci hashing: a bit of the product depends on the bits of the key up to it. So the
        // store, which is at the top, comes in once more below the bits that are used.
        let hash = (key >> 6 ^ key >> 25) &* 0x9E37_79B9_7F4A_7C15
        let place = (key ^ hash >> 58) & 63
        return Int(truncatingIfNeeded: (hash >> 32) << 6 | place) & mask
    }

    /// The slot to look at after one that is taken.
    static func next(_ slot: Int, _ mask: Int) -> Int { (slot + 65) & mask }

    /// After how many steps a key that begins at `home` comes by `slot`.
    static func steps(from home: Int, to slot: Int, _ mask: Int) -> Int {
        // The product of 65 and this number is one, but for bits that the mask takes away.
        (slot &- home) &* 0x0FC0_FC0F_C0FC_0FC1 & mask
    }
}
