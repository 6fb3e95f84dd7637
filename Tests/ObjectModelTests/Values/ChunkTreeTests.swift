import DaybookDigest
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

struct ChunkTreeTests {
    /// The counts of records by level, found by grouping.
    private static func widths(_ chunks: Int) -> [Int] {
        var widths = [chunks]
        while let last = widths.last, last > 1 { widths.append((last + 2_046) / 2_047) }
        return widths
    }

    @Test(arguments: [
        0, 1, 65_520, 65_521, 134_119_440, 134_119_441, 300_000_000, 1 << 40, 1 << 48,
    ])
    func `the shape of a tree follows from the number of bytes`(count: Int) {
        let tree = ChunkTree(byteCount: count)

        let widths = Self.widths(max(1, (count + 65_519) / 65_520))

        #expect(tree.chunkCount == widths[0])
        #expect(tree.height == widths.count - 1)
        let last = tree.chunkCount - 1
        #expect(last * 65_520 + tree.byteCount(ofChunk: last) == count)
        for level in 1..<max(1, widths.count) {
            let nodes = widths[level]
            #expect(
                (nodes - 1) * 2_047 + tree.childCount(ofNode: nodes - 1, at: level)
                    == widths[level - 1])
            if nodes > 1 { #expect(tree.childCount(ofNode: 0, at: level) == 2_047) }
        }
    }

    @Test(arguments: [1, 2, 2_046, 2_047, 2_048, 4_094, 4_095, 10_000])
    func `a tree that is built chunk by chunk is the one that is built at once`(chunks: Int) {
        var generator = SeededGenerator(seed: UInt64(chunks))
        let digests = (0..<chunks).map { _ in
            Digest.of(withUnsafeBytes(of: generator.next()) { Array($0) })
        }
        var nodes: [ChunkKey] = []

        var builder = ChunkTreeBuilder()
        for digest in digests { builder.add(digest) { key, _ in nodes.append(key) } }
        let top = builder.finish { key, _ in nodes.append(key) }

        var level = digests
        var height = 0
        var expected: [ChunkKey] = []
        while level.count > 1 {
            height += 1
            level = stride(from: 0, to: level.count, by: 2_047).map { start in
                let group = level[start..<min(start + 2_047, level.count)]
                return Digest.of([UInt8(height)] + group.flatMap(\.bytes))
            }
            expected += level.map { ChunkKey(level: height, digest: $0) }
        }
        #expect(top == ChunkKey(level: height, digest: level[0]))
        #expect(Set(nodes) == Set(expected))
        #expect(nodes.count == expected.count)
    }

    @Test func `the records of data in memory come before those that lead to them`() throws {
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let data = LargeData(bytes)
        var seen: [ChunkKey] = []
        var rebuilt = Data()

        try data.forEachRecord { key, span in
            #expect(ChunkKey(level: key.level, of: span) == key)
            seen.append(key)
            if key.level == 0 { rebuilt += Data(span.array) }
        }

        #expect(seen.last == data.top)
        #expect(seen.map(\.level) == [0, 0, 0, 0, 0, 1])
        #expect(rebuilt == bytes)
    }

    @Test func `data are equal by their bytes, however they are kept`() {
        let bytes = Data(repeating: 7, count: 70_000)
        let (kept, plain) = (Value.large(LargeData(bytes).detached), Value.data(bytes))
        let other = Value.large(LargeData(Data(repeating: 8, count: 70_000)))

        #expect(kept == plain)
        #expect(plain == kept)
        #expect(kept.hashValue == plain.hashValue)
        #expect(kept != other)
        #expect(kept.order(to: plain) == .orderedSame)
        #expect(Set([kept, plain, other]).count == 2)
    }

    @Test func `large data come after other data, by length and then by digest`() {
        let small = Value.data(Data(repeating: 0xff, count: 65_536))
        let (a, b) = (Data(repeating: 1, count: 70_000), Data(repeating: 2, count: 70_000))
        let longer = Value.large(LargeData(Data(repeating: 0, count: 70_001)))
        let sorted = [LargeData(a), LargeData(b)].sorted {
            $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes)
        }.map { Value.large($0) }

        let order = [longer, sorted[1], small, sorted[0]].sorted {
            $0.order(to: $1) == .orderedAscending
        }

        #expect(order == [small, sorted[0], sorted[1], longer])
        func key(_ value: Value) -> [UInt8] {
            var writer = ByteWriter(capacity: 64)
            value.appendOrderedKey(to: &writer)
            return writer.bytes
        }
        let keys = order.map { key($0) }
        for (left, right) in zip(keys, keys.dropFirst()) {
            #expect(left.lexicographicallyPrecedes(right))
        }
        #expect(key(.data(a)) == key(.large(LargeData(a))))
    }

    @Test func `a reference is the same after its bytes, its text and its JSON`() throws {
        let data = LargeData(Data(repeating: 7, count: 70_000))
        var writer = ByteWriter(capacity: 64)
        writer.append(Value.large(data))
        var offset = 0

        #expect(try writer.bytes.span.bytes.readValue(at: &offset) == .large(data))
        #expect(offset == writer.bytes.count)
        #expect(offset == 1 + 3 + 32)
        #expect(LargeData(reference: data.reference) == data)
        #expect(try Value(.string(data.reference), for: .data) == .large(data))
        for text in ["large:5:" + data.digest.hexadecimal, "large:70000:3f", "70000", ""] {
            #expect(LargeData(reference: text) == nil)
        }
    }

    @Test(arguments: [0, 65_536, 1 << 49])
    func `a reference to a number of bytes that is kept otherwise cannot be decoded`(count: Int) {
        var writer = ByteWriter(capacity: 64)
        writer.append(
            Value.large(LargeData(count: count, digest: Digest.of([]))))
        #expect(throws: DecodingFailure.self) {
            var offset = 0
            _ = try writer.bytes.span.bytes.readValue(at: &offset)
        }
        #expect(throws: DecodingFailure.self) {
            var offset = 0
            try writer.bytes.span.bytes.skipValue(at: &offset)
        }
    }

    @Test func `bytes without a store say so`() {
        let data = LargeData(Data(repeating: 7, count: 70_000)).detached

        let error = #expect(throws: DetachedDataError.self) { try data.data() }
        #expect(error?.count == 70_000)
        #expect(error?.digest == data.digest)
    }

    @Test func `a default value is at most 64 KiB long`() {
        func model(_ count: Int) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Photo",
                    attributes: [
                        AttributeDescription(
                            name: "image", type: .data,
                            defaultValue: .data(Data(repeating: 0, count: count)))
                    ])
            ])
        }

        #expect(throws: Never.self) { try model(65_536).validate() }
        #expect(throws: (any Error).self) { try model(65_537).validate() }
    }

    @Test func `text of more than 64 KiB does not become data, and large data no text`() {
        let text = String(repeating: "x", count: 65_537)

        #expect(Value.string(text).converted(to: .data) == .null)
        #expect(
            Value.string(String(text.dropFirst())).converted(to: .data)
                == .data(Data(text.dropFirst().utf8)))
        #expect(Value.large(LargeData(Data(text.utf8))).converted(to: .string) == .null)
    }
}
