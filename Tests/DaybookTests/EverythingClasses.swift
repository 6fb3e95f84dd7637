// swift-format-ignore-file
import Daybook
import Foundation

class Base: ManagedObject {
    @Attribute(.indexed, default: Date(timeIntervalSinceReferenceDate: 86400.5), rules: [.minimum(Date(timeIntervalSinceReferenceDate: 0.0)), .maximum(Date(timeIntervalSinceReferenceDate: 978307200.0))])
    var stamp: Date?

    override class var isAbstractEntity: Bool { self == Base.self }
}

final class Thing: Base {
    @Attribute(rules: [.minimum(-9223372036854775808)]) var big: Int64? = -9223372036854775808
    @Attribute var blob: Data?
    @Attribute(rules: [.minimumLength(2), .maximumLength(8), .pattern("[A-Z]+")])
    var code: String = "x"
    @Attribute var flag: Bool? = true
    @Attribute(rules: [.maximum(0.3)]) var half: Float? = 0.1
    @Attribute(.unique) var identifier: UUID
    @Attribute var link: URL? = URL(string: "https://example.org/a?b=c&d")
    @Attribute var middle: Int32? = 2147483647
    @Attribute(rules: [.minimum(-1.5)]) var number: Double?
    @Attribute(rules: [.minimum(Decimal(string: "0.01"))])
    var price: Decimal? = Decimal(string: "12345678901234567890.123")
    @Transient var shown: String?
    @Attribute var small: Int16 = 7
    @Relationship(inverse: \Thing.second) var first: [Thing]
    @Relationship var fleeting: Thing?
    @Relationship var second: Set<Thing>

    override class var indexes: [IndexDescription] {
        super.indexes + [["big", "small"]]
    }
}
