// swift-format-ignore-file
import Daybook
import Foundation

class AnyCollection: ManagedObject {
    @Attribute var title: String?
    @Relationship var folder: GLFolder?

    override class var isAbstractEntity: Bool { self == AnyCollection.self }
}

final class GLFolder: AnyCollection {
    @Relationship(.cascade, inverse: \AnyCollection.folder) var parts: Set<AnyCollection>

    override class var entityName: String { "Folder" }
}

final class GLGame: ManagedObject {
    @Attribute var digest: Data?
    @Attribute var height: Float? = 0.0
    @Attribute(rules: [.minimum(0)]) var index: Int16?
    @Attribute(rules: [.minimum(0), .maximum(5)]) var rating: Int16? = 0
    @Attribute([.indexed, .required]) var title: String
    @Relationship(.cascade, inverse: \Picture.Box) var cover: Picture?

    override class var entityName: String { "Game" }
}

final class Picture: ManagedObject {
    @Relationship var Box: GLGame?
}

final class GLSmartCollection: AnyCollection {
    @Attribute var ascending: Bool = true
    @Attribute var limit: Int64?

    override class var entityName: String { "SmartCollection" }
}
