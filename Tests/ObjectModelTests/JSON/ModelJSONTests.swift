import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct ModelJSONTests {
    private static let countries = """
        {"entities":[
         {"name":"Country","attributes":[
            {"name":"alpha2","type":"string","optional":false,"unique":true},
            {"name":"name","type":"string","optional":false,"indexed":true},
            {"name":"flag","type":"string"}],
          "relationships":[{"name":"subdivisions","destination":"Subdivision","toMany":true,\
        "inverse":"country","deleteRule":"cascade"}]},
         {"name":"Subdivision","attributes":[{"name":"code","type":"string","optional":false,\
        "unique":true},{"name":"name","type":"string"}],
          "relationships":[{"name":"country","destination":"Country","inverse":"subdivisions",\
        "deleteRule":"nullify"}]}]}
        """

    @Test func `a model file describes the model and may leave out defaults`() throws {
        let model = try ManagedObjectModel(json: Self.countries)

        #expect(
            model
                == ManagedObjectModel(entities: [
                    EntityDescription(
                        name: "Country",
                        attributes: [
                            AttributeDescription(
                                name: "alpha2", type: .string, isOptional: false, isUnique: true),
                            AttributeDescription(
                                name: "name", type: .string, isOptional: false, isIndexed: true),
                            AttributeDescription(name: "flag", type: .string),
                        ],
                        relationships: [
                            RelationshipDescription(
                                name: "subdivisions", destinationName: "Subdivision",
                                inverseName: "country", isToMany: true, deleteRule: .cascade)
                        ]),
                    EntityDescription(
                        name: "Subdivision",
                        attributes: [
                            AttributeDescription(
                                name: "code", type: .string, isOptional: false, isUnique: true),
                            AttributeDescription(name: "name", type: .string),
                        ],
                        relationships: [
                            RelationshipDescription(
                                name: "country", destinationName: "Country",
                                inverseName: "subdivisions")
                        ]),
                ]))
    }

    @Test func `a model is printed without its defaults`() throws {
        let model = try ManagedObjectModel(json: Self.countries)

        #expect(
            model.json(.pretty) == """
                {
                  "entities": [
                    {
                      "name": "Country",
                      "attributes": [
                        {"name": "alpha2", "type": "string", "optional": false, "unique": true},
                        {"name": "name", "type": "string", "optional": false, "indexed": true},
                        {"name": "flag", "type": "string"}
                      ],
                      "relationships": [
                        {"name": "subdivisions", "destination": "Subdivision", "toMany": true, \
                "inverse": "country", "deleteRule": "cascade"}
                      ]
                    },
                    {
                      "name": "Subdivision",
                      "attributes": [
                        {"name": "code", "type": "string", "optional": false, "unique": true},
                        {"name": "name", "type": "string"}
                      ],
                      "relationships": [
                        {"name": "country", "destination": "Country", "inverse": "subdivisions"}
                      ]
                    }
                  ]
                }
                """)
    }

    @Test(arguments: [JSONLayout.oneLine, .pretty])
    func `a printed model reads back as the same one`(layout: JSONLayout) throws {
        var model = Company.model
        model.entities.append(
            EntityDescription(
                name: "Everything", superentityName: "Tag", isAbstract: true,
                attributes: AttributeType.allCases.map { type in
                    var random = SeededGenerator(seed: 7)
                    return AttributeDescription(
                        name: "a\(type.rawValue)", type: type, isOptional: false,
                        isTransient: type == .codable, isIndexed: type != .codable,
                        defaultValue: Value.random(type, using: &random))
                },
                relationships: [
                    RelationshipDescription(
                        name: "all", destinationName: "Tag", isToMany: true, isOrdered: true,
                        isOptional: false, deleteRule: .deny, minimumCount: 1, maximumCount: 9)
                ]))

        #expect(try ManagedObjectModel(json: model.json(layout)) == model)
    }

    @Test(
        arguments: [
            ("[", "The model is not JSON: line 1, column 2: a value was expected, not the end."),
            ("[]", "model: an object was expected, not a list."),
            ("{}", "entities: is missing."),
            ("{\"entities\":{}}", "entities: a list was expected, not an object."),
            ("{\"entities\":[{}]}", "entities[0].name: is missing."),
            (
                "{\"entities\":[{\"name\":\"A\",\"atributes\":[]}]}",
                "entities[0]: 'atributes' is not known here; did you mean 'attributes'?"
            ),
            (
                "{\"entities\":[{\"name\":\"A\"},{\"name\":\"B\",\"attributes\":"
                    + "[{\"name\":\"x\",\"type\":\"strin\"}]}]}",
                "entities[1].attributes[0].type: 'strin' is not a type; did you mean 'string'?"
            ),
            (
                "{\"entities\":[{\"name\":\"A\",\"attributes\":[{\"name\":\"x\"}]}]}",
                "entities[0].attributes[0].type: is missing."
            ),
            (
                "{\"entities\":[{\"name\":\"A\",\"attributes\":[{\"name\":\"x\",\"type\":\"int16\","
                    + "\"optional\":1,\"default\":70000}]}]}",
                "entities[0].attributes[0].optional: true or false was expected, not the number 1. "
                    + "entities[0].attributes[0].default: It holds 16-bit integers, from -32768 to 32767."
            ),
            (
                "{\"entities\":[{\"name\":\"A\",\"relationships\":[{\"name\":\"x\","
                    + "\"destination\":\"A\",\"deleteRule\":\"delete\",\"maxCount\":-1}]}]}",
                "entities[0].relationships[0].deleteRule: 'delete' is not a delete rule; there are "
                    + "'nullify', 'cascade', 'deny', 'noAction'. "
                    + "entities[0].relationships[0].maxCount: an integer from 0 was expected, not "
                    + "the number -1."
            ),
        ])
    func `every mistake in a model file is reported with its location`(
        text: String, message: String
    ) {
        let error = #expect(throws: ModelError.self) { try ManagedObjectModel(json: text) }

        #expect(error?.description == message)
    }
}
