/// The slots of keys, which are object numbers, in a table with open addressing.
///
/// Objects are mostly made, read and released in the order of their numbers, and a large table does not
/// fit into the processor's caches. So 64 numbers in a row, a page, start side by side, and only the
/// pages are spread by a hash. Within a page, the hash says which slot is the first, so that numbers in
/// steps of 64 do not all start at the same one. A key that finds its slot taken moves on by 65 slots:
/// that is another page and another slot in it, and because 65 is odd it visits every slot of a table
/// whose size is a power of two.
enum LocalityHash {
    /// The first slot of a key, in a table of `mask + 1` slots.
    static func home(of key: UInt64, _ mask: Int) -> Int {
        // Fibonacci hashing: a bit of the product depends on the bits of the key up to it. So the store,
        // which is at the top, is mixed in once more below the bits that are used.
        let hash = (key >> 6 ^ key >> 25) &* 0x9E37_79B9_7F4A_7C15
        let slot = (key ^ hash >> 58) & 63
        return Int(truncatingIfNeeded: (hash >> 32) << 6 | slot) & mask
    }

    /// The slot to try after one that is taken.
    static func next(_ slot: Int, _ mask: Int) -> Int { (slot + 65) & mask }

    /// After how many steps a key that starts at `home` visits `slot`.
    static func steps(from home: Int, to slot: Int, _ mask: Int) -> Int {
        // The product of 65 and this number is one, apart from bits that the mask removes.
        (slot &- home) &* 0x0FC0_FC0F_C0FC_0FC1 & mask
    }
}
