extension MergeConflict: CustomStringConvertible {
    /// One sentence that names the object, the property and the entry that made "theirs", with its
    /// author and time, and no value:
    ///
    /// ```
    /// 'salary' of Employee/3 was changed by both sides; theirs is entry 7 by 'bob' at 2024-01-02T12:09:00Z.
    /// ```
    ///
    /// The values are in ``base``, ``theirs`` and ``ours``.
    public var description: String {
        let name = objectName ?? object.description
        let subject = propertyName.map { "'\($0)' of \(name)" } ?? name
        let claim =
            switch kind {
            case .value: "\(subject) was changed by both sides"
            case .deletedByThem: "\(subject) was changed here and the object deleted by others"
            case .deletedByUs: "\(subject) was changed by others and the object deleted here"
            case .reference: "\(subject) and an object it refers to no longer fit together"
            }
        return origin.map { "\(claim); theirs is \($0)." } ?? claim + "."
    }

    /// The same conflict with the names of its object and its property.
    package func named(in schema: Schema) -> MergeConflict {
        var named = self
        named.objectName = schema.name(of: object)
        named.propertyName = property.flatMap { schema.entity(object.entity)?.property($0)?.name }
        return named
    }
}

extension MergeConflict.Origin: CustomStringConvertible {
    /// `entry 7 by 'bob' at 2024-01-02T12:09:00Z`.
    package var description: String {
        ReadableText.entry(entry, by: author, at: DateText.text(microseconds: time))
    }
}

extension Sequence<MergeConflict> {
    /// The same conflicts with the names of their objects and properties.
    package func named(in schema: Schema) -> [MergeConflict] { map { $0.named(in: schema) } }
}
