extension ConstraintConflict: CustomStringConvertible {
    /// Who wants a value that another object has: a sentence for each object, without values.
    ///
    /// ```
    /// 'isbn' of Book/7 must be unique, and Book/3 has the same value.
    /// ```
    public var description: String { lines.joined(separator: " ") }

    /// The sentences of the description, one for each object.
    package var lines: [String] {
        let quoted = properties.map { "'\($0)'" }
        let isSingle = quoted.count == 1
        let subject =
            quoted.dropLast().joined(separator: ", ") + (isSingle ? "" : " and ")
            + (quoted.last ?? "")
        let holder = owner ?? objects[0]
        return objects.filter { $0 != holder }.map { object in
            "\(subject) of \(name(of: object)) must be unique\(isSingle ? "" : " together"), and "
                + "\(name(of: holder)) has the same value\(isSingle ? "" : "s")."
        }
    }

    /// The name of one of the objects, such as `Book/7`.
    private func name(of object: ObjectID) -> String { names[object] ?? object.description }

    /// The same clash with the names of its objects.
    package func named(in schema: Schema) -> ConstraintConflict {
        var named = self
        for object in objects + (owner.map { [$0] } ?? []) {
            named.names[object] = schema.name(of: object)
        }
        return named
    }
}
