import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

/// Indexes over several properties in a model: what they may be of, and how they are kept.
struct IndexDescriptionTests {
    private static func orders(_ indexes: [IndexDescription]) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                name: "Customer",
                relationships: [
                    RelationshipDescription(
                        name: "orders", destinationName: "Order", inverseName: "customer",
                        isToMany: true),
                    RelationshipDescription(
                        name: "ranked", destinationName: "Order", inverseName: "ranker",
                        isToMany: true, isOrdered: true),
                    RelationshipDescription(
                        name: "favourite", destinationName: "Order", inverseName: "admirer"),
                ]),
            EntityDescription(
                name: "Document",
                attributes: [AttributeDescription(name: "number", type: .int64)]),
            EntityDescription(
                name: "Order", superentityName: "Document",
                attributes: [
                    AttributeDescription(name: "placedOn", type: .date),
                    AttributeDescription(name: "shown", type: .string, isTransient: true),
                    AttributeDescription(name: "details", type: .codable),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "customer", destinationName: "Customer", inverseName: "orders"),
                    RelationshipDescription(
                        name: "ranker", destinationName: "Customer", inverseName: "ranked"),
                    RelationshipDescription(
                        name: "admirer", destinationName: "Customer", inverseName: "favourite"),
                    RelationshipDescription(name: "reference", destinationName: "Document"),
                ], indexes: indexes),
        ])
    }

    @Test(
        arguments: [
            (["number"], "has no second property: mark a single attribute as indexed."),
            (["number", "placedOn", .descending("number")], "names a property twice."),
            (
                ["number", "shown"],
                "names 'shown', whose values cannot be indexed: it is transient."
            ),
            (
                ["details", "number"],
                "names 'details', whose values cannot be indexed: it holds coded values."
            ),
            (["number", "ranker"], "names 'ranker', which is neither an attribute nor"),
            (["number", "admirer"], "names 'admirer', which is neither an attribute nor"),
            (["number", "nothing"], "names 'nothing', which is neither an attribute nor"),
        ] as [(IndexDescription, String)])
    func `an index is refused that no row has the values of`(
        index: IndexDescription, problem: String
    ) throws {
        let error = #expect(throws: ModelError.self) { try Self.orders([index]).validate() }

        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.contains(problem) == true, "\(error?.problems ?? [])")
    }

    @Test func `an index may have inherited attributes and to-one relationships`() throws {
        let model = Self.orders([["customer", .descending("placedOn")], ["reference", "number"]])

        let schema = try Schema(model)

        let order = try #require(schema.entity(named: "Order"))
        #expect(
            order.indexes.map(\.text) == [
                "'customer', 'placedOn' (descending)", "'reference', 'number'",
            ])
        #expect(order.indexes.map(\.number.rawValue) == [1 << 31, 1 << 31 + 1])
        #expect(schema.entity(named: "Document")?.indexes.isEmpty == true)
    }

    @Test func `a model keeps its indexes in bytes and in JSON, whatever their order`() throws {
        let model = Self.orders([["reference", "number"], ["customer", .descending("placedOn")]])
        let same = Self.orders([
            ["customer", .descending("placedOn")], ["reference", "number"],
            ["customer", .descending("placedOn")],
        ])

        #expect(model.canonicalBytes == same.canonicalBytes)
        #expect(try ManagedObjectModel(canonicalBytes: model.canonicalBytes) == model.canonical)
        let json = model.json(.oneLine)
        #expect(
            json.contains(
                #""indexes":[["reference","number"],["customer",{"descending":"placedOn"}]]"#))
        #expect(try ManagedObjectModel(json: json) == model)
        #expect(Self.orders([]).canonicalBytes != model.canonicalBytes)
    }

    @Test(
        arguments: [
            (#"["a"]"#, "a list was expected"), (#"[[1, "b"]]"#, "the name of a property"),
            (#"[[{"ascending": "b"}, "a"]]"#, "ascending"),
            (#"[[{"descending": 3}, "a"]]"#, "descending"),
        ])
    func `what is no index in a model file is named`(indexes: String, problem: String) {
        let json = #"{"entities": [{"name": "A", "indexes": \#(indexes)}]}"#

        let error = #expect(throws: ModelError.self) { try ManagedObjectModel(json: json) }

        #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
    }

    // MARK: - Versions

    private func version(
        _ indexes: [IndexDescription], after old: ModelVersion? = nil
    ) throws -> ModelVersion {
        let model = Self.orders(indexes)
        return try old?.evolved(to: model, in: 2) ?? ModelVersion(first: model)
    }

    private func number(_ index: IndexDescription, in version: ModelVersion) -> UInt32? {
        version.entity(named: "Order")?.indexes[index]
    }

    @Test func `an index keeps its number, and another direction is another index`() throws {
        let kept: IndexDescription = ["customer", "placedOn"]
        let turned: IndexDescription = ["customer", .descending("placedOn")]
        let first = try version([kept])

        let second = try version([turned, kept], after: first)

        #expect(number(kept, in: second) == number(kept, in: first))
        #expect(number(turned, in: second) == UInt32(2_147_483_649))
        #expect(try ModelVersion(canonicalBytes: second.canonicalBytes) == second)
        let back = second.reverted(to: first)
        #expect(back.model == first.model)
        #expect(number(turned, in: back) == nil)
        let third = try version([turned], after: back)
        #expect(number(turned, in: third) == UInt32(2_147_483_650))
    }

    @Test func `a renamed property stays in its index`() throws {
        let first = try version([["customer", "placedOn"]])
        var model = Self.orders([["customer", "orderedOn"]])
        let place = try #require(model.entities.firstIndex { $0.name == "Order" })
        model.entities[place].attributes[0].name = "orderedOn"
        model.entities[place].attributes[0].renamingIdentifier = "placedOn"

        let second = try first.evolved(to: model, in: 2)

        #expect(number(["customer", "orderedOn"], in: second) == 1 << 31)
        let steps = Schema(second).steps(from: Schema(first))
        #expect(steps.map(\.kind) == [.renameProperty])
    }

    @Test func `adding and dropping an index are steps that older programs go along with`() throws {
        let first = try version([["customer", "placedOn"]])
        let second = try version([["reference", .descending("number")]], after: first)

        let steps = Schema(second).steps(from: Schema(first))

        #expect(
            steps.map(\.description) == [
                "drop the index of 'Order' by 'customer', 'placedOn'",
                "index 'Order' by 'reference', 'number' (descending)",
            ])
        #expect(steps.map(\.kind) == [.dropIndex, .addIndex])
        #expect(steps.map(\.isCompatible) == [true, true])
    }

    @Test func `models with other indexes differ`() {
        let ours = Self.orders([["customer", .descending("placedOn")]])

        #expect(
            ours.differences(from: Self.orders([])) == [
                "'Order' is indexed by ('customer', 'placedOn' (descending)), but without an index over "
                    + "several properties in the store."
            ])
    }
}
