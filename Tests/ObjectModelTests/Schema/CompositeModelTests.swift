import Testing

@testable import DaybookObjectModel

/// Attributes whose names are paths, as the elements of composite attributes.
@Suite struct CompositeModelTests {
    private static let text = """
        {
          "entities": [
            {
              "name": "Person",
              "attributes": [
                {"name": "name", "type": "string"},
                {"name": "home", "type": "composite", "elements": [\
        {"name": "street", "type": "string", "optional": false, "default": ""}, \
        {"name": "city", "type": "string", "indexed": true}, \
        {"name": "place", "type": "composite", "elements": [\
        {"name": "latitude", "type": "double", "minimum": -90.0}]}]}
              ]
            }
          ]
        }
        """

    private static let person = EntityDescription(
        name: "Person",
        attributes: [AttributeDescription(name: "name", type: .string)]
            + AttributeDescription.composite(
                "home",
                elements: [
                    AttributeDescription(
                        name: "street", type: .string, isOptional: false, defaultValue: .string("")),
                    AttributeDescription(name: "city", type: .string, isIndexed: true),
                ]
                    + AttributeDescription.composite(
                        "place",
                        elements: [
                            AttributeDescription(
                                name: "latitude", type: .double,
                                rules: AttributeRules(minimum: .double(-90)))
                        ])))

    private static let model = ManagedObjectModel(entities: [person])

    // MARK: - Model files

