import DaybookTestSupport
import Foundation
import Testing

/// Streams whose changes come when they are committed, and not as they were made.
@Suite struct ImportOrderTests {
    /// A new customer with these members of `source`.
    private func insert(_ email: String, _ source: String, transaction: String? = nil) -> String {
        event("c", email, source, transaction)
    }

    private func event(
        _ op: String, _ email: String, _ source: String, _ transaction: String? = nil
    ) -> String {
        #"{"before":null,"after":{"email":"\#(email)"},"source":{"name":"shop","db":"shop","#
            + #""table":"Customer","ts_ms":1700000000000,\#(source)},"#
            + (transaction.map { #""transaction":{"id":"\#($0)"},"# } ?? "") + #""op":"\#(op)"}"#
    }

    /// What PostgreSQL's connector tells of a place: the commit before a change, and its own.
    private func place(_ commit: Int?, _ own: Int, in transaction: Int) -> String {
        let commit = commit.map { #"\"\#($0)\""# } ?? "null"
        return #""connector":"postgresql","txId":\#(transaction),"lsn":\#(own),"#
            + #""sequence":"[\#(commit),\"\#(own)\"]""#
    }

    /// Two transactions of PostgreSQL: the second one has begun first, and is committed last.
    private var overlapping: [String] {
        [
            insert("b@x", place(90, 110, in: 12)), insert("a@x", place(120, 100, in: 11)),
            insert("d@x", place(120, 105, in: 11)),
        ]
    }

    @Test func `changes of overlapping transactions come in the order of the commits`() throws {
        let shop = try ImportShop()
        let later = insert("e@x", place(130, 115, in: 13))

        let first = try shop.importing(overlapping.joined(separator: "\n"))
        let second = try shop.importing((overlapping + [later]).joined(separator: "\n"))

        #expect(first.text == "Imported 2 entries, 2 to 3: 3 inserted.\n", "\(first.talk)")
        #expect(second.text == "Imported entry 4: 1 inserted.\n", "\(second.talk)")
        #expect(second.talk.hasPrefix("warning: 3 events of 'Customer'"), "\(second.talk)")
        #expect(second.talk.contains("at or before sequence 120, 105 were"), "\(second.talk)")
    }

    @Test func `a transaction that began before one already imported is not passed over`() throws {
        let shop = try ImportShop()
        try #require(try shop.importing(overlapping[0]).status == 0)

        let rest = try shop.importing(overlapping.joined(separator: "\n"))

        #expect(rest.text == "Imported entry 3: 2 inserted.\n", "\(rest.talk)")
    }

    @Test func `an initial state comes before what no known commit precedes`() throws {
        let shop = try ImportShop()
        let state = event("r", "a@x", place(nil, 100, in: 9) + #","snapshot":"last""#)
        let changes = [
            insert("b@x", place(nil, 103, in: 10)), insert("c@x", place(110, 101, in: 11)),
        ]
        try #require(try shop.importing(state).status == 0)

        let next = try shop.importing(([state] + changes).joined(separator: "\n"))
        let again = try shop.importing(([state] + changes).joined(separator: "\n"))

        #expect(next.text == "Imported 2 entries, 3 to 4: 2 inserted.\n", "\(next.talk)")
        #expect(again.text == "Nothing was imported.\n")
    }

    @Test func `changes of Oracle come in the order of their own commits`() throws {
        let shop = try ImportShop()
        func place(_ own: Int, _ commit: Int?) -> String {
            #""connector":"oracle","scn":"\#(own)","commit_scn":"#
                + (commit.map { "\"\($0)\"" } ?? "null") + #","txId":"\#(commit ?? 0)""#
        }
        let state = event("r", "a@x", place(100, nil))
        let changes = [insert("b@x", place(108, 120)), insert("c@x", place(104, 130))]
        try #require(try shop.importing(state + "\n" + changes[0]).status == 0)

        let next = try shop.importing(([state] + changes).joined(separator: "\n"))

        #expect(next.text == "Imported entry 4: 1 inserted.\n", "\(next.talk)")
    }

    @Test func `changes of PostgreSQL without their sequence have no position`() throws {
        let shop = try ImportShop()
        let lines = [
            insert("b@x", #""connector":"postgresql","txId":12,"lsn":110"#),
            insert("a@x", #""connector":"postgresql","txId":11,"lsn":100"#),
        ]
        try #require(try shop.importing(lines[0]).status == 0)

        let next = try shop.importing(lines[1])
        let again = try shop.importing(lines[1])

        #expect(next.text == "Imported entry 3: 1 inserted.\n", "\(next.talk)")
        #expect(again.status == 5)
        #expect(again.talk.contains("'email' must be unique"), "\(again.talk)")
    }

    @Test func `a transaction is one entry, though each change names its place behind the number`()
        throws
    {
        let shop = try ImportShop()
        let lines = [
            insert("a@x", place(90, 100, in: 11), transaction: "11:100"),
            insert("b@x", place(90, 105, in: 11), transaction: "11:105"),
        ]

        let result = try shop.importing(lines.joined(separator: "\n"))

        #expect(result.text == "Imported entry 2: 2 inserted.\n", "\(result.talk)")
    }

    @Test(arguments: ["debezium", "jsonl"])
    func `another copy of the store that was imported is refused`(format: String) throws {
        let folder = try ScratchFolder()
        let made = try Tool.shell(
            """
            cd '\(folder.url.path)'
            echo '{"entities":[{"name":"A","attributes":[{"name":"x","type":"int64"}]}]}' > model.json
            $DAYBOOK init one.daybook --model model.json > /dev/null
            $DAYBOOK add one.daybook A x=1 > /dev/null
            $DAYBOOK backup one.daybook two.daybook > /dev/null
            $DAYBOOK add one.daybook A x=2 > /dev/null
            $DAYBOOK add two.daybook A x=3 > /dev/null
            $DAYBOOK add two.daybook A x=4 > /dev/null
            $DAYBOOK init copy.daybook --model model.json > /dev/null
            $DAYBOOK export one.daybook -f \(format) | $DAYBOOK import copy.daybook -f \(format)
            """)
        try #require(made.status == 0, "\(made.talk)")

        let other = try Tool.shell(
            """
            cd '\(folder.url.path)'
            $DAYBOOK export two.daybook -f \(format) | $DAYBOOK import copy.daybook -f \(format)
            """)

        #expect(other.status == 5, "\(other.talk)")
        #expect(other.talk.contains("has another digest"), "\(other.talk)")
        let found = try Tool.run(["fetch", "copy.daybook", "A", "--count"], in: folder.url)
        #expect(found.text == "2\n", "\(found.text)")
    }

    @Test func `a position of another kind than the one reached is refused until it is forgotten`()
        throws
    {
        let shop = try ImportShop()
        try #require(try shop.importing(insert("a@x", #""lsn":7"#)).status == 0)
        let next = insert("b@x", place(5, 8, in: 12))

        let refused = try shop.importing(next)
        let taken = try shop.importing(next, "--forget-positions")
        let again = try shop.importing(next)

        #expect(refused.status == 5)
        #expect(
            refused.talk
                == "error: line 1: 'Customer' was imported up to lsn 7, and the event is at sequence "
                + "5, 8: nothing says whether it was imported. Leave out what was, and use "
                + "'--forget-positions' to import the rest.\n")
        #expect(taken.text == "Imported entry 3: 1 inserted.\n", "\(taken.talk)")
        #expect(again.text == "Nothing was imported.\n")
    }
}
