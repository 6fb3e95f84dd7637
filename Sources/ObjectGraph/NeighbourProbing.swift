/// Where keys that are numbers of objects stand in a table of open addressing.
///
/// Objects are mostly made, read and let go of in the order of their numbers, and a large table does
/// not fit into the processor's caches. So eight numbers in a row begin side by side, and only the
/// eights are spread by a hash. A key that finds its slot taken goes on nine slots further: that is
/// another eight and another place in it, and because nine is odd it comes by every slot of a table
/// whose size is a power of two.
enum NeighbourProbing {
    /// The slot a key begins at, in a table of `mask + 1` slots.
    static func home(of key: UInt64, _ mask: Int) -> Int {
        // Fibonacci hashing: the high bits of the product depend on all bits of the key.
        let eight = ((key >> 3) &* 0x9E37_79B9_7F4A_7C15) >> 32
        return Int(truncatingIfNeeded: eight << 3 | key & 7) & mask
    }

    /// The slot to look at after one that is taken.
    static func next(_ slot: Int, _ mask: Int) -> Int { (slot + 9) & mask }

    /// After how many steps a key that begins at `home` comes by `slot`.
    static func steps(from home: Int, to slot: Int, _ mask: Int) -> Int {
        // The product of nine and this number is one, but for bits that the mask takes away.
        (slot &- home) &* Int(bitPattern: 0x8E38_E38E_38E3_8E39) & mask
    }
}
