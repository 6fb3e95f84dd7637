// swift-format-ignore-file
import Daybook
import Foundation

struct Position: CompositeAttribute {
    var latitude: Double = 0.0
    var longitude: Double = 0.0

    static let elements: [CompositeElement<Position>] = [
        CompositeElement(\.latitude),
        CompositeElement(\.longitude),
    ]
}

struct Address: CompositeAttribute {
    var city: String?
    var floor: Int16 = 1
    var place = Position()
    var street: String = ""

    static let elements: [CompositeElement<Address>] = [
        CompositeElement(\.city, .indexed),
        CompositeElement(\.floor, rules: [.minimum(-5)]),
        CompositeElement(\.place),
        CompositeElement(\.street, .required, rules: [.maximumLength(80)]),
    ]
}

struct PositionValue: CompositeAttribute {
    var latitude: Double? = 0.0
    var longitude: Double? = 0.0

    static let elements: [CompositeElement<PositionValue>] = [
        CompositeElement(\.latitude),
        CompositeElement(\.longitude),
    ]
}

struct AddressValue: CompositeAttribute {
    var city: String?
    var floor: Int16 = 1
    var place = Position()
    var street: String = ""

    static let elements: [CompositeElement<AddressValue>] = [
        CompositeElement(\.city),
        CompositeElement(\.floor, rules: [.minimum(-5)]),
        CompositeElement(\.place),
        CompositeElement(\.street, .required, rules: [.maximumLength(80)]),
    ]
}

final class Guest: ManagedObject {
    @Composite var home: Address
    @Attribute var name: String = ""
    @Composite var seat: PositionValue
    @Composite(gathering: ["city": "office.city", "floor": "office.floor", "place.latitude": "office.place.latitude", "place.longitude": "office.place.longitude", "street": "office.street"])
    var work: AddressValue
}
