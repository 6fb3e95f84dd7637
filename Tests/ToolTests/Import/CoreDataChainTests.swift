import DaybookSQLite
import DaybookTestSupport
import Foundation
import Testing

/// Objects of a Core Data store that must refer to others.
@Suite struct CoreDataChainTests {
    private static let count = 200

    private static let model = """
        {"entities":[{"name":"Node","attributes":[{"name":"name","type":"string"}],
         "relationships":[{"name":"next","destination":"Node","optional":false}]}]}
        """

    private static let layout = """
        CREATE TABLE Z_PRIMARYKEY
          (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        INSERT INTO Z_METADATA VALUES (1, '6B1D2C1A-0001-4B7E-9B6B-6D2C1A000001', NULL);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Node', 0, \(count)), (16001, 'CHANGE', 0, \(count)),
          (16002, 'TRANSACTION', 0, 3), (16003, 'TRANSACTIONSTRING', 0, 0);
        CREATE TABLE ZNODE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNEXT INTEGER,
          ZNAME VARCHAR);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER,
          ZCOLUMNS BLOB);
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER,
          ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR,
          ZPROCESSID VARCHAR, ZQUERYGEN BLOB);
        CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZNAME VARCHAR);
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR)
          VALUES (1, 16002, 100, 'a'), (2, 16002, 200, 'b'), (3, 16002, 300, 'c');
        """

    /// Each refers to the next, and the last to itself. The last is inserted in the second transaction, and
    /// the others, but for one that refers to itself, in the first.
    @Test func `an object waits for all that it must refer to, through however many others`()
        throws
    {
        let folder = try ScratchFolder()
        try Data(Self.model.utf8).write(to: folder.url.appending(path: "model.json"))
        let rows = (1...Self.count).map { number in
            let next = number == 1 ? 1 : min(number + 1, Self.count)
            return "INSERT INTO ZNODE VALUES (\(number), 1, 1, \(next), 'node \(number)');"
                + "INSERT INTO ACHANGE VALUES (\(number), 16001, 1, 0, 1, \(number), "
                + "\(number == Self.count ? 2 : 1), NULL);"
        }
        let database = try Connection(path: folder.makeFile("chain.sqlite").path)
        try database.run(Self.layout + rows.joined())
        try database.close()

        let result = try Tool.run(
            ["import", "new.daybook", "chain.sqlite", "-f", "coredata", "-m", "model.json"],
            in: folder.url)

        #expect(result.status == 0, "\(result.talk)")
        let counts = try (2...3).map { entry in
            try Tool.run(
                ["fetch", "new.daybook", "Node", "--count", "--at", "\(entry)"], in: folder.url
            ).text
        }
        #expect(counts == ["1\n", "\(Self.count)\n"], "\(result.text)")
        #expect(try Tool.run(["verify", "new.daybook"], in: folder.url).status == 0)
    }
}
