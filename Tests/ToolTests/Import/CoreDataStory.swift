import DaybookSQLite
import DaybookTestSupport
import Foundation
import Testing

/// A store as Core Data lays it out, `old.sqlite`, and its model, made from statements.
///
/// The layout is the one that "Moving from Core Data" tells: two tables of entities without
/// sub-entities, one of a family of four, a table of pairs with an order, and on request a history.
struct CoreDataStory {
    let folder: ScratchFolder
    private let database: Connection

    static let model = """
        {"entities":[
         {"name":"Department","attributes":[
           {"name":"name","type":"string","optional":false,"unique":true},
           {"name":"budget","type":"decimal"},{"name":"founded","type":"date"}],
          "relationships":[
           {"name":"staff","destination":"Employee","toMany":true,"ordered":true,
            "inverse":"department"},
           {"name":"head","destination":"Employee","inverse":"heads"}]},
         {"name":"Party","abstract":true,"attributes":[{"name":"note","type":"string"}]},
         {"name":"Organisation","superentity":"Party","attributes":[
           {"name":"title","type":"string"},{"name":"logo","type":"data"}]},
         {"name":"Person","superentity":"Party","attributes":[
           {"name":"name","type":"string","optional":false},{"name":"active","type":"bool"},
           {"name":"identifier","type":"uuid"},{"name":"photo","type":"data"},
           {"name":"site","type":"url"},{"name":"rating","type":"float"},
           {"name":"small","type":"int16"}],
          "relationships":[
           {"name":"boss","destination":"Person","inverse":"reports"},
           {"name":"reports","destination":"Person","toMany":true,"inverse":"boss"},
           {"name":"tags","destination":"Tag","toMany":true,"ordered":true,"inverse":"people"}]},
         {"name":"Employee","superentity":"Person","attributes":[
           {"name":"salary","type":"decimal"},{"name":"title","type":"string"}],
          "relationships":[
           {"name":"department","destination":"Department","inverse":"staff"},
           {"name":"heads","destination":"Department","inverse":"head"}]},
         {"name":"Tag","attributes":[{"name":"label","type":"string"}],
          "relationships":[
           {"name":"people","destination":"Person","toMany":true,"inverse":"tags"}]}]}
        """

    private static let layout = """
        CREATE TABLE Z_PRIMARYKEY
          (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        INSERT INTO Z_METADATA VALUES (1, '6B1D2C1A-0001-4B7E-9B6B-6D2C1A000001', NULL);
        INSERT INTO Z_PRIMARYKEY VALUES (1, 'Department', 0, 2), (2, 'Party', 0, 4),
          (3, 'Organisation', 2, 0), (4, 'Person', 2, 0), (5, 'Employee', 4, 0), (6, 'Tag', 0, 2);
        CREATE TABLE ZDEPARTMENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZHEAD INTEGER, ZFOUNDED TIMESTAMP, ZBUDGET DECIMAL, ZNAME VARCHAR);
        CREATE TABLE ZPARTY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZACTIVE INTEGER, ZSMALL INTEGER, ZBOSS INTEGER, Z4_BOSS INTEGER, ZDEPARTMENT INTEGER,
          Z_FOK_DEPARTMENT INTEGER, ZHEADS INTEGER, ZRATING FLOAT, ZSALARY DECIMAL, ZNOTE VARCHAR,
          ZTITLE VARCHAR, ZNAME VARCHAR, ZSITE VARCHAR, ZTITLE1 VARCHAR, ZLOGO BLOB,
          ZIDENTIFIER BLOB, ZPHOTO BLOB);
        CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLABEL VARCHAR);
        CREATE TABLE Z_4TAGS (Z_4PEOPLE INTEGER, Z_6TAGS INTEGER, Z_FOK_6TAGS INTEGER,
          PRIMARY KEY (Z_4PEOPLE, Z_6TAGS));
        """

    /// The name of the file with Bob's photo.
    static let photo = "443E58F4-ABDE-417D-AA50-963A3A34B87A"

