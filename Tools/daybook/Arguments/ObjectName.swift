/// An object as a command line names it: `Country/17`, or one property of it: `Country/17.name`.
struct ObjectName: Equatable, Sendable {
    let entity: String
    let number: UInt64
    let property: String?

    init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/") else { return nil }
        let rest = text[text.index(after: slash)...]
        let digits = rest.prefix { $0 != "." }
        guard slash > text.startIndex, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = UInt64(digits), number > 0
        else { return nil }
        let tail = rest.dropFirst(digits.count)
        guard tail.isEmpty || tail.count > 1 else { return nil }
        entity = String(text[..<slash])
        self.number = number
        property = tail.isEmpty ? nil : String(tail.dropFirst())
    }
}

/// The subject of a question: all objects of an entity (`Country`), or one object (`Country/17`).
enum SubjectName: Equatable, Sendable {
    case entity(String)
    case object(ObjectName)

    init?(_ text: String) {
        if let object = ObjectName(text) {
            guard object.property == nil else { return nil }
            self = .object(object)
        } else {
            guard !text.isEmpty, !text.contains("/") else { return nil }
            self = .entity(text)
        }
    }
}
