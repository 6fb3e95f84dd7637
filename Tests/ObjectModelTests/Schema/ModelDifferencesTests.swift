import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

@Suite struct ModelDifferencesTests {
    private func model(_ attribute: AttributeDescription) -> ManagedObjectModel {
        ManagedObjectModel(entities: [EntityDescription(name: "A", attributes: [attribute])])
    }

    private let plain = AttributeDescription(name: "x", type: .string)

    @Test func `the order of declaration makes no difference`() {
        var shuffled = Company.model
        shuffled.entities.reverse()
        for index in shuffled.entities.indices { shuffled.entities[index].attributes.reverse() }

        #expect(shuffled.differences(from: Company.model) == [])
    }

    @Test func `transient attributes make no difference`() {
        var changed = model(plain)
        changed.entities[0].attributes.append(
            AttributeDescription(name: "y", type: .bool, isTransient: true))

        #expect(changed.differences(from: model(plain)) == [])
    }

    @Test func `each change of an attribute is named`() {
        let changed = AttributeDescription(
            name: "x", type: .url, isOptional: false, isIndexed: true, isUnique: true)

        #expect(
            model(changed).differences(from: model(plain)) == [
                "'A.x' is of type url, but of type string in the store.",
                "'A.x' is mandatory, but optional in the store.",
                "'A.x' is unique, but not unique in the store.",
                "'A.x' is indexed, but not indexed in the store.",
            ])
    }

    @Test func `a mark that does not affect what is stored is not a difference`() {
        var marked = plain
        marked.isConfidential = true

        #expect(model(marked).differences(from: model(plain)).isEmpty)
        #expect(model(plain).differences(from: model(marked)).isEmpty)
    }

    @Test func `new and missing entities and properties are named`() {
        let other = AttributeDescription(name: "y", type: .string)
        var larger = model(plain)
        larger.entities.append(EntityDescription(name: "B"))

        #expect(
            model(other).differences(from: model(plain)) == [
                "'A.x' of the store is missing.", "'A.y' is not in the store.",
            ])
        #expect(larger.differences(from: model(plain)) == ["Entity 'B' is not in the store."])
        #expect(model(plain).differences(from: larger) == ["Entity 'B' of the store is missing."])
    }

    @Test func `each change of an entity and its relationships is named`() {
        var changed = Company.model
        changed.entities[1].isAbstract = true
        changed.entities[2].superentityName = nil
        changed.entities[3].relationships[0].deleteRule = .deny

        #expect(
            changed.differences(from: Company.model) == [
                "'Employee' is abstract, but concrete in the store.",
                "'Manager' is without a superentity, but a kind of 'Employee' in the store.",
                "'Tag.employees' is under the delete rule deny, but under the delete rule nullify in "
                    + "the store.",
            ])
    }
}
