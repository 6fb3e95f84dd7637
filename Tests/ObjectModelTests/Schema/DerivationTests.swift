import Testing

@testable import DaybookObjectModel

@Suite struct DerivationTests {
    private static let expressions: [(String, Derivation)] = [
        ("employees.@count", .count(relationship: "employees")),
        (
            "employees.salary.@sum",
            .aggregate(.sum, attribute: "salary", relationship: "employees")
        ),
        (
            "employees.born.@min",
            .aggregate(.minimum, attribute: "born", relationship: "employees")
        ),
        (
            "employees.born.@max",
            .aggregate(.maximum, attribute: "born", relationship: "employees")
        ),
        (
            "employees.home.rent.@sum",
            .aggregate(.sum, attribute: "home.rent", relationship: "employees")
        ),
        ("canonical:(name)", .text(.canonical, attribute: "name")),
        ("canonical:(home.city)", .text(.canonical, attribute: "home.city")),
        ("lowercase:(name)", .text(.lowercase, attribute: "name")),
        ("uppercase:(name)", .text(.uppercase, attribute: "name")),
    ]

    @Test(arguments: expressions)
    func `an expression is read and written in one form`(text: String, meaning: Derivation) {
        #expect(Derivation(text) == meaning)
        #expect(meaning.description == text)
    }

