import Foundation
import Testing

@testable import DaybookObjectModel

/// Merge strategies in models: validity and coding.
@Suite struct MergeModelTests {
    private static func model(_ attributes: [AttributeDescription]) -> ManagedObjectModel {
        ManagedObjectModel(entities: [EntityDescription(name: "Thing", attributes: attributes)])
    }

    @Test(arguments: MergeStrategy.allCases)
    func `a strategy goes only with the types that it can merge`(strategy: MergeStrategy) {
        let numbers: Set<AttributeType> = [.int16, .int32, .int64, .float, .double, .decimal]
        let suitable: Set<AttributeType> =
            switch strategy {
            case .sum: numbers
            case .maximum, .minimum: numbers.union([.date])
            case .union: [.codable]
            case .text: [.string]
            }
        for type in AttributeType.allCases {
            let model = Self.model([
                AttributeDescription(name: "value", type: type, merge: strategy)
            ])
            guard !suitable.contains(type) else {
                #expect(throws: Never.self, "\(type)") { try model.validate() }
                continue
            }
            let error = #expect(throws: ModelError.self, "\(type)") { try model.validate() }
            #expect(
                error?.problems.first?.hasPrefix(
                    "'Thing.value' is of type '\(type.rawValue)' and merged by "
                        + "'\(strategy.rawValue)', but only ") == true)
        }
    }

    @Test func `unique and transient attributes do not merge`() {
        let unique = AttributeDescription(name: "a", type: .int64, isUnique: true, merge: .sum)
        let transient = AttributeDescription(
            name: "b", type: .int64, isTransient: true, merge: .maximum)
        let part = AttributeDescription(name: "c", type: .int64, merge: .minimum)
        var model = Self.model([unique, transient, part])
        model.entities[0].uniquenessConstraints = [["c"]]

        let error = #expect(throws: ModelError.self) { try model.validate() }

        #expect(
            error?.problems == [
                "'Thing.a' is unique and merged by 'sum': what two sides merge to may belong to "
                    + "another object. Leave out one of the two.",
                "'Thing.b' is transient and merged by 'maximum', but its values are never "
                    + "saved.",
                "A uniqueness constraint of 'Thing' names 'c', which is merged by 'minimum': what "
                    + "two sides merge to may belong to another object. Leave out one of the two.",
            ])
    }

    @Test func `a model keeps its strategies in bytes and in files`() throws {
        let model = Self.model([
            AttributeDescription(
                name: "balance", type: .decimal, isOptional: false, isConfidential: true,
                defaultValue: .decimal(0), rules: AttributeRules(minimum: .decimal(0)), merge: .sum),
            AttributeDescription(name: "best", type: .int32, merge: .maximum),
            AttributeDescription(name: "marks", type: .codable, merge: .union, isSet: true),
            AttributeDescription(name: "name", type: .string, isIndexed: true, merge: .text),
            AttributeDescription(name: "plain", type: .string),
            AttributeDescription(name: "seen", type: .date, merge: .minimum),
            AttributeDescription(name: "tags", type: .codable, merge: .union),
        ])

        #expect(try ManagedObjectModel(canonicalBytes: model.canonicalBytes) == model)
        #expect(try ManagedObjectModel(json: model.json(.pretty)) == model)
        let text = model.json(.oneLine)
        #expect(text.contains(#""name":"best","type":"int32","merge":"maximum""#))
        #expect(text.contains(#""name":"marks","type":"codable","set":true,"merge":"union""#))
    }

    @Test func `the error for an unknown strategy in a file lists the known ones`() {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(
                json: """
                    {"entities":[{"name":"A","attributes":[
                    {"name":"a","type":"int64","merge":"sun"},
                    {"name":"b","type":"int64","merge":"crdt"}]}]}
                    """)
        }
        #expect(
            error?.problems == [
                "entities[0].attributes[0].merge: 'sun' is not a merge strategy; did you mean 'sum'?",
                "entities[0].attributes[1].merge: 'crdt' is not a merge strategy; there are 'sum', "
                    + "'maximum', 'minimum', 'union', 'text'.",
            ])
    }

    @Test func `an array and a set are different models, and only coded values are sets`() {
        let array = Self.model([AttributeDescription(name: "a", type: .codable)])
        let set = Self.model([AttributeDescription(name: "a", type: .codable, isSet: true)])
        #expect(
            set.differences(from: array) == ["'Thing.a' is a set, but not a set in the store."])
        #expect(set.differences(from: set).isEmpty)

        let error = #expect(throws: ModelError.self) {
            try Schema(
                Self.model([AttributeDescription(name: "a", type: .string, isSet: true)]))
        }
        #expect(
            error?.problems == [
                "'Thing.a' is of type 'string' and declared as a set, but only coded values can be sets."
            ])
    }

    @Test func `two programs that merge in different ways do not share a store`() {
        let plain = Self.model([AttributeDescription(name: "a", type: .int64)])
        let summed = Self.model([AttributeDescription(name: "a", type: .int64, merge: .sum)])
        #expect(
            summed.differences(from: plain)
                == ["'Thing.a' is merged by sum, but without a merge strategy in the store."])
        #expect(summed.differences(from: summed).isEmpty)
    }
}
