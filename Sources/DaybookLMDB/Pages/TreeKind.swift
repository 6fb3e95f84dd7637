/// The three kinds of trees in a file, which differ in their keys and values.
enum TreeKind {
    case main
    case freeList
    case table(String)

    var name: String {
        switch self {
        case .main: "table of tables"
        case .freeList: "free list"
        case .table(let name): name
        }
    }

    func accepts(_ key: UnsafeRawBufferPointer) -> Bool {
        if case .freeList = self { return key.count == 8 }
        return (1...FileFormat.keyLengthMaximum).contains(key.count)
    }

    func accepts(flags: UInt16, valueSize: Int) -> Bool {
        switch self {
        case .main:
            valueSize == FileFormat.treeRecordSize ? flags == FileFormat.nodeTree : flags == 0
        case .freeList, .table: flags == 0 || flags == FileFormat.nodeOverflow
        }
    }

    /// Whether `left` comes before `right`. Both must have been accepted, or are compared as bytes.
    func isOrdered(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        if case .freeList = self, left.count == 8, right.count == 8,
            let leftStart = left.baseAddress, let rightStart = right.baseAddress
        {
            return leftStart.number(at: 0, as: UInt64.self)
                < rightStart.number(at: 0, as: UInt64.self)
        }
        return compareBytes(left, right) < 0
    }
}