    @Test func `an aggregate may stand before its attribute`() {
        #expect(
            Derivation("employees.@sum.salary")
                == .aggregate(.sum, attribute: "salary", relationship: "employees"))
    }

    @Test(arguments: [
        "", "name", "@count", "a.@count.b", "a.b.@count", "a.@sum", "a..c.@sum", "a.b.@avg",
        "@sum.a.b", "now()", "canonical:name", "canonical:()", "canonical:(a.)", "trim:(name)",
        "a..@count", "a.@count.@count",
    ])
    func `nothing can be derived from anything else`(text: String) {
        #expect(Derivation(text) == nil)
    }

    @Test func `a canonical text has no case and no diacritics`() {
        #expect(
            Derivation.TextForm.canonical.text("Éclair STRASSE straße") == "eclair strasse strasse")
        #expect(Derivation.TextForm.lowercase.text("Éa") == "éa")
        #expect(Derivation.TextForm.uppercase.text("éß") == "ÉSS")
    }

    // MARK: - Models

    /// A department with one derived attribute, and its employees.
    private func model(
        _ derived: AttributeDescription, salary: AttributeDescription? = nil
    ) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                name: "Department",
                attributes: [
                    AttributeDescription(name: "name", type: .string),
                    AttributeDescription(name: "scratch", type: .string, isTransient: true),
                    AttributeDescription(
                        name: "other", type: .string,
                        derivation: .text(.lowercase, attribute: "name")), derived,
                ],
                relationships: [
                    RelationshipDescription(
                        name: "employees", destinationName: "Employee",
                        inverseName: "department", isToMany: true),
                    RelationshipDescription(name: "head", destinationName: "Employee"),
                ]),
            EntityDescription(
                name: "Employee",
                attributes: [
                    salary ?? AttributeDescription(name: "salary", type: .int64),
                    AttributeDescription(name: "isHere", type: .bool),
                ],
                relationships: [
                    RelationshipDescription(
                        name: "department", destinationName: "Department",
                        inverseName: "employees")
                ]),
        ])
    }

    private func problems(
        _ expression: String, _ type: AttributeType, salary: AttributeDescription? = nil,
        _ change: (inout AttributeDescription) -> Void = { _ in }
    ) throws -> [String] {
        var derived = AttributeDescription(
            name: "found", type: type, derivation: Derivation(expression))
        change(&derived)
        do {
            try model(derived, salary: salary).validate()
            return []
        } catch {
            return error.problems
        }
    }

    @Test func `what fits is a model`() throws {
        #expect(try problems("employees.@count", .int16).isEmpty)
        #expect(try problems("employees.salary.@sum", .int32).isEmpty)
        #expect(try problems("employees.salary.@min", .int64).isEmpty)
        #expect(try problems("canonical:(name)", .string).isEmpty)
        #expect(
            try problems("employees.@count", .int64) {
                ($0.isOptional, $0.defaultValue, $0.isIndexed) = (false, .int(0), true)
            }.isEmpty)
    }

    @Test(arguments: [
        ("staff.@count", AttributeType.int64, "'staff', which is not a relationship"),
        ("head.@count", .int64, "'head', which is not a to-many relationship"),
        ("employees.@count", .string, "must be of an integer type"),
        ("employees.wage.@sum", .int64, "'wage', which is not an attribute of 'Employee'"),
        ("employees.salary.@sum", .double, "cannot be derived from 'salary' of type 'int64'"),
        ("employees.isHere.@max", .bool, "cannot be derived from 'isHere'"),
        ("canonical:(scratch)", .string, "'scratch', which is not an attribute"),
        ("canonical:(other)", .string, "'other', which is not an attribute"),
        ("canonical:(name)", .data, "cannot be derived from 'name' of type 'string'"),
    ])
    func `what does not fit is refused by name`(
        expression: String, type: AttributeType, message: String
    ) throws {
        let found = try problems(expression, type)
        #expect(found.count == 1)
        #expect(found.first?.contains(message) == true, "\(found)")
        #expect(found.first?.hasPrefix("'Department.found' ") == true, "\(found)")
    }

    @Test func `what is derived cannot be what only values that are set can be`() throws {
        #expect(try !problems("employees.@count", .int64) { $0.isUnique = true }.isEmpty)
        #expect(try !problems("employees.@count", .int64) { $0.isTransient = true }.isEmpty)
        #expect(try !problems("employees.@count", .int64) { $0.merge = .sum }.isEmpty)
        #expect(try !problems("employees.@count", .int64) { $0.rules.minimum = .int(1) }.isEmpty)
        #expect(try !problems("employees.@count", .int64) { $0.isOptional = false }.isEmpty)
        let needed = try problems("employees.salary.@min", .int64) {
            ($0.isOptional, $0.defaultValue) = (false, .int(0))
        }
        #expect(needed.first?.contains("must be optional") == true)
    }

    @Test func `what is derived from something confidential is confidential`() throws {
        let salary = AttributeDescription(name: "salary", type: .int64, isConfidential: true)

        #expect(try problems("employees.salary.@sum", .int64, salary: salary).count == 1)
        #expect(
            try problems("employees.salary.@sum", .int64, salary: salary) {
                $0.isConfidential = true
            }.isEmpty)
        #expect(try problems("employees.@count", .int64, salary: salary).isEmpty)
    }

    @Test func `a model file and the bytes of a model keep the derivation`() throws {
        let derived = AttributeDescription(
            name: "found", type: .int64, derivation: Derivation("employees.salary.@sum"))
        let model = model(derived).persistent

        let text = model.json(.pretty)

        #expect(text.contains("\"derived\": \"employees.salary.@sum\""))
        #expect(try ManagedObjectModel(json: text) == model)
        #expect(try ManagedObjectModel(canonicalBytes: model.canonicalBytes) == model.canonical)
    }

    @Test func `the bytes of a model without derived attributes are as before there were any`() {
        let plain = ManagedObjectModel(entities: [
            EntityDescription(
                name: "A", attributes: [AttributeDescription(name: "b", type: .string)])
        ])
        #expect(plain.canonicalBytes.first == 1)
        var noted = plain
        noted.entities[0].userInfo = ["a": "b"]
        #expect(Array(noted.canonicalBytes.prefix(2)) == [2, 4])
    }

    @Test func `a model file with another expression is told what there is`() throws {
        let text = """
            {"entities":[{"name":"A","attributes":[{"name":"b","type":"int64","derived":"c.@avg"}]}]}
            """
        #expect {
            try ManagedObjectModel(json: text)
        } throws: { error in
            "\(error)".contains("'c.@avg' is not an expression") && "\(error)".contains("@count")
        }
    }
}