    private static let rows = """
        INSERT INTO ZDEPARTMENT VALUES (1, 1, 1, 3, 0.5, 12.5, 'R&D'),
          (2, 1, 1, NULL, 86400, 0.1, 'Sales');
        INSERT INTO ZPARTY (Z_PK, Z_ENT, Z_OPT, ZNOTE, ZTITLE, ZLOGO)
          VALUES (1, 3, 1, 'supplier', 'Acme', x'0203');
        INSERT INTO ZPARTY (Z_PK, Z_ENT, Z_OPT, ZNAME, ZACTIVE, ZSMALL, ZRATING, ZSITE, ZIDENTIFIER,
          ZPHOTO) VALUES (2, 4, 3, 'Ada', 1, -3, 1.5, 'https://example.org/ada',
          x'E621E1F8C36C495A93FC0C247A3E6E5F', x'016869');
        INSERT INTO ZPARTY (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBOSS, Z4_BOSS, ZDEPARTMENT,
          Z_FOK_DEPARTMENT, ZHEADS, ZSALARY, ZTITLE1, ZPHOTO)
          VALUES (3, 5, 1, 'Bob', 2, 4, 1, 2048, 1, 1000, 'Chief',
          CAST(x'02' || '\(photo)' || x'00' AS BLOB));
        INSERT INTO ZPARTY (Z_PK, Z_ENT, Z_OPT, ZNAME, ZBOSS, Z4_BOSS, ZDEPARTMENT,
          Z_FOK_DEPARTMENT) VALUES (4, 5, 1, 'Cy', 3, 5, 1, 1024);
        INSERT INTO ZTAG VALUES (1, 6, 1, 'x'), (2, 6, 1, 'y');
        INSERT INTO Z_4TAGS VALUES (2, 2, 1), (2, 1, 2), (3, 1, 1);
        """

    /// A history that begins after the organisation and the tags were made.
    static let history = """
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER,
          ZCOLUMNS BLOB);
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER,
          ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR,
          ZPROCESSID VARCHAR, ZQUERYGEN BLOB);
        CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZNAME VARCHAR);
        INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 11), (16002, 'TRANSACTION', 0, 15),
          (16003, 'TRANSACTIONSTRING', 0, 3);
        INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app'), (2, 16003, 1, 'sync'),
          (3, 16003, 1, 'main');
        INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZCONTEXTNAMETS, ZTIMESTAMP, ZAUTHOR)
          VALUES (10, 16002, 1, 3, 100, NULL), (11, 16002, NULL, NULL, 200.25, 'direct'),
          (12, 16002, 2, NULL, 300, NULL), (13, 16002, NULL, NULL, 400, NULL),
          (15, 16002, 1, NULL, 500, NULL);
        INSERT INTO ACHANGE VALUES
          (1, 16001, 1, 0, 1, 1, 10, NULL), (2, 16001, 1, 0, 4, 2, 10, NULL),
          (3, 16001, 1, 0, 5, 3, 11, NULL), (4, 16001, 1, 1, 1, 1, 11, x'20'),
          (5, 16001, 1, 0, 1, 2, 12, NULL), (6, 16001, 1, 0, 5, 4, 12, NULL),
          (7, 16001, 1, 1, 4, 2, 12, x'1200'), (8, 16001, 1, 2, 4, 9, 12, NULL),
          (9, 16001, 1, 1, 4, 2, 13, x'0200'), (10, 16001, 1, 2, 6, 7, 15, NULL);
        """

    /// Makes the store, and carries out statements after the rows are there.
    init(_ statements: String = "") throws {
        folder = try ScratchFolder()
        try Data(Self.model.utf8).write(to: folder.url.appending(path: "model.json"))
        let support = folder.url.appending(path: ".old_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
        try Data("a large photo".utf8).write(to: support.appending(path: Self.photo))
        database = try Connection(path: folder.makeFile("old.sqlite").path)
        try database.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        try database.run(Self.layout + Self.rows + statements)
    }

    /// Carries out statements after the story has been made.
    func run(_ statements: String) throws {
        try database.run(statements)
    }

    /// Runs the tool in the folder.
    func run(_ words: [String], input: String = "") throws -> ToolResult {
        try Tool.run(words, input: Data(input.utf8), in: folder.url)
    }

    /// Imports the store into `new.daybook`.
    func importing(_ options: String...) throws -> ToolResult {
        try run(
            [
                "import", "new.daybook", "old.sqlite", "-f", "coredata", "-m", "model.json",
                "--external", "Person.photo",
            ] + options)
    }

    /// What is in the new store, without the names of objects: what they are called instead.
    func fetch(_ entity: String) throws -> [String] {
        try run(["fetch", "new.daybook", entity, "--output", "jsonl"]).lines
    }

    var hasStore: Bool {
        FileManager.default.fileExists(atPath: folder.url.appending(path: "new.daybook").path)
    }
}
