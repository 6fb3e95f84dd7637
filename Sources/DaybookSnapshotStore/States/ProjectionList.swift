internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// | record `projections` of `meta` | bytes |
// |---|---|
// | version | 1: 1 |
// | next number | variable length |
// | discarded generations | count, then each number, all of variable length |
// | count | variable length |
// | each projection, sorted by name | name, count of generations (1 or 2), each generation |
//
// | generation | bytes |
// |---|---|
// | number, version | variable length |
// | form of its keys | 1 |
// | keys, bytes, sequence | variable length |
// | digest of the entry | 32 |

/// The projections that a store keeps, and what is still to be removed of former states.
struct ProjectionList: Sendable, Hashable {
    private(set) var projections: [KeptProjection] = []
    /// Generations that nobody reads any more and whose records are still there.
    private(set) var discarded: [UInt32] = []
    private var nextNumber: UInt32 = 1

    /// The projection of a name.
    func projection(named name: String) -> KeptProjection? {
        projections.first { $0.name == name }
    }

    /// Begins a state before the first entry: the one that is read when the projection is new, otherwise one
    /// beside it, in the place of another that was being built.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/full`` when all numbers have been given out.
    mutating func begin(
        _ name: String, version: Int, _ form: ProjectionKeyForm
    ) throws(StoreError) -> StateGeneration {
        guard nextNumber < .max else {
            throw StoreError(.full, "The store has no more numbers for states of projections.")
        }
        let generation = StateGeneration(
            number: nextNumber, version: version, form: form,
            place: JournalPlace(.zero, .zero), keyCount: 0, byteCount: 0)
        nextNumber += 1
        if let index = projections.firstIndex(where: { $0.name == name }) {
            if let former = projections[index].successor { discarded.append(former.number) }
            projections[index].successor = generation
        } else {
            projections.append(KeptProjection(name: name, current: generation, successor: nil))
            projections.sort { $0.name < $1.name }
        }
        return generation
    }

    /// Replaces what is known of a generation. One that was built beside another takes the other's place once
    /// it has come as far, or to the last entry.
    mutating func move(_ generation: StateGeneration, of name: String, head: SequenceNumber) {
        guard let index = projections.firstIndex(where: { $0.name == name }) else { return }
        let current = projections[index].current
        guard generation.number != current.number else {
            return projections[index].current = generation
        }
        let reached = generation.place.sequence
        guard reached >= current.place.sequence || reached >= head else {
            return projections[index].successor = generation
        }
        discarded.append(current.number)
        projections[index].current = generation
        projections[index].successor = nil
    }

    /// Forgets a projection. What its states have is removed later.
    mutating func remove(_ name: String) {
        guard let index = projections.firstIndex(where: { $0.name == name }) else { return }
        let removed = projections.remove(at: index)
        discarded.append(removed.current.number)
        if let successor = removed.successor { discarded.append(successor.number) }
    }

    /// Forgets a discarded generation, which has no records any more.
    mutating func forget(discarded number: UInt32) {
        discarded.removeAll { $0 == number }
    }
}

extension StoreMetadata {
    private static let projectionsVersion: UInt8 = 1

    static func projections(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> ProjectionList {
        guard let bytes = try record(Name.projections, meta, in: transaction) else {
            return ProjectionList()
        }
        do {
            let span = bytes.span.bytes
            var offset = 0
            guard try span.readByte(at: &offset) == projectionsVersion else {
                throw DecodingFailure(
                    at: 0, expected: "version \(projectionsVersion) of projections")
            }
            let list = try ProjectionList(reading: span, at: &offset)
            guard offset == span.byteCount else {
                throw DecodingFailure(at: offset, expected: "the end of the projections")
            }
            return list
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.projections)' of the store cannot be read", cause: error)
        }
    }

    static func setProjections(
        _ list: ProjectionList, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = ByteWriter(capacity: 256)
        writer.append(projectionsVersion)
        list.write(to: &writer)
        try put(Name.projections, writer.bytes, meta, in: transaction)
    }
}

// MARK: - Coding

extension ProjectionList {
    fileprivate init(reading span: RawSpan, at offset: inout Int) throws(DecodingFailure) {
        nextNumber = try span.readNumber(at: &offset)
        for _ in 0..<(try span.readCount(at: &offset)) {
            discarded.append(try span.readNumber(at: &offset))
        }
        for _ in 0..<(try span.readCount(at: &offset)) {
            let name = try span.readText(at: &offset)
            let start = offset
            let count = try span.readCount(at: &offset)
            guard (1...2).contains(count) else {
                throw DecodingFailure(at: start, expected: "one or two states")
            }
            let current = try StateGeneration(reading: span, at: &offset)
            let successor = count == 2 ? try StateGeneration(reading: span, at: &offset) : nil
            projections.append(
                KeptProjection(name: name, current: current, successor: successor))
        }
        let numbers =
            discarded
            + projections.flatMap { [$0.current.number, $0.successor?.number] }.compactMap(\.self)
        guard Set(numbers).count == numbers.count,
            numbers.allSatisfy({ $0 > 0 && $0 < nextNumber })
        else { throw DecodingFailure(at: offset, expected: "states of different numbers") }
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.append(variable: UInt64(nextNumber))
        writer.append(variable: UInt64(discarded.count))
        for number in discarded { writer.append(variable: UInt64(number)) }
        writer.append(variable: UInt64(projections.count))
        for projection in projections {
            writer.append(projection.name)
            writer.append(variable: projection.successor == nil ? 1 : 2)
            projection.current.write(to: &writer)
            projection.successor?.write(to: &writer)
        }
    }
}

extension StateGeneration {
    fileprivate init(reading span: RawSpan, at offset: inout Int) throws(DecodingFailure) {
        let number = try span.readNumber(at: &offset)
        let version = try span.readSize(at: &offset)
        let start = offset
        guard let form = ProjectionKeyForm(rawValue: try span.readByte(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "a form of keys")
        }
        let keyCount = try span.readSize(at: &offset)
        let byteCount = try span.readSize(at: &offset)
        let sequence = SequenceNumber(rawValue: try span.readVariable(at: &offset))
        let digestStart = offset
        let raw = try span.readBytes(Digest.byteCount, at: &offset)
        guard let digest = Digest(raw.span.bytes) else {
            throw DecodingFailure(at: digestStart, expected: "a digest")
        }
        self.init(
            number: number, version: version, form: form,
            place: JournalPlace(sequence, digest), keyCount: keyCount, byteCount: byteCount)
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.append(variable: UInt64(number))
        writer.append(variable: UInt64(version))
        writer.append(form.rawValue)
        writer.append(variable: UInt64(keyCount))
        writer.append(variable: UInt64(byteCount))
        writer.append(variable: place.sequence.rawValue)
        writer.append(raw: place.digest.bytes)
    }
}

extension RawSpan {
    fileprivate func readNumber(at offset: inout Int) throws(DecodingFailure) -> UInt32 {
        let start = offset
        guard let number = UInt32(exactly: try readVariable(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "the number of a state")
        }
        return number
    }

    fileprivate func readSize(at offset: inout Int) throws(DecodingFailure) -> Int {
        let start = offset
        guard let size = Int(exactly: try readVariable(at: &offset)) else {
            throw DecodingFailure(at: start, expected: "a size or a version")
        }
        return size
    }
}
