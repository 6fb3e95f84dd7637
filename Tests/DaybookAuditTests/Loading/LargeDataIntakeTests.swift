import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookAudit

/// Lines with the bytes of large data that are not what was announced.
@Suite struct LargeDataIntakeTests {
    private static let bytes = Data((0..<200_001).map { UInt8(truncatingIfNeeded: $0 / 251) })
    private static let data = LargeData(bytes.prefix(200_000))

    private let world: TemporaryStore

    init() throws {
        world = try TemporaryStore()
    }

    private static func line(_ range: Range<Int>) -> LargeDataLine {
        LargeDataLine(data, range.lowerBound, Data(bytes[range]))
    }

    private static func line(_ json: String) throws -> LargeDataLine? {
        try LargeDataLine(try JSONValue(parsing: json))
    }

    @Test(
        arguments: [
            ([], 0..<200_001), ([0..<100_000], 100_000..<200_001),
            ([0..<199_999], 199_999..<200_001), ([0..<100_000], 100_001..<200_000),
            ([0..<100_000], 99_999..<200_000), ([0..<200_000], 200_000..<200_001),
        ])
    func `bytes that are too many or not the next are refused, and the right ones taken then`(
        before: [Range<Int>], wrong: Range<Int>
    ) throws {
        var intake = LargeDataIntake()
        for range in before { try intake.take(Self.line(range), into: world.store, line: 1) }

        let error = #expect(throws: ExportError.self) {
            try intake.take(Self.line(wrong), into: world.store, line: 2)
        }

        #expect(error?.kind == .malformed)
        #expect(error?.line == 2)
        let count = before.last.map { $0.upperBound % 200_000 } ?? 0
        #expect(
            error?.message.contains("The bytes \(count) to 200000 of the data") == true,
            "\(String(describing: error))")
        try intake.take(Self.line(count..<200_000), into: world.store, line: 3)
        try intake.expectNothing(line: 4)
    }

    @Test func `other data between the parts of one are refused`() throws {
        let other = LargeData(Self.bytes.prefix(100_000))
        var intake = LargeDataIntake()
        try intake.take(Self.line(0..<100_000), into: world.store, line: 1)

        let error = #expect(throws: ExportError.self) {
            try intake.take(
                LargeDataLine(other, 0, Self.bytes.prefix(100_000)), into: world.store, line: 2)
        }

        #expect(error?.kind == .malformed)
        #expect(throws: ExportError.self) { try intake.expectNothing(line: 3) }
    }

    @Test(
        arguments: [
            "65536", "281474976710657", "9223372036854775807", "9223372036854775808", "-70000", "",
        ])
    func `a number of bytes that no large data have is refused`(count: String) throws {
        let digest = String(repeating: "a5", count: 32)

        let error = #expect(throws: JSONError.self) {
            try Self.line(
                #"{"data":"large:\#(count):\#(digest)","offset":0,"bytes":"AQID"}"#)
        }

        #expect(error?.location == "data")
    }

    @Test(arguments: ["-1", "0.5", "9223372036854775808"])
    func `an offset that is no number of bytes is refused`(offset: String) throws {
        let name = "large:70000:" + String(repeating: "a5", count: 32)

        let error = #expect(throws: JSONError.self) {
            try Self.line(#"{"data":"\#(name)","offset":\#(offset),"bytes":"AQID"}"#)
        }

        #expect(error?.location == "offset")
    }

    @Test(arguments: ["1", "9223372036854775807"])
    func `the first bytes of as many as there may be are those at zero`(offset: String) throws {
        let name = "large:281474976710656:" + String(repeating: "a5", count: 32)
        func line(_ offset: String) throws -> LargeDataLine {
            try #require(
                try Self.line(#"{"data":"\#(name)","offset":\#(offset),"bytes":"AQID"}"#))
        }
        var intake = LargeDataIntake()

        #expect(throws: ExportError.self) {
            try intake.take(try line(offset), into: world.store, line: 1)
        }

        try intake.take(try line("0"), into: world.store, line: 2)
        let error = #expect(throws: ExportError.self) { try intake.expectNothing(line: 3) }
        #expect(
            error?.message.contains("The bytes 3 to 281474976710656 of the data") == true,
            "\(String(describing: error))")
    }
}
