import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct ValueCodingTests {
    private func bytes(_ value: Value) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(value)
        return writer.bytes
    }

    private func read(_ bytes: [UInt8]) throws -> Value {
        var offset = 0
        let value = try bytes.span.bytes.readValue(at: &offset)
        #expect(offset == bytes.count)
        return value
    }

    /// Whether a field passes the quick check, alone and as the second of three, whatever the width of ends.
    private func isPlain(_ bytes: [UInt8], to end: Int) -> Bool {
        let answers = [1, 2, 4].flatMap { width in
            [[end], [0, end, end]].map { ends in
                let header = ends.flatMap { end in
                    (0..<width).reversed().map { UInt8(truncatingIfNeeded: end >> ($0 * 8)) }
                }
                let place = (header + bytes).span.bytes.endOfPlainFields(
                    from: 0, of: ends.count, width: width, ends: 0, fields: header.count)
                #expect(place == ends.count || place == ends.count / 2)
                return place == ends.count
            }
        }
        #expect(Set(answers).count == 1)
        return answers[0]
    }

    @Test(arguments: AttributeType.allCases, UInt64(1)...3)
    func `every value comes back from its bytes`(type: AttributeType, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)

        for _ in 0..<300 {
            let value = Value.random(type, using: &random)

            #expect(try read(bytes(value)) == value, "seed \(seed)")
        }
    }

    @Test func `bytes are appended as far as there is room`() {
        let bytes: [UInt8] = [1, 2, 3]
        var written: [UInt8] = [9]

        written.append(addingCapacity: 5) { room in
            room.append(counted: bytes.span.bytes)
            room.append(raw: bytes.span.bytes.extracting(first: 1))
        }

        #expect(written == [9, 3, 1, 2, 3, 1])
    }

    @Test func `bytes without room are refused`() async {
        await #expect(processExitsWith: .failure) {
            let bytes = [UInt8](repeating: 1, count: 4_096)
            var written: [UInt8] = []
            written.append(addingCapacity: 2) { $0.append(raw: bytes.span.bytes) }
        }
    }

    @Test func `null and references come back from their bytes`() throws {
        let object = Value.object(ObjectID(entity: EntityNumber(rawValue: .max), number: .max))

        #expect(try read(bytes(.null)) == .null)
        #expect(try read(bytes(object)) == object)
    }

    @Test func `equal decimals have equal bytes whatever they were made from`() throws {
        let plain = try #require(Decimal(string: "1.5"))
        let padded = Decimal(sign: .plus, exponent: -3, significand: 1500)

        #expect(bytes(.decimal(plain)) == bytes(.decimal(padded)))
        #expect(
            bytes(.decimal(0))
                == bytes(.decimal(Decimal(sign: .minus, exponent: 5, significand: 0))))
    }

    @Test(
        arguments: [
            "0.1", "-0.1", "1e127", "1e-127", "-12345678901234567890123456789012345678",
            "99999999999999999999999999999999999999e127", "1e130", "1e-128", "300",
            "340282366920938463463374607431768211455",
        ])
    func `decimals at the edges of their range come back from their bytes`(text: String) throws {
        let decimal = try #require(Decimal(exactly: text))

        #expect(try read(bytes(.decimal(decimal))) == .decimal(decimal))
        #expect(Decimal(exactly: decimal.plainText) == decimal)
    }

    @Test func `not a number comes back from its bytes`() throws {
        #expect(try read(bytes(.decimal(.nan))) == .decimal(.nan))
        #expect(try read(bytes(.double(.nan))) == .double(.nan))
    }

    @Test(arguments: AttributeType.allCases)
    func `bytes cut short are refused`(type: AttributeType) throws {
        var random = SeededGenerator(seed: 5)

        for _ in 0..<50 {
            let whole = bytes(Value.random(type, using: &random))
            for count in 0..<whole.count {
                #expect(throws: DecodingFailure.self) { try read(Array(whole[..<count])) }
            }
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `random bytes are a canonical value or refused`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)

        for _ in 0..<5_000 {
            let count = Int.random(in: 1...24, using: &random)
            var noise = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            noise[0] %= 12
            var offset = 0
            do {
                let value = try noise.span.bytes.readValue(at: &offset)
                #expect(bytes(value) == Array(noise[..<offset]), "seed \(seed): \(noise)")
            } catch {
                // Most noise is not a value.
                continue
            }
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `a value that passes the quick check can be read to its end`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var passed = 0

        for _ in 0..<20_000 {
            let count = Int.random(in: 1...12, using: &random)
            var noise = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            noise[0] %= 12
            // Counts that fit are rare among random bytes.
            if count > 1, Bool.random(using: &random) { noise[1] = UInt8(count - 2) }
            guard isPlain(noise, to: count) else { continue }
            passed += 1
            #expect(throws: Never.self, "seed \(seed): \(noise)") { try read(noise) }
            #expect(!isPlain(noise, to: count + 1), "seed \(seed)")
        }

        #expect(passed > 500, "seed \(seed)")
    }

    @Test(
        arguments: [
            .null, .bool(true), .int(0), .int(-64), .int(1_000_000), .double(0.5), .string(""),
            .string("Lovelace"), .date(Date(timeIntervalSinceReferenceDate: 1)),
            .object(ObjectID(entity: EntityNumber(rawValue: 7), number: 70_000)),
        ] as [Value])
    func `values of frequent forms pass the quick check`(value: Value) {
        let bytes = bytes(value)

        #expect(isPlain(bytes, to: bytes.count))
    }

    @Test func `numbers longer than needed are refused`() {
        #expect(throws: DecodingFailure.self) { try read([3, 0x80, 0x00]) }
        #expect(throws: DecodingFailure.self) {
            try read([3] + [UInt8](repeating: 0xff, count: 10))
        }
    }

    @Test func `values are normalized to the form that is stored`() {
        #expect(Value.double(-0.0).normalized == .double(0))
        #expect(Value.double(-.nan).normalized == .double(.nan))
        let date = Date(timeIntervalSinceReferenceDate: 0.1)
        let kept = Value.date(date).normalized
        #expect(kept != .date(date))
        #expect(kept.normalized == kept)
        #expect(
            Value.date(Date(timeIntervalSinceReferenceDate: -0.0)).normalized
                == .date(Date(timeIntervalSinceReferenceDate: 0)))
    }

    @Test func `two spellings of one character are two values`() {
        #expect(Value.string("é") != .string("e\u{301}"))
        #expect(Set([Value.string("é"), .string("e\u{301}")]).count == 2)
    }
}