    @Test func `a model file nests the elements of a composite attribute`() throws {
        #expect(try ManagedObjectModel(json: Self.text) == Self.model)
        #expect(try ManagedObjectModel(json: Self.model.json(.pretty)) == Self.model)
        #expect(
            Self.model.json(.oneLine)
                == Self.text.replacing(/\n */, with: "").replacing(": ", with: ":")
                .replacing(", ", with: ","))
        #expect(Self.model.entities[0].compositeNames == ["home", "home.place"])
    }

    @Test func `the canonical form keeps elements apart and together`() throws {
        let version = try ModelVersion(first: Self.model)

        #expect(try ManagedObjectModel(canonicalBytes: Self.model.canonicalBytes) == version.model)
        #expect(
            version.model.entities[0].attributes.map(\.name)
                == ["home.city", "home.place.latitude", "home.street", "name"])
    }

    @Test(arguments: [
        (
            #"{"name":"home.city","type":"string"}"#,
            "entities[0].attributes[0].name: 'home.city' has a dot: declare 'home' with the type "
                + "'composite' and the rest of the name among its 'elements'."
        ),
        (
            #"{"name":"home","type":"composite"}"#,
            "entities[0].attributes[0].elements: is missing."
        ),
        (
            #"{"name":"home","type":"composite","elements":[]}"#,
            "entities[0].attributes[0].elements: at least one element was expected."
        ),
        (
            #"{"name":"home","type":"composite","elements":[{"name":"a","type":"string"}]},"#
                + #"{"name":"home","type":"composite","elements":[{"name":"b","type":"string"}]}"#,
            "entities[0].attributes[1].name: there are two composite attributes 'home'."
        ),
        (
            #"{"name":"home","type":"composite","elements":[{"name":"a","type":"sting"}]}"#,
            "entities[0].attributes[0].elements[0].type: 'sting' is not a type; did you mean 'string'?"
        ),
    ])
    func `a wrong model file is refused with the place`(attributes: String, problem: String) {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(
                json: #"{"entities":[{"name":"P","attributes":[\#(attributes)]}]}"#)
        }
        #expect(error?.problems == [problem])
    }

    @Test func `composite attributes nested without end are refused`() {
        var json = #"{"name":"a","type":"string"}"#
        for _ in 0..<40 { json = #"{"name":"a","type":"composite","elements":[\#(json)]}"# }
        #expect(throws: ModelError.self) {
            try ManagedObjectModel(json: #"{"entities":[{"name":"P","attributes":[\#(json)]}]}"#)
        }
    }

    // MARK: - Names

    @Test(arguments: [
        (
            "home",
            "'Child.home' is declared twice, once as a composite attribute: 'Person' has it already."
        ),
        (
            "home.zip",
            "'Child.home' is declared twice, once as a composite attribute: 'Person' has it already."
        ),
        (
            "name.first",
            "'Child.name' is declared twice, once as a composite attribute: 'Person' has it already."
        ),
        ("home..x", "'Child.home..x' has no usable name"),
        (".x", "'Child..x' has no usable name"),
        ("x.", "'Child.x.' has no usable name"),
        ("x.1", "'Child.x.1' has no usable name"),
    ])
    func `a name that clashes with a composite attribute is refused`(name: String, problem: String)
    {
        let child = EntityDescription(
            name: "Child", superentityName: "Person",
            attributes: [AttributeDescription(name: name, type: .string)])

        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(entities: [Self.person, child]).validate()
        }
        #expect(error?.problems.contains { $0.hasPrefix(problem) } == true, "\(error as Any)")
    }

    @Test func `a relationship cannot have the name of a composite attribute`() {
        var person = Self.person
        person.relationships = [
            RelationshipDescription(name: "home", destinationName: "Person")
        ]
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(entities: [person]).validate()
        }
        #expect(
            error?.problems
                == ["'Person.home' is declared twice, once as a composite attribute."])
    }

    @Test func `an element cannot be derived, but derived from`() throws {
        var person = Self.person
        person.attributes.append(
            AttributeDescription(
                name: "sorted", type: .string, derivation: Derivation("canonical:(home.city)")))
        try ManagedObjectModel(entities: [person]).validate()

        person.attributes.append(
            AttributeDescription(
                name: "home.sorted", type: .string, derivation: Derivation("canonical:(name)")))
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(entities: [person]).validate()
        }
        #expect(
            error?.problems == [
                "'Person.home.sorted' is an element of a composite attribute and so cannot be derived. "
                    + "Derive an attribute of its own from it."
            ])
    }

    // MARK: - Paths

    @Test func `a predicate names elements by their paths`() throws {
        let schema = try Schema(Self.model)
        let person = try #require(schema.entity(named: "Person"))
        for text in ["home.city == 'Bern'", "home.place.latitude > 46", "%K == 'Bern'"] {
            let filter = try Filter(
                parsing: text, for: person, in: schema,
                arguments: text.contains("%K") ? [.string("home.city")] : [])
            guard case .comparison(let comparison) = filter else {
                Issue.record("'\(text)' is no comparison")
                continue
            }
            #expect(comparison.left.property?.name.hasPrefix("home.") == true)
        }
    }

    @Test(arguments: [
        (
            "home == nil",
            "Column 1: 'home' is a composite attribute: name one of its elements, as in 'home.city'."
        ),
        (
            "home.place == 1",
            "Column 1: 'home.place' is a composite attribute: name one of its elements, as in "
                + "'home.place.latitude'."
        ),
        (
            "home.cty == 'x'",
            "Column 6: 'Person' has no property 'home.cty'; did you mean 'home.city'?"
        ),
        ("home.city.x == 'x'", "Column 11: 'home.city' is a value and has no properties."),
    ])
    func `a path that ends in no element is refused`(text: String, message: String) throws {
        let schema = try Schema(Self.model)
        let person = try #require(schema.entity(named: "Person"))
        let error = #expect(throws: QueryError.self) {
            try Filter(parsing: text, for: person, in: schema, arguments: [])
        }
        #expect(error?.description == message)
    }

    // MARK: - Evolution

    private func numbers(_ version: ModelVersion) -> [String: PropertyNumber] {
        version.entity(named: "Person")?.properties ?? [:]
    }

    @Test func `a composite attribute that is renamed keeps the numbers of its elements`() throws {
        let first = try ModelVersion(first: Self.model)
        var person = Self.person
        person.attributes =
            person.attributes.filter { !$0.name.hasPrefix("home.") }
            + person.attributes.filter { $0.name.hasPrefix("home.") }.map {
                var renamed = $0
                renamed.name = "address" + $0.name.dropFirst("home".count)
                return renamed
            }
        let model = ManagedObjectModel(entities: [person])
        var matching = ModelMatching()
        matching.properties["Person"] = ["address": "home"]

        let second = try first.evolved(to: model, in: 2, matching: matching)

        for element in ["city", "street", "place.latitude"] {
            #expect(
                numbers(second)["address.\(element)"] == numbers(first)["home.\(element)"])
            #expect(numbers(first)["home.\(element)"] != nil)
        }
    }

    @Test func `attributes become the elements of a composite attribute by their earlier names`()
        throws
    {
        let flat = EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "homeStreet", type: .string),
                AttributeDescription(name: "homeCity", type: .string, isIndexed: true),
            ])
        let first = try ModelVersion(first: ManagedObjectModel(entities: [flat]))
        let nested = try ManagedObjectModel(
            json: """
                {"entities":[{"name":"Person","attributes":[{"name":"home","type":"composite","elements":[
                {"name":"street","type":"string","renamingIdentifier":"homeStreet"},
                {"name":"city","type":"string","indexed":true,"renamingIdentifier":"homeCity"}]}]}]}
                """)

        let second = try first.evolved(to: nested, in: 2)

        #expect(numbers(second)["home.street"] == numbers(first)["homeStreet"])
        #expect(numbers(second)["home.city"] == numbers(first)["homeCity"])
        #expect(numbers(second).count == 2)
    }
}
