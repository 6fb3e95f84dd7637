import DaybookTestSupport
import Foundation
import Testing

/// Rows of different tables with the same name in the source.
@Suite struct ImportNamesTests {
    /// An envelope of the stream `shop`, of a table with the name of its entity.
    private func event(
        _ op: String, _ table: String, before: String = "null", after: String = "null",
        at place: Int
    ) -> String {
        #"{"before":\#(before),"after":\#(after),"source":{"name":"shop","db":"shop","#
            + #""table":"\#(table)","ts_ms":1700000000000,"lsn":\#(place)},"op":"\#(op)"}"#
    }

    private func rows(of entity: String, in shop: ImportShop) throws -> [String] {
        try shop.run("fetch shop.daybook \(entity) --output jsonl").lines
    }

    @Test func `B5 an update and a delete reach the row of their own table only`() throws {
        let shop = try ImportShop()
        let stream = [
            event("c", "Customer", after: #"{"_id":"1","email":"a@x","credit":"5"}"#, at: 1),
            event("c", "Order", after: #"{"_id":"1","number":7,"customer":"1"}"#, at: 2),
            event("c", "Remark", after: #"{"_id":"1","text":"first"}"#, at: 3),
            event(
                "u", "Customer", before: #"{"_id":"1","email":"a@x","credit":"5"}"#,
                after: #"{"_id":"1","email":"a@x","credit":"6"}"#, at: 4),
            event("d", "Remark", before: #"{"_id":"1","text":"first"}"#, at: 5),
            event(
                "u", "Order", before: #"{"_id":"1","number":7,"customer":"1"}"#,
                after: #"{"_id":"1","number":8,"customer":"1"}"#, at: 6),
        ]

        let result = try shop.importing(stream.joined(separator: "\n"))

        #expect(result.status == 0, "\(result.talk)")
        #expect(result.text == "Imported 6 entries, 2 to 7: 3 inserted, 2 updated, 1 deleted.\n")
        let customers = try rows(of: "Customer", in: shop)
        #expect(customers.count == 1)
        #expect(customers[0].contains(#""credit":"6","email":"a@x""#))
        let orders = try rows(of: "Order", in: shop)
        #expect(orders.count == 1)
        #expect(orders[0].contains(#""customer":"Customer/1","number":8"#), "\(orders)")
        #expect(try rows(of: "Remark", in: shop).isEmpty)
    }

    @Test func `B5 tables of two databases with one name and one row name are told apart`() throws {
        let shop = try ImportShop()
        let stream = [
            event("c", "Remark", after: #"{"_id":"1","text":"one"}"#, at: 1),
            event("c", "Remark", after: #"{"_id":"1","text":"two"}"#, at: 2)
                .replacing(#""db":"shop""#, with: #""db":"shop","schema":"other""#),
            event(
                "u", "Remark", before: #"{"_id":"1","text":"one"}"#,
                after: #"{"_id":"1","text":"three"}"#, at: 3),
        ]

        let result = try shop.importing(stream.joined(separator: "\n"))

        #expect(result.status == 0, "\(result.talk)")
        let texts = try rows(of: "Remark", in: shop)
        #expect(texts.count == 2)
        #expect(texts[0].contains(#""text":"three""#))
        #expect(texts[1].contains(#""text":"two""#))
    }

    @Test func `B5 a name that two tables of the destination have is refused`() throws {
        let shop = try ImportShop()
        let stream = [
            event("c", "old", after: #"{"_id":"1","email":"a@x"}"#, at: 1),
            event("c", "new", after: #"{"_id":"1","email":"b@x"}"#, at: 2),
            event("c", "Order", after: #"{"_id":"1","number":7,"customer":"1"}"#, at: 3),
        ]

        let result = try shop.importing(
            stream.joined(separator: "\n"), "--table old=Customer --table new=Customer")

        #expect(result.status == 2)
        #expect(
            result.talk.contains("line 3: 'customer' cannot be '1': 2 tables of the stream"),
            "\(result.talk)")
        #expect(try rows(of: "Order", in: shop).isEmpty)
    }

    @Test func `B5 a line of an export whose object has another's name stops nothing`() throws {
        let shop = try ImportShop()
        func line(_ number: Int, _ rest: String) -> String {
            #"{"sequence":\#(number),"time":"2020-01-01T00:00:00Z",\#(rest),"#
                + #""digest":"\#(String(repeating: "0", count: 64))"}"#
        }
        let stream = [
            line(1, #""kind":"model""#),
            line(
                2,
                #""changes":[{"op":"insert","object":"Same/1","entity":"Customer","#
                    + #""new":{"email":"a@x","since":null,"credit":"5","active":null}},"#
                    + #"{"op":"insert","object":"Same/1","entity":"Order","new":{"number":7}}]"#),
            line(
                3,
                #""changes":[{"op":"update","object":"Same/1","entity":"Order","#
                    + #""old":{"number":7},"new":{"number":8}}]"#),
            line(
                4,
                #""changes":[{"op":"update","object":"Same/1","entity":"Customer","#
                    + #""old":{"credit":"5"},"new":{"credit":"6"}}]"#),
        ]

        let result = try shop.run(
            "import shop.daybook -f jsonl", input: stream.joined(separator: "\n"))

        #expect(result.status == 0, "\(result.talk)")
        #expect(try rows(of: "Customer", in: shop)[0].contains(#""credit":"6""#))
        #expect(try rows(of: "Order", in: shop)[0].contains(#""number":8"#))
    }

    // MARK: - Positions of tables

    @Test func `B5 a table that comes after another is not taken for imported`() throws {
        let shop = try ImportShop()
        let customers = [
            event("c", "Customer", after: #"{"email":"a@x"}"#, at: 1),
            event("c", "Customer", after: #"{"email":"b@x"}"#, at: 5),
        ]
        let orders = [
            event("c", "Order", after: #"{"number":1,"customer":"a@x"}"#, at: 2),
            event("c", "Order", after: #"{"number":2,"customer":"b@x"}"#, at: 6),
        ]

        let first = try shop.importing(customers.joined(separator: "\n"))
        let second = try shop.importing(orders.joined(separator: "\n"))
        let again = try shop.importing(
            [customers[0], orders[0], orders[1]].joined(separator: "\n"))

        #expect(first.status == 0)
        #expect(second.text == "Imported 2 entries, 4 to 5: 2 inserted.\n", "\(second.talk)")
        #expect(again.text == "Nothing was imported.\n")
        #expect(
            again.talk
                == "warning: 1 event of 'Customer' in 'shop/shop' at or before lsn 5 was passed over: "
                + "this table was imported up to there.\n"
                + "warning: 2 events of 'Order' in 'shop/shop' at or before lsn 6 were passed over: "
                + "this table was imported up to there.\n")
        #expect(try rows(of: "Order", in: shop).count == 2)
    }

    @Test func `B5 the state of every table counts as imported once changes follow`() throws {
        let shop = try ImportShop()
        let stream = [
            event("r", "Remark", after: #"{"_id":"1","text":"one"}"#, at: 100),
            event("r", "Customer", after: #"{"email":"a@x"}"#, at: 100),
            event(
                "u", "Customer", before: #"{"email":"a@x"}"#, after: #"{"email":"b@x"}"#, at: 101),
        ]
        let next = event("c", "Customer", after: #"{"email":"c@x"}"#, at: 102)
        let cut = try shop.importing((stream + [next, "nonsense"]).joined(separator: "\n"))

        let again = try shop.importing(stream.joined(separator: "\n"))

        #expect(cut.status == 2, "\(cut.talk)")
        #expect(again.status == 0, "\(again.talk)")
        #expect(again.text == "Nothing was imported.\n")
        #expect(try rows(of: "Remark", in: shop).count == 1)
    }
}
