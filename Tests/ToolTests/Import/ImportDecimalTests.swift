import Foundation
import Testing

/// Decimal numbers of connectors, which come as bytes.
@Suite struct ImportDecimalTests {
    /// A line with the type and the value of a customer's credit.
    private func line(_ type: String, _ value: String) -> String {
        #"{"schema":{"type":"struct","fields":[{"field":"after","type":"struct","fields":[{"field":"credit",\#(type)}]}]},"#
            + #""payload":{"before":null,"after":{"email":"a@x","credit":\#(value)},"source":{"name":"s","db":"s","#
            + #""table":"Customer","lsn":1},"op":"c"}}"#
    }

    private func type(scale: Int) -> String {
        #""type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"\#(scale)"}"#
    }

    private func credit(_ line: String) throws -> String {
        let shop = try ImportShop()
        let result = try shop.importing(line)
        #expect(result.status == 0, "\(result.talk)")
        let found = try shop.run("fetch shop.daybook Customer --output jsonl").text
        let credit = try #require(found.firstMatch(of: /"credit":"([^"]*)"/), "\(found)")
        return String(credit.1)
    }

    @Test(arguments: [
        ("BQ==", 2, "0.05"), ("2PA=", 0, "-10000"), ("BQ==", -3, "5000"),
        ("AIAAAAAAAAAA", 3, "9223372036854775.808"),
        ("CUmw9vACMxPESZBQ3jjzTg==", 2, "123456789012345678901234567890123456.78"),
        ("9rZPCQ/9zOw7tm+vIccMsg==", 2, "-123456789012345678901234567890123456.78"),
    ])
    func `a decimal number of up to 128 bits is taken as it is`(
        bytes: String, scale: Int, expected: String
    ) throws {
        #expect(try credit(line(type(scale: scale), "\"\(bytes)\"")) == expected)
    }

    @Test func `a decimal number may bring its own scale`() throws {
        let type = #""type":"struct","name":"io.debezium.data.VariableScaleDecimal""#

        #expect(try credit(line(type, #"{"scale":4,"value":"JxA="}"#)) == "1")
        #expect(
            try credit(line(type, #"{"scale":1,"value":"AIAAAAAAAAAA"}"#)) == "922337203685477580.8"
        )
    }

    @Test(arguments: ["AQAAAAAAAAAAAAAAAAAAAAA=", "1.5 is no base64"])
    func `a decimal number that cannot be read is refused, and not kept as its bytes`(value: String)
        throws
    {
        let shop = try ImportShop()
        let remark = line(type(scale: 2), "\"\(value)\"")
            .replacingOccurrences(of: "credit", with: "text")
            .replacingOccurrences(of: "Customer", with: "Remark")
            .replacingOccurrences(of: #""email":"a@x","#, with: "")

        let result = try shop.importing(remark)

        #expect(result.status == 2)
        #expect(result.talk.contains("after.text"), "\(result.talk)")
        #expect(result.talk.contains("128 bits"), "\(result.talk)")
    }

    @Test func `a decimal column without a value stays without`() throws {
        let shop = try ImportShop()

        let result = try shop.importing(line(type(scale: 2), "null"))

        #expect(result.status == 0, "\(result.talk)")
    }
}
