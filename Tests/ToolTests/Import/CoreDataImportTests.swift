import DaybookTestSupport
import Foundation
import Testing

/// Stores made from those of Core Data.
@Suite struct CoreDataImportTests {
    // MARK: - The present state

    @Test func `a store without history becomes one entry with every value`() throws {
        let story = try CoreDataStory()

        let result = try story.importing("--author", "Ada", "--note", "Moved")

        #expect(result.status == 0, "\(result.talk)")
        #expect(result.talk.isEmpty)
        #expect(result.text == "Imported entry 2: 8 inserted.\n")
        let shown = try story.run(["show", "new.daybook", "2", "--output", "jsonl"]).text
        #expect(shown.contains(#""author":"Ada","note":"Moved","context":"import""#))
        #expect(
            try story.fetch("Department").map(Self.values) == [
                #"{"budget":"12.5","founded":"2001-01-01T00:00:00.5Z","head":"Employee/3","name":"R&D","staff":["Employee/4","Employee/3"]}"#,
                #"{"budget":"0.1","founded":"2001-01-02T00:00:00Z","head":null,"name":"Sales","staff":[]}"#,
            ])
        let parties = try story.fetch("Party").map(Self.values)
        try #require(parties.count == 4)
        #expect(parties.contains(#"{"logo":"AgM=","title":"Acme","note":"supplier"}"#))
        let ada = try #require(parties.first { $0.contains(#""name":"Ada""#) })
        for value in [
            #""active":true"#, #""identifier":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F""#,
            #""photo":"aGk=""#, #""rating":1.5"#, #""site":"https://example.org/ada""#,
            #""small":-3"#, #""tags":["Tag/8","Tag/7"]"#, #""boss":null"#,
        ] {
            #expect(ada.contains(value), "\(value) in \(ada)")
        }
        let bob = try #require(parties.first { $0.contains(#""name":"Bob""#) })
        let photo = Data("a large photo".utf8).base64EncodedString()
        for value in [
            #""salary":"1000""#, #""title":"Chief""#, #""boss":"Person/6""#,
            #""photo":"\#(photo)""#, #""tags":["Tag/7"]"#,
        ] {
            #expect(bob.contains(value), "\(value) in \(bob)")
        }
        #expect(
            parties.contains {
                $0.contains(#""name":"Cy""#) && $0.contains(#""boss":"Employee/3""#)
            })
        #expect(try story.run(["verify", "new.daybook"]).status == 0)
    }

    /// The values of a line of `fetch`.
    private static func values(_ line: String) -> String {
        guard let start = line.range(of: #""values":"#)?.upperBound else { return line }
        return String(line[start...].dropLast())
    }

    @Test func `what is only in the log beside the file is read, and the source is left as it is`()
        throws
    {
        let story = try CoreDataStory()
        let path = story.folder.url.appending(path: "old.sqlite")
        let log = story.folder.url.appending(path: "old.sqlite-wal")
        let before = try [Data(contentsOf: path), Data(contentsOf: log)]
        // The rows are in the log only.
        try #require(before[0].count <= 4096 && before[1].count > 8192)

        let result = try story.importing()

        #expect(result.status == 0, "\(result.talk)")
        #expect(try [Data(contentsOf: path), Data(contentsOf: log)] == before)
    }

    @Test func `a dry run makes no store`() throws {
        let story = try CoreDataStory()

        let result = try story.importing("--dry-run")

        #expect(result.text == "Would import entry 2: 8 inserted.\n")
        #expect(!story.hasStore)
    }

    // MARK: - The history

    @Test func `each transaction becomes an entry with its author and its time`() throws {
        let story = try CoreDataStory(CoreDataStory.history)

        let result = try story.importing("--author", "nobody")

        #expect(result.text == "Imported 5 entries, 2 to 6: 8 inserted, 3 updated.\n")
        #expect(
            result.talk == """
                2 deleted objects are in the history only; the source keeps nothing of them.
                1 transaction has no entry of its own, because later ones set the same values.

                """)
        let entries = try (2...6).map {
            try story.run(["show", "new.daybook", "\($0)", "--output", "jsonl"]).text
        }
        let headers = entries.map { $0.matches(of: /"(time|author|context)":"([^"]*)"/).map(\.2) }
        #expect(
            headers == [
                ["2001-01-01T00:01:40Z", "nobody", "import"],
                ["2001-01-01T00:01:40Z", "app", "main"],
                ["2001-01-01T00:03:20.25Z", "direct", "import"],
                ["2001-01-01T00:05:00Z", "sync", "import"],
                ["2001-01-01T00:06:40Z", "nobody", "import"],
            ])
        let deeds = entries.map {
            $0.matches(of: /"op":"(insert|update)","object":"([^"]*)"/).map { "\($0.1) \($0.2)" }
        }
        #expect(
            deeds == [
                ["insert Organisation/1", "insert Tag/2", "insert Tag/3"],
                ["insert Department/4", "insert Person/5"],
                ["insert Employee/6", "update Department/4"],
                ["insert Department/7", "insert Employee/8", "update Department/4"],
                ["update Person/5"],
            ])
        #expect(try story.run(["verify", "new.daybook"]).status == 0)
    }

    @Test
    func `a value stands in the last transaction that set it, and a required one from the start`()
        throws
    {
        let story = try CoreDataStory(CoreDataStory.history)
        try #require(try story.importing().status == 0)

        let inserted = try story.run(["show", "new.daybook", "3", "--output", "jsonl"]).text
        let last = try story.run(["show", "new.daybook", "6", "--output", "jsonl"]).text

        // Transaction 12 has set the name, too, but there must always be one.
        #expect(inserted.contains(#""name":"Ada""#))
        #expect(!inserted.contains("rating"))
        #expect(inserted.contains(#""small":-3"#))
        #expect(last.contains(#""old":{"rating":null},"new":{"rating":1.5}"#))
        let head = try story.run(["blame", "new.daybook", "Department/4", "--output", "jsonl"])
        #expect(head.lines.contains { $0.contains(#""property":"head","sequence":4"#) })
        #expect(head.lines.contains { $0.contains(#""property":"budget","sequence":3"#) })
    }

    @Test(arguments: ["", "--without-history"])
    func `the state in the end is the same with history and without`(option: String) throws {
        let plain = try CoreDataStory()
        try #require(try plain.importing().status == 0)
        let story = try CoreDataStory(CoreDataStory.history)
        let result =
            try option.isEmpty ? story.importing() : story.importing(option)
        try #require(result.status == 0, "\(result.talk)")

        for entity in ["Department", "Party", "Tag"] {
            let expected = try plain.fetch(entity).map { Self.anonymous($0) }.sorted()
            #expect(try story.fetch(entity).map { Self.anonymous($0) }.sorted() == expected)
        }
        if !option.isEmpty { #expect(result.text == "Imported entry 2: 8 inserted.\n") }
    }

    /// A line without the numbers of objects, which depend on the order of their inserts.
    private static func anonymous(_ line: String) -> String {
        line.replacing(/(Department|Organisation|Person|Employee|Tag)\/\d+/) { "\($0.1)" }
    }

    @Test func `an update that does not say what it has set may have set anything`() throws {
        let story = try CoreDataStory(
            CoreDataStory.history + "UPDATE ACHANGE SET ZCOLUMNS = x'0001' WHERE Z_PK = 9;")

        try #require(try story.importing().status == 0)

        let last = try story.run(["show", "new.daybook", "6", "--output", "jsonl"]).text
        for name in ["active", "identifier", "photo", "rating", "site", "small", "tags"] {
            #expect(last.contains("\"\(name)\""), "\(name)")
        }
        #expect(!last.contains(#""name":"Ada""#))
    }

    @Test func `a connection waits until both its objects are there`() throws {
        let story = try CoreDataStory(
            CoreDataStory.history + "UPDATE ACHANGE SET ZTRANSACTIONID = 13 WHERE Z_PK = 1;")

        let result = try story.importing()

        // The department comes after its staff, so the staff joins it when it comes.
        #expect(result.status == 0, "\(result.talk)")
        let shown = try story.run(["show", "new.daybook", "6", "--output", "jsonl"]).text
        #expect(shown.contains(#""op":"insert","object":"Department/8""#), "\(shown)")
        #expect(try story.fetch("Department").contains { $0.contains(#""staff":["#) })
        #expect(try story.run(["verify", "new.daybook"]).status == 0)
    }

    // MARK: - What does not fit

    @Test func `everything that the store and the model do not share is told at once`() throws {
        let story = try CoreDataStory(
            """
            ALTER TABLE ZTAG DROP COLUMN ZLABEL; ALTER TABLE ZTAG ADD COLUMN ZCOLOUR VARCHAR;
            UPDATE Z_PRIMARYKEY SET Z_SUPER = 2 WHERE Z_NAME = 'Employee';
            INSERT INTO Z_PRIMARYKEY VALUES (7, 'Stranger', 0, 0); DROP TABLE Z_4TAGS;
            ALTER TABLE ZPARTY DROP COLUMN Z_FOK_DEPARTMENT;
            """)

        let result = try story.importing("--external", "Tag.label")

        #expect(result.status == 2)
        #expect(
            result.talk == """
                error: 'old.sqlite' does not fit the model.
                  'Employee' inherits from another entity in the store than in the model.
                  Table ZTAG has no column ZLABEL for 'Tag.label'.
                  The model has no attribute 'Tag.label' with data.
                  Table ZPARTY has no column Z_FOK_DEPARTMENT for the order of 'Department.staff'.
                  The store has no table of pairs for 'Person.tags', such as Z_4TAGS.
                  The model has no entity 'Stranger', which the store has.
                  The model has no property for column ZCOLOUR of table ZTAG.
                  '--ignore-unknown' leaves out what the model does not have.

                """)
        #expect(!story.hasStore)
    }

    @Test func `a composite attribute is refused, as its columns are not known`() throws {
        let story = try CoreDataStory()
        let model = CoreDataStory.model.replacing(
            #"{"name":"label","type":"string"}"#,
            with: #"{"name":"label","type":"string"},{"name":"place","type":"composite","#
                + #""elements":[{"name":"x","type":"double"},{"name":"y","type":"double"}]}"#)
        try Data(model.utf8).write(to: story.folder.url.appending(path: "model.json"))

        let result = try story.importing()

        #expect(result.status == 2)
        #expect(
            result.talk == """
                error: 'old.sqlite' does not fit the model.
                  'Tag.place' is a composite attribute: how Core Data keeps its elements is not known \
                here. Leave it out of the model, import with '--ignore-unknown', and add \
                it to the new store with 'daybook migrate'.

                """)
        #expect(!story.hasStore)
    }

    @Test func `what the model does not have is left out when that is asked for`() throws {
        let story = try CoreDataStory(
            """
            ALTER TABLE ZTAG ADD COLUMN ZCOLOUR VARCHAR;
            INSERT INTO Z_PRIMARYKEY VALUES (7, 'Stranger', 2, 0);
            INSERT INTO ZPARTY (Z_PK, Z_ENT) VALUES (99, 7);
            """)

        let result = try story.importing("--ignore-unknown")

        #expect(result.text == "Imported entry 2: 8 inserted.\n", "\(result.talk)")
    }

    @Test(arguments: [
        (
            "UPDATE ZPARTY SET ZBOSS = 77 WHERE Z_PK = 4",
            "Table ZPARTY, row 4: 'Employee.boss' leads to row 77 of table ZPARTY, which is not there."
        ),
        (
            "UPDATE ZPARTY SET ZNAME = NULL WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.name' must have a value."
        ),
        (
            "UPDATE ZPARTY SET ZSMALL = 40000 WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.small' holds 16-bit integers, from -32768 to 32767."
        ),
        (
            "UPDATE ZPARTY SET ZRATING = 1e39 WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.rating' holds numbers of single precision, and this one is "
                + "too large."
        ),
        (
            "UPDATE ZPARTY SET ZACTIVE = 2 WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.active' holds true or false, which is not what the row has."
        ),
        (
            "UPDATE ZPARTY SET ZIDENTIFIER = x'00' WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.identifier' holds a UUID, which is not what the row has."
        ),
        (
            "UPDATE ZPARTY SET ZNAME = CAST(x'52E9' AS TEXT) WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.name' holds text, which is not what the row has."
        ),
        (
            "UPDATE ZDEPARTMENT SET ZFOUNDED = 9e999 WHERE Z_PK = 1",
            "Table ZDEPARTMENT, row 1: 'Department.founded' holds finite dates."
        ),
        (
            "UPDATE ZTAG SET Z_ENT = 2 WHERE Z_PK = 1",
            "Table ZTAG, row 1: Z_ENT is not the number of an entity with objects."
        ),
        (
            "UPDATE ZPARTY SET ZTITLE = 'Chief', ZTITLE1 = NULL WHERE Z_PK = 3",
            "Table ZPARTY, row 3: ZTITLE has a value, which belongs to another entity: several declare "
                + "a property of that name, and it is not clear which column belongs to which."
        ),
        (
            "INSERT INTO Z_4TAGS VALUES (2, 55, 3)",
            "Table Z_4TAGS, row 2: It leads to row 55 of table ZTAG, which is not there."
        ),
        (
            "UPDATE ZDEPARTMENT SET ZHEAD = NULL",
            "Table ZPARTY, row 3: ZHEADS leads to row 1 of table ZDEPARTMENT, which leads elsewhere."
        ),
        (
            "UPDATE ZPARTY SET ZPHOTO = x'0341' WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.photo' does not begin as the values of an attribute that "
                + "allows external storage; leave out its '--external'."
        ),
        (
            "UPDATE ZPARTY SET ZPHOTO = CAST(x'02' || '../../../../../etc/passwd' AS BLOB) "
                + "WHERE Z_PK = 2",
            "Table ZPARTY, row 2: 'Person.photo' does not name a file as Core Data does."
        ),
    ])
    func `a row that does not fit is told by its table and its number`(
        statement: String, expected: String
    ) throws {
        let story = try CoreDataStory(statement + ";")

        let result = try story.importing()

        #expect(result.status == 2)
        #expect(
            result.talk == "error: A row does not fit the model.\n  \(expected)\n")
        #expect(!story.hasStore)
        let left = try FileManager.default.contentsOfDirectory(atPath: story.folder.url.path)
        #expect(!left.contains { $0.hasPrefix("new.daybook") }, "\(left)")
    }

    @Test(arguments: [
        (
            "UPDATE ACHANGE SET ZTRANSACTIONID = 99 WHERE Z_PK = 5",
            "Table ACHANGE, row 5: ZTRANSACTIONID does not lead to a row of table ATRANSACTION."
        ),
        (
            "UPDATE ACHANGE SET ZCHANGETYPE = 7 WHERE Z_PK = 5",
            "Table ACHANGE, row 5: It does not name an object, or is not an insert, update or delete."
        ),
        (
            "UPDATE ATRANSACTION SET ZTIMESTAMP = 'soon' WHERE Z_PK = 15;"
                + "DELETE FROM ACHANGE WHERE ZTRANSACTIONID = 15",
            "Table ATRANSACTION, row 15: ZTIMESTAMP is not a time."
        ),
        (
            "UPDATE ACHANGE SET ZCHANGETYPE = 2 WHERE Z_PK = 9",
            "Table ACHANGE, row 9: It deletes row 2 of table ZPARTY, which is there."
        ),
    ])
    func `a history that does not fit is told by its row`(
        statement: String, expected: String
    ) throws {
        let story = try CoreDataStory(CoreDataStory.history + statement + ";")

        let result = try story.importing()

        #expect(result.status == 2)
        #expect(result.talk.contains(expected), "\(result.talk)")
        #expect(try story.importing("--without-history").status == 0)
    }

    @Test func `values that must be unique are told by their rows`() throws {
        let story = try CoreDataStory("UPDATE ZDEPARTMENT SET ZNAME = 'R&D';")

        let result = try story.importing()

        #expect(result.status == 2)
        #expect(
            result.talk == """
                error: The objects break rules of the model.
                  Table ZDEPARTMENT, row 2: 'name' must be unique.

                """)
    }

    @Test func `data in files is asked for, and missing files are told`() throws {
        let story = try CoreDataStory()
        let words = ["import", "new.daybook", "old.sqlite", "-f", "coredata", "-m", "model.json"]

        let unnamed = try story.run(words)
        try FileManager.default.removeItem(at: story.folder.url.appending(path: ".old_SUPPORT"))
        let missing = try story.importing()

        #expect(
            unnamed.talk.contains(
                "row 3: 'Employee.photo' is kept in files: name it with '--external'."))
        #expect(missing.talk.contains("row 3: 'Employee.photo' is kept in the file "))
        #expect(missing.talk.contains("\(CoreDataStory.photo)', which cannot be read."))
    }

    @Test func `data that looks as if it could stand in files is warned of`() throws {
        let story = try CoreDataStory("UPDATE ZPARTY SET ZLOGO = x'0141' WHERE Z_PK = 1;")

        let result = try story.importing()

        #expect(result.status == 0)
        #expect(
            result.talk.hasPrefix(
                "warning: Every value of 'Organisation.logo' begins with the byte 1, "))
    }

    @Test(arguments: [
        ("nowhere.sqlite", "There is no file 'nowhere.sqlite'."),
        ("model.json", "'model.json' cannot be read: file is not a database."),
        ("empty.sqlite", "'empty.sqlite' is not a Core Data store: it has no tables"),
        (".", "'.' cannot be read: "),
    ])
    func `a file that is no Core Data store is told to be none`(
        name: String, expected: String
    ) throws {
        let story = try CoreDataStory()
        _ = try story.folder.makeFile("empty.sqlite")

        let result = try story.run(
            ["import", "new.daybook", name, "-f", "coredata", "-m", "model.json"])

        #expect(result.status == 2)
        #expect(result.talk.contains(expected), "\(result.talk)")
        #expect(!story.hasStore)
    }

    @Test func `a store that is there already is left as it is`() throws {
        let story = try CoreDataStory()
        try #require(try story.importing().status == 0)

        let again = try story.importing()

        #expect(again.status == 2)
        #expect(again.talk.contains("'new.daybook' exists already"), "\(again.talk)")
    }

    @Test(arguments: [
        (["old.sqlite", "-f", "coredata"], "'--format coredata' needs '--model MODEL'"),
        (["-f", "coredata", "-m", "model.json"], "'--format coredata' needs FILE"),
        (
            ["old.sqlite", "-f", "coredata", "-m", "model.json", "--batch", "3"],
            "'--batch' has no meaning with '--format coredata'."
        ),
        (
            ["-f", "csv", "-e", "Tag", "--without-history"],
            "'--without-history' has no meaning with '--format csv'."
        ),
    ])
    func `arguments that do not belong together are refused`(
        words: [String], expected: String
    ) throws {
        let story = try CoreDataStory()

        let result = try story.run(["import", "new.daybook"] + words)

        #expect(result.status == 2)
        #expect(result.talk.contains(expected), "\(result.talk)")
    }
}
