import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// The bytes of a version: one form for each, and no other bytes are taken.
@Suite struct ModelVersionCodingTests {
    /// A version with something in every part of the form.
    private static func version() throws -> ModelVersion {
        let first = try ModelVersion(
            first: model(
                entity(
                    "A", abstract: true, [attribute("u", unique: true), attribute("n", .int16)]),
                entity(
                    "B", under: "A", [attribute("t", indexed: true), attribute("g")],
                    to: [relationship("all", "B", ordered: true), relationship("one", "A")],
                    unique: [["n", "t"]]),
                entity("Gone", [attribute("x")])))
        return try first.staged("before", in: 299).evolved(
            to: model(
                entity("A", abstract: true, [attribute("u", unique: true), attribute("n")]),
                entity(
                    "B2", under: "A", was: "B",
                    [
                        attribute("t", indexed: true),
                        attribute("d", .decimal, required: true, default: .decimal(5)),
                    ], to: [relationship("one", "A"), relationship("more", "B2", many: true)],
                    unique: [["t", "u"]])), in: 300)
    }

    @Test func `a version comes back from its bytes`() throws {
        let first = try ModelVersion(first: Company.model)
        let later = try Self.version()

        for version in [first, later, later.reverted(to: later), later.restarted] {
            let decoded = try ModelVersion(canonicalBytes: version.canonicalBytes)
            #expect(decoded == version)
            #expect(decoded.canonicalBytes == version.canonicalBytes)
        }
        let slots = later.entities.flatMap(\.slots)
        #expect(slots.contains { $0.removed?.isIndexed == false })
        #expect(slots.contains { if case .converted = $0.fill { true } else { false } })
        #expect(slots.contains { $0.fill == .value(.decimal(5)) })
        #expect(later.entities.contains { $0.isRemoved })
        #expect(later.stages == [CustomStage(entry: 299, name: "before")])
    }

    @Test func `no beginning of the bytes is a version, and nothing may follow them`() throws {
        let bytes = try Self.version().canonicalBytes

        for count in 0..<bytes.count {
            #expect(throws: DecodingFailure.self, "\(count) bytes") {
                try ModelVersion(canonicalBytes: Array(bytes.prefix(count)))
            }
        }
        #expect(throws: DecodingFailure.self) { try ModelVersion(canonicalBytes: bytes + [0]) }
    }

    @Test func `bytes with one bit changed are refused, or are the form of another version`() throws
    {
        let version = try Self.version()
        var bytes = version.canonicalBytes
        var refused = 0

        for bit in 0..<(bytes.count * 8) {
            bytes[bit / 8] ^= 1 << (bit % 8)
            do {
                let other = try ModelVersion(canonicalBytes: bytes)
                #expect(other != version, "bit \(bit)")
                #expect(other.canonicalBytes == bytes, "bit \(bit)")
                // What is taken can be used.
                let schema = Schema(other)
                #expect(schema.entities.count == other.model.entities.count, "bit \(bit)")
            } catch {
                refused += 1
            }
            bytes[bit / 8] ^= 1 << (bit % 8)
        }

        #expect(refused > bytes.count * 4, "\(refused) of \(bytes.count * 8)")
    }

    // MARK: - What does not hold together

    @Test func `numbers that are not the model's are refused`() throws {
        let version = try Self.version()
        func expectRefusal(
            _ what: String, _ change: (inout ModelVersion) -> Void,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            var changed = version
            change(&changed)
            #expect(throws: DecodingFailure.self, "\(what)", sourceLocation: sourceLocation) {
                try ModelVersion(canonicalBytes: changed.canonicalBytes)
            }
        }

        expectRefusal("a property number twice") {
            $0.entities[0].properties["u"] = $0.entities[0].properties["n"]
        }
        expectRefusal("a number that was not given") { $0.next.property -= 1 }
        expectRefusal("an entity too few") { $0.next.entity -= 1 }
        expectRefusal("a constraint number that was not given") {
            $0.next.constraint = SchemaConstraint.compoundNumberMinimum
        }
        expectRefusal("a property that is not in the model") {
            $0.entities[0].properties["z"] = PropertyNumber(rawValue: 1)
        }
        expectRefusal("a field twice") { $0.entities[1].slots.append($0.entities[1].slots[0]) }
        expectRefusal("a field too few") { $0.entities[1].slots.removeLast() }
        expectRefusal("a list too few") { $0.entities[1].members.removeAll() }
        expectRefusal("an entity that is removed and is there") { $0.entities[0].isRemoved = true }
        expectRefusal("a field of an entity that is gone") { $0.entities[2].slots[0].removed = nil }
        expectRefusal("a conversion from a later field") {
            let last = $0.entities[1].slots.count - 1
            $0.entities[1].slots[0].fill = .converted(
                from: $0.entities[1].slots[last].property, to: .string)
        }
    }
}
