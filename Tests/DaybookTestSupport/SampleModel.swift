package import DaybookObjectModel

extension ManagedObjectModel {
    /// A small model with one of everything: inheritance, unique and indexed attributes, stored and
    /// derived sides, ordered and unordered to-many relationships, and one without inverse.
    package static let sample = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Party", isAbstract: true,
            attributes: [
                AttributeDescription(name: "code", type: .string, isUnique: true),
                AttributeDescription(name: "name", type: .string, isIndexed: true),
            ]),
        EntityDescription(
            name: "Person", superentityName: "Party",
            attributes: [
                AttributeDescription(name: "age", type: .int32, isIndexed: true),
                AttributeDescription(name: "score", type: .double),
            ],
            relationships: [
                RelationshipDescription(
                    name: "employer", destinationName: "Company", inverseName: "employees"),
                RelationshipDescription(
                    name: "friend", destinationName: "Person"),
                RelationshipDescription(
                    name: "skills", destinationName: "Skill", inverseName: "people",
                    isToMany: true),
            ]),
        EntityDescription(
            name: "Company", superentityName: "Party",
            attributes: [AttributeDescription(name: "founded", type: .date)],
            relationships: [
                RelationshipDescription(
                    name: "employees", destinationName: "Person", inverseName: "employer",
                    isToMany: true),
                RelationshipDescription(
                    name: "board", destinationName: "Person", isToMany: true, isOrdered: true),
            ]),
        EntityDescription(
            name: "Skill",
            attributes: [
                AttributeDescription(name: "title", type: .string, isOptional: false)
            ],
            relationships: [
                RelationshipDescription(
                    name: "people", destinationName: "Person", inverseName: "skills",
                    isToMany: true)
            ]),
    ])
}
