import DaybookObjectModel
import Foundation
import Testing

/// Changes located in their bytes without decoding their values.
struct EncodedChangeTests {
    private static let object = ObjectID(entity: EntityNumber(rawValue: 3), number: 70_000)
    private static let values: [Value] = [
        .null, .bool(true), .int(-9_000), .double(1.5), .decimal(12.5), .string("Zoë"), .string(""),
        .string("a longer text of plain letters"), .data(Data([0, 1, 2])),
        .date(Date(timeIntervalSinceReferenceDate: 0)), .uuid(UUID()), .object(object),
    ]

    private static let members = [
        MembershipEdit(
            property: PropertyNumber(rawValue: 9), added: [Member(object: object, order: 2)])
    ]

    private static let changes = [
        Change(object: object, kind: .insert(values: values, members: members)),
        Change(object: object, kind: .delete(values: values, members: []), cause: object),
        Change(
            object: object,
            kind: .update(
                edits: values.enumerated().map { index, value in
                    Edit(
                        property: PropertyNumber(rawValue: UInt32(index + 1)), old: value,
                        new: .int(Int64(index)))
                }, members: members)),
    ]

    private func value(at field: EncodedField, in bytes: [UInt8]) throws -> Value {
        var offset = field.start
        return field.isEmpty ? .null : try bytes.span.bytes.readValue(at: &offset)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `a member whose position is no number is refused`(order: Double) {
        var writer = ByteWriter()
        let member = MembershipEdit(
            property: PropertyNumber(rawValue: 9),
            added: [Member(object: Self.object, order: order)])
        writer.append(Change(object: Self.object, kind: .update(edits: [], members: [member])))

        #expect(throws: DecodingFailure.self) {
            var offset = 0
            _ = try writer.bytes.span.bytes.readChange(at: &offset)
        }
        #expect(throws: DecodingFailure.self) {
            var offset = 0
            var encoded = EncodedChange()
            try encoded.read(writer.bytes.span.bytes, at: &offset)
        }
    }

    @Test func `every field of a change is found where it was written`() throws {
        var writer = ByteWriter()
        for change in Self.changes { writer.append(change) }
        let bytes = writer.bytes
        var offset = 0
        var encoded = EncodedChange()

        for change in Self.changes {
            try encoded.read(bytes.span.bytes, at: &offset)

            #expect(encoded.object == change.object)
            #expect(encoded.members == change.members)
            switch change.kind {
            case .insert(let values, _), .delete(let values, _):
                #expect(encoded.kind == (change == Self.changes[0] ? .insert : .delete))
                #expect(try encoded.fields.map { try value(at: $0, in: bytes) } == values)
                #expect(encoded.edits.isEmpty)
            case .update(let edits, _):
                #expect(encoded.kind == .update)
                let found = try encoded.edits.map {
                    Edit(
                        property: $0.property, old: try value(at: $0.old, in: bytes),
                        new: try value(at: $0.new, in: bytes))
                }
                #expect(found == edits)
                #expect(encoded.fields.isEmpty)
            }
        }
        #expect(offset == bytes.count)
    }

    @Test func `bytes that are not a change are refused as in decoding`() throws {
        var writer = ByteWriter()
        for change in Self.changes { writer.append(change) }
        let whole = writer.bytes
        var generator = SystemRandomNumberGenerator()
        let seed = generator.next() as UInt64
        var state = seed
        for _ in 0..<4_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var bytes = whole
            bytes[Int((state >> 33) % UInt64(bytes.count))] ^= UInt8(1 << ((state >> 20) & 7))
            if state & 3 == 0 { bytes.removeLast(Int((state >> 40) % 40)) }

            let decoded = Result { try decode(bytes) }
            let found = Result { try find(bytes) }

            #expect(
                (try? decoded.get()) == (try? found.get()), "seed \(seed), bytes \(bytes)")
        }
    }

    /// Where each change ends.
    private func decode(_ bytes: [UInt8]) throws -> [Int] {
        var offset = 0
        return try Self.changes.map { _ in
            _ = try bytes.span.bytes.readChange(at: &offset)
            return offset
        }
    }

    private func find(_ bytes: [UInt8]) throws -> [Int] {
        var offset = 0
        var encoded = EncodedChange()
        return try Self.changes.map { _ in
            try encoded.read(bytes.span.bytes, at: &offset)
            return offset
        }
    }
}
