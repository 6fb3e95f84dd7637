import DaybookObjectModel
import Foundation

// A predicate may hold only `Codable` values, so identifiers are codable.

extension ManagedObjectID: Codable {
    private enum CodingKeys: String, CodingKey {
        case store, entity, entityNumber, number, isTemporary
    }

    /// Decodes an identifier. Whether there is such an object, and such an entity, shows when it is
    /// used: an identifier that does not fit the model leads nowhere.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let number = try values.decode(UInt64.self, forKey: .number)
        guard number > 0, number < Self.numberLimit else {
            throw DecodingError.dataCorruptedError(
                forKey: .number, in: values,
                debugDescription: "No object has the number \(number).")
        }
        let entity = try values.decode(UInt32.self, forKey: .entityNumber)
        self.init(
            IdentifierGroup(
                storeIdentifier: try values.decode(UUID.self, forKey: .store),
                entity: EntityNumber(rawValue: entity),
                entityName: try values.decode(String.self, forKey: .entity),
                isTemporary: try values.decode(Bool.self, forKey: .isTemporary), isDecoded: true),
            number: number)
    }

    /// Encodes the identifier: the store, the entity and the object's number.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(storeIdentifier, forKey: .store)
        try values.encode(entityName, forKey: .entity)
        try values.encode(object.entity.rawValue, forKey: .entityNumber)
        try values.encode(object.number, forKey: .number)
        try values.encode(isTemporaryID, forKey: .isTemporary)
    }
}
