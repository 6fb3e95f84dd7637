import Testing

@testable import DaybookObjectModel

/// What a model requires of every entry: in its file, in its bytes, and what is wrong with it.
@Suite struct AttributionRequirementTests {
    private static let text = """
        {"entities":[],"requires":["author","note",{"info":"device"},{"info":"request"}]}
        """

    @Test func `a model file lists what is required, and reads back`() throws {
        let model = try ManagedObjectModel(json: Self.text)

        #expect(model.requires == [.author, .note, .info("request"), .info("device")])
        #expect(model.json(.oneLine) == Self.text)
        #expect(try ManagedObjectModel(canonicalBytes: model.canonicalBytes) == model)
    }

    @Test func `a model without requirements has the bytes that it had`() throws {
        let model = try ManagedObjectModel(json: #"{"entities":[],"requires":[]}"#)

        #expect(model.canonicalBytes == [1, 0])
        #expect(!model.json(.oneLine).contains("requires"))
    }

    @Test(arguments: [
        (#""author""#, "requires: a list was expected"),
        (#"["owner"]"#, #"requires[0]: "author", "note" or {"info": KEY} was expected."#),
        (#"[{"info":7}]"#, "requires[0].info: text was expected"),
        (#"[{"infos":"a"}]"#, "'infos' is not known here"),
        (#"["note","note"]"#, "requires[1]: a note is required already."),
    ])
    func `mistakes in a model file are told with their location`(list: String, said: String) {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(json: "{\"entities\":[],\"requires\":\(list)}")
        }

        #expect(error?.description.contains(said) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: ["", "a=b", "a\u{7}", String(repeating: "x", count: 129)])
    func `a key that no entry can have is not required`(key: String) {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(requires: [.info(key)]).validate()
        }

        #expect(error?.problems.count == 1)
        #expect(error?.description.contains("cannot require information by the key") == true)
    }

    @Test(
        arguments: [
            [2, 16, 0, 0], [2, 16, 0, 1, 3], [2, 16, 0, 2, 1, 0], [2, 16, 0, 2, 0, 0],
            [2, 16, 0, 1, 2],
            [2, 128, 0, 1, 0],
        ] as [[UInt8]])
    func `only the canonical bytes are read`(bytes: [UInt8]) {
        #expect(throws: DecodingFailure.self) { try ManagedObjectModel(canonicalBytes: bytes) }
    }
}
