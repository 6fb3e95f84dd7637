import Testing

@testable import DaybookObjectModel

/// What a model indexes entries by: in its file, in its bytes, in the steps to another, and what is wrong with it.
@Suite struct IndexedAttributionTests {
    private static let text = """
        {"entities":[],"requires":["author"],"indexesEntries":["author",{"info":"device"},\
        {"info":"request"}]}
        """

    @Test func `a model file lists what entries are indexed by, and reads back`() throws {
        let model = try ManagedObjectModel(json: Self.text)

        #expect(model.indexesEntries == [.author, .info("request"), .info("device")])
        #expect(model.json(.oneLine) == Self.text)
        #expect(try ManagedObjectModel(canonicalBytes: model.canonicalBytes) == model)
    }

    @Test func `a model without an index of entries has the bytes that it had`() throws {
        let model = try ManagedObjectModel(json: #"{"entities":[],"indexesEntries":[]}"#)

        #expect(model.canonicalBytes == [1, 0])
        #expect(!model.json(.oneLine).contains("indexesEntries"))
    }

    @Test func `what entries are indexed by stands at the end of a model of its own form`() {
        let model = ManagedObjectModel(indexesEntries: [.info("a"), .author])

        #expect(model.canonicalBytes == [3, 0, 0, 2, 0, 1, 1, 97])
    }

    @Test(arguments: [
        (#""author""#, "indexesEntries: a list was expected"),
        (#"["note"]"#, #"indexesEntries[0]: "author" or {"info": KEY} was expected."#),
        (#"[{"info":7}]"#, "indexesEntries[0].info: text was expected"),
        (#"[{"infos":"a"}]"#, "'infos' is not known here"),
        (
            #"["author","author"]"#,
            "indexesEntries[1]: entries are indexed by author already."
        ),
    ])
    func `mistakes in a model file are told with their location`(list: String, said: String) {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(json: "{\"entities\":[],\"indexesEntries\":\(list)}")
        }

        #expect(error?.description.contains(said) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: ["", "a=b", "a\u{7}", String(repeating: "x", count: 129)])
    func `entries are not indexed by a key that none can have`(key: String) {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(indexesEntries: [.info(key)]).validate()
        }

        #expect(error?.problems.count == 1)
        #expect(error?.description.contains("cannot index entries by the key") == true)
    }

    @Test func `entries are not indexed by more keys than one can have`() {
        let keys = (0...64).map { IndexedAttribution.info("k\($0)") }

        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(indexesEntries: Set(keys)).validate()
        }

        #expect(
            error?.problems == ["The model indexes entries by 65 things; there can be at most 64."])
    }

    @Test(
        arguments: [
            // None, twice, out of order, of another kind, cut short, and of an unknown form.
            [3, 0, 0, 0], [3, 0, 0, 2, 0, 0], [3, 0, 0, 2, 1, 1, 97, 0], [3, 0, 0, 1, 2],
            [3, 0, 0, 1, 1, 2, 97], [3, 0, 0], [4, 0, 0, 1, 0],
        ] as [[UInt8]])
    func `only the canonical bytes are read`(bytes: [UInt8]) {
        #expect(throws: DecodingFailure.self) { try ManagedObjectModel(canonicalBytes: bytes) }
    }

    @Test func `to begin and to end an index of entries are compatible steps`() throws {
        var before = ManagedObjectModel(
            entities: [EntityDescription(name: "A")],
            indexesEntries: [.author, .info("device")])
        let version = try ModelVersion(first: before)
        before.indexesEntries = [.author, .info("request")]
        let next = try version.evolved(to: before, in: 2)

        let steps = Schema(next).steps(from: Schema(version))

        #expect(
            steps.map(\.description) == [
                "drop the index of entries by the information \"device\"",
                "index entries by the information \"request\"",
            ])
        #expect(steps.map(\.kind) == [.dropIndex, .addIndex])
        #expect(steps.map(\.isCompatible) == [true, true])
        #expect(try ModelVersion(canonicalBytes: next.canonicalBytes) == next)
    }

    @Test func `models that index entries by something else differ`() {
        let ours = ManagedObjectModel(indexesEntries: [.author])
        let stored = ManagedObjectModel(indexesEntries: [.info("request")])

        #expect(
            ours.differences(from: stored) == [
                "Entries are indexed by author, but not in the store.",
                "Entries are not indexed by the information \"request\", but are in the store.",
            ])
    }
}
