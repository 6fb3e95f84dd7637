import Daybook

// The same model as Fixtures/models/iso-codes.json, declared in code: a store opened with a model
// that differs would be refused with a list of the differences.

final class Country: ManagedObject {
    @Attribute(.unique) var code: String
    @Attribute([.indexed, .required]) var alpha2: String
    @Attribute([.indexed, .required]) var alpha3: String
    @Attribute var numeric: String?
    @Attribute([.indexed, .required]) var name: String
    @Attribute var officialName: String?
    @Attribute var commonName: String?
    @Attribute var flag: String?
    @Attribute var remark: String?
    @Relationship(.cascade, inverse: \Subdivision.country) var subdivisions: Set<Subdivision>
}

final class Subdivision: ManagedObject {
    @Attribute(.unique) var code: String
    @Attribute([.indexed, .required]) var name: String
    @Attribute([.indexed, .required]) var type: String
    @Relationship var country: Country?
    @Relationship(inverse: \Subdivision.children) var parent: Subdivision?
    @Relationship var children: Set<Subdivision>
}
