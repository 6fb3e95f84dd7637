internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// | record `states` of `meta` | bytes |
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

/// The states that a store keeps by name, and what is still to be removed of former ones.
struct StateList: Sendable, Hashable {
    private(set) var states: [FoldedState] = []
    /// Generations that nobody reads any more and whose records are still there.
    private(set) var discarded: [UInt32] = []
    private var nextNumber: UInt32 = 1

    /// The state of a name.
    func state(named name: String) -> FoldedState? {
        states.first { $0.name == name }
    }

    /// Begins a state before the first entry: the one that is read when the projection is new, otherwise one
    /// beside it, in the place of another that was being built.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/full`` when all numbers have been given out.
    mutating func begin(
        _ name: String, version: Int, _ form: ProjectionKeyForm
    ) throws(StoreError) -> StateGeneration {
        guard nextNumber < .max else {
            throw StoreError(.full, "The store has no more numbers for states.")
        }
        let generation = StateGeneration(
            number: nextNumber, version: version, form: form,
            place: JournalPlace(.zero, .zero), keyCount: 0, byteCount: 0)
        nextNumber += 1
        if let index = states.firstIndex(where: { $0.name == name }) {
            if let former = states[index].successor { discarded.append(former.number) }
            states[index].successor = generation
        } else {
            states.append(FoldedState(name: name, current: generation, successor: nil))
            states.sort { $0.name < $1.name }
        }
        return generation
    }

    /// Replaces what is known of a generation. One that was built beside another takes the other's place once
    /// it has come as far, or to the last entry.
    mutating func move(_ generation: StateGeneration, of name: String, head: SequenceNumber) {
        guard let index = states.firstIndex(where: { $0.name == name }) else { return }
        let current = states[index].current
        guard generation.number != current.number else {
            return states[index].current = generation
        }
        let reached = generation.place.sequence
        guard reached >= current.place.sequence || reached >= head else {
            return states[index].successor = generation
        }
        discarded.append(current.number)
        states[index].current = generation
        states[index].successor = nil
    }

    /// Forgets a state. Its records are removed later.
    mutating func remove(_ name: String) {
        guard let index = states.firstIndex(where: { $0.name == name }) else { return }
        let removed = states.remove(at: index)
        discarded.append(removed.current.number)
        if let successor = removed.successor { discarded.append(successor.number) }
    }

    /// Forgets a discarded generation, which has no records any more.
    mutating func forget(discarded number: UInt32) {
        discarded.removeAll { $0 == number }
    }
}

extension StoreMetadata {
    private static let statesVersion: UInt8 = 1

    static func states(
        _ meta: Table, in transaction: borrowing some Reading & ~Copyable
    ) throws -> StateList {
        guard let bytes = try record(Name.states, meta, in: transaction) else {
            return StateList()
        }
        do {
            let span = bytes.span.bytes
            var offset = 0
            guard try span.readByte(at: &offset) == statesVersion else {
                throw DecodingFailure(
                    at: 0, expected: "version \(statesVersion) of states")
            }
            let list = try StateList(reading: span, at: &offset)
            guard offset == span.byteCount else {
                throw DecodingFailure(at: offset, expected: "the end of the states")
            }
            return list
        } catch {
            throw StoreError.corrupt(
                "The record '\(Name.states)' of the store cannot be read", cause: error)
        }
    }

    static func setStates(
        _ list: StateList, _ meta: Table, in transaction: borrowing WriteTransaction
    ) throws {
        var writer = ByteWriter(capacity: 256)
        writer.append(statesVersion)
        list.write(to: &writer)
        try put(Name.states, writer.bytes, meta, in: transaction)
    }
}

// MARK: - Coding

extension StateList {
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
            states.append(
                FoldedState(name: name, current: current, successor: successor))
        }
        let numbers =
            discarded
            + states.flatMap { [$0.current.number, $0.successor?.number] }.compactMap(\.self)
        guard Set(numbers).count == numbers.count,
            numbers.allSatisfy({ $0 > 0 && $0 < nextNumber })
        else { throw DecodingFailure(at: offset, expected: "states of different numbers") }
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.append(variable: UInt64(nextNumber))
        writer.append(variable: UInt64(discarded.count))
        for number in discarded { writer.append(variable: UInt64(number)) }
        writer.append(variable: UInt64(states.count))
        for state in states {
            writer.append(state.name)
            writer.append(variable: state.successor == nil ? 1 : 2)
            state.current.write(to: &writer)
            state.successor?.write(to: &writer)
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
