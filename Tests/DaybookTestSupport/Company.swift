package import DaybookObjectModel
internal import Foundation

/// A small company in a dictionary, for the query tests.
package struct Company: FilterSource {
    package let schema: Schema
    package let employee: SchemaEntity
    package let department: SchemaEntity
    package var values: [ObjectID: [String: Value]] = [:]
    package var employees: [ObjectID] = []
    package var departments: [ObjectID] = []

    package static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Department",
            attributes: [
                AttributeDescription(name: "name", type: .string, isUnique: true),
                AttributeDescription(name: "founded", type: .date, isIndexed: true),
            ],
            relationships: [
                RelationshipDescription(
                    name: "employees", destinationName: "Employee", inverseName: "department",
                    isToMany: true)
            ]),
        EntityDescription(
            name: "Employee",
            attributes: [
                AttributeDescription(name: "firstName", type: .string),
                AttributeDescription(name: "lastName", type: .string, isIndexed: true),
                AttributeDescription(name: "email", type: .string, isUnique: true),
                AttributeDescription(name: "salary", type: .decimal),
                AttributeDescription(name: "rating", type: .double, isIndexed: true),
                AttributeDescription(name: "age", type: .int16, isIndexed: true),
                AttributeDescription(name: "isActive", type: .bool),
                AttributeDescription(name: "badge", type: .uuid),
                AttributeDescription(name: "hired", type: .date),
                AttributeDescription(name: "photo", type: .data),
                AttributeDescription(name: "home", type: .url),
                AttributeDescription(name: "in", type: .string),
            ],
            relationships: [
                RelationshipDescription(
                    name: "department", destinationName: "Department", inverseName: "employees"),
                RelationshipDescription(
                    name: "tags", destinationName: "Tag", inverseName: "employees", isToMany: true),
                RelationshipDescription(
                    name: "mentor", destinationName: "Employee", inverseName: "pupil"),
                RelationshipDescription(
                    name: "pupil", destinationName: "Employee", inverseName: "mentor"),
            ]),
        EntityDescription(name: "Manager", superentityName: "Employee"),
        EntityDescription(
            name: "Tag", attributes: [AttributeDescription(name: "word", type: .string)],
            relationships: [
                RelationshipDescription(
                    name: "employees", destinationName: "Employee", inverseName: "tags",
                    isToMany: true)
            ]),
    ])

    package init() throws {
        schema = try Schema(Self.model)
        employee = try Self.entity("Employee", of: schema)
        department = try Self.entity("Department", of: schema)
    }

    package struct Missing: Error {
        let name: String
    }

    package static func entity(_ name: String, of schema: Schema) throws -> SchemaEntity {
        guard let entity = schema.entity(named: name) else { throw Missing(name: name) }
        return entity
    }

    /// Ada, Alan, Grace, Léa and Nobody (who has no values) in two departments and one empty one.
    package static func peopled() throws -> Company {
        var company = try Company()
        func object(_ entity: SchemaEntity, _ number: UInt64) -> Value {
            .object(ObjectID(entity: entity.number, number: number))
        }
        func add(_ entity: SchemaEntity, _ number: UInt64, _ values: [String: Value]) {
            let id = ObjectID(entity: entity.number, number: number)
            company.values[id] = values
            if entity.name == "Department" {
                company.departments.append(id)
            } else {
                company.employees.append(id)
            }
        }
        let employee = company.employee
        let department = company.department
        add(department, 1, ["name": .string("R&D")])
        add(department, 2, ["name": .string("Sales")])
        add(department, 3, ["name": .string("Empty")])
        add(
            employee, 11,
            [
                "firstName": .string("Ada"), "lastName": .string("Lovelace"),
                "salary": .decimal(100), "rating": .double(4.5), "age": .int(36),
                "isActive": .bool(true), "department": object(department, 1),
            ])
        add(
            employee, 12,
            [
                "firstName": .string("Alan"), "lastName": .string("Turing"),
                "salary": .decimal(90), "rating": .double(3), "age": .int(41),
                "isActive": .bool(false), "department": object(department, 1),
                "mentor": object(employee, 11),
            ])
        add(
            try entity("Manager", of: company.schema), 13,
            [
                "firstName": .string("Grace"), "lastName": .string("Hopper"),
                "salary": .decimal(120), "age": .int(85), "department": object(department, 2),
            ])
        add(employee, 14, ["firstName": .string("Léa"), "lastName": .string("straße")])
        add(employee, 15, [:])
        return company
    }

    package func value(of property: SchemaProperty, in object: ObjectID) throws -> Value {
        values[object]?[property.name] ?? .null
    }

    package func members(of property: SchemaProperty, in object: ObjectID) throws -> [ObjectID] {
        let inverse: String
        switch property.name {
        case "employees": inverse = "department"
        case "pupil": inverse = "mentor"
        default: return []
        }
        return values.filter { $0.value[inverse] == .object(object) }.keys.sorted()
    }

    /// The company has no past.
    package func holds(_ question: FilterPast, of object: ObjectID) -> Bool { false }

    package func filter(
        _ text: String, _ entity: SchemaEntity? = nil, _ arguments: [Value] = []
    ) throws -> Filter {
        try Filter(
            parsing: text, for: entity ?? employee, in: schema, arguments: arguments)
    }

    /// The first names of the employees found.
    package func found(_ text: String, _ arguments: [Value] = []) throws -> [String] {
        let filter = try filter(text, nil, arguments)
        return try employees.filter { try filter.matches($0, in: self) }.map {
            if case .string(let name)? = values[$0]?["firstName"] { name } else { "Nobody" }
        }
    }

    /// The names of the departments found.
    package func foundDepartments(_ text: String) throws -> [String] {
        let filter = try filter(text, department)
        return try departments.filter { try filter.matches($0, in: self) }.map {
            if case .string(let name)? = values[$0]?["name"] { name } else { "" }
        }
    }
}
