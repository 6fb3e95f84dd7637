import DaybookDigest
package import Foundation

/// A place in the order of a query, as text that a program hands out and takes back.
///
/// It names the store and the order that it belongs to, so that it is not used with another one, and has
/// a check against damage. It is no secret: who has it can read the keys of the object in it.
///
/// | bytes | what |
/// |---|---|
/// | 1 | the version of this form, 1 |
/// | 8 | the order: the first bytes of a digest |
/// | 17 | the store, as a value |
/// | 1–10 | the entry that was read |
/// | | the object, the number of keys, the keys, as in an entry |
/// | 4 | the first bytes of the digest of all that |
package struct PlaceToken: Sendable, Hashable {
    /// What the order of a query is recognised by.
    package let order: UInt64
    /// The store of the object.
    package let store: UUID
    /// The entry after which the place was read.
    package let sequence: UInt64
    /// The place.
    package let place: QueryPlace

    private static let version: UInt8 = 1
    private static let checkSize = 4
    /// Longer texts are refused unread: keys are values to sort by.
    private static let byteCountMaximum = 1 << 20

    /// Makes a token.
    package init(order: UInt64, store: UUID, sequence: UInt64, place: QueryPlace) {
        self.order = order
        self.store = store
        self.sequence = sequence
        self.place = place
    }

    /// Reads what ``text`` has written; nil for anything else.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.byteCountMaximum, let data = Self.data(text) else {
            return nil
        }
        let bytes = [UInt8](data)
        let end = bytes.count - Self.checkSize
        guard end > 0, Self.check(bytes[..<end]) == Array(bytes[end...]),
            let token = try? PlaceToken(bytes: Array(bytes[..<end])), token.text == text
        else { return nil }
        self = token
    }

    private init(bytes: [UInt8]) throws(DecodingFailure) {
        let span = bytes.span.bytes
        var offset = 0
        guard try span.readByte(at: &offset) == Self.version else {
            throw DecodingFailure(at: 0, expected: "a known version")
        }
        order = try span.readBigEndian(UInt64.self, at: &offset)
        guard case .uuid(let store) = try span.readValue(at: &offset) else {
            throw DecodingFailure(at: offset, expected: "a store")
        }
        self.store = store
        sequence = try span.readVariable(at: &offset)
        let object = try span.readObjectID(at: &offset)
        var keys: [Value] = []
        for _ in 0..<(try span.readCount(at: &offset)) {
            keys.append(try span.readValue(at: &offset))
        }
        guard offset == bytes.count else {
            throw DecodingFailure(at: offset, expected: "the end")
        }
        place = QueryPlace(keys: keys, object: object)
    }

    /// The text: letters, digits, `-` and `_`.
    package var text: String {
        var writer = ByteWriter()
        writer.append(Self.version)
        writer.append(bigEndian: order)
        writer.append(Value.uuid(store))
        writer.append(variable: sequence)
        writer.append(place.object)
        writer.append(variable: UInt64(place.keys.count))
        for key in place.keys { writer.append(key) }
        let bytes = writer.bytes
        return Data(bytes + Self.check(bytes[...])).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func data(_ text: String) -> Data? {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(
            base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
    }

    private static func check(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(Digest.of(Array(bytes)).bytes.prefix(checkSize))
    }
}

extension Query {
    /// What its order is recognised by, whatever its condition, limits and direction.
    package var orderMark: UInt64 {
        var writer = ByteWriter()
        writer.append(variable: UInt64(entity.number.rawValue))
        writer.append(includesSubentities ? 1 : 0)
        let query = descendsAmongEquals ? reversed : self
        for sorting in query.sortings {
            writer.append(variable: UInt64(sorting.path.steps.count))
            for step in sorting.path.steps { writer.append(variable: UInt64(step.number.rawValue)) }
            writer.append(sorting.isAscending ? 1 : 0)
            writer.append(variable: UInt64(sorting.options.rawValue))
        }
        return Digest.of(writer.bytes).bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The place of a token of this order.
    ///
    /// - Throws: ``QueryError`` when the token was made for another order.
    package func place(of token: PlaceToken) throws(QueryError) -> QueryPlace {
        guard token.order == orderMark, token.place.keys.count == sortings.count else {
            throw QueryError(
                "The cursor belongs to another request: to another entity, or another order. Ask for "
                    + "the first page of this one, and go on with the cursor that comes with it.")
        }
        return token.place
    }

    /// A place in this order, as a token.
    ///
    /// - Throws: ``QueryError`` when a key is too large for one.
    package func token(
        for place: QueryPlace, inStore store: UUID, readAt sequence: UInt64
    ) throws(QueryError) -> PlaceToken {
        for key in place.keys {
            if case .large = key {
                throw QueryError(
                    "Objects cannot be paged by large data. Sort them by another attribute.")
            }
        }
        return PlaceToken(order: orderMark, store: store, sequence: sequence, place: place)
    }
}
