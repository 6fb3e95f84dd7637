import DaybookObjectModel

extension ManagedObject: CustomDebugStringConvertible {
    /// The object for `print` and a debugger: its name, what the next save does with it, and the attributes
    /// that have a value.
    ///
    /// ```
    /// Employee/3 (updated): lastName: "Lovelace", salary: 5200
    /// Employee/4 (fault)
    /// ```
    ///
    /// Nothing is read for it, so a fault stays one. Enumerations are shown as they are stored, and of
    /// confidential values only that they are there. A class that wants another text conforms to
    /// `CustomStringConvertible`.
    public var debugDescription: String {
        let states = statesInWords
        let heading = lastingID.description + (states.isEmpty ? "" : " (\(states))")
        let shown = status.isFault ? [] : shownAttributes
        return shown.isEmpty ? heading : heading + ": " + shown.joined(separator: ", ")
    }

    private var statesInWords: String {
        var words: [String] = []
        if status.isFault { words.append("fault") }
        if isDeleted {
            words.append("deleted")
        } else if isInserted {
            words.append("inserted")
        } else if isUpdated {
            words.append("updated")
        }
        if managedObjectContext == nil { words.append("without context") }
        return words.joined(separator: ", ")
    }

    private var shownAttributes: [String] {
        binding.schema.properties.compactMap { property in
            guard let attribute = property.attribute, let slot = property.slot else { return nil }
            let value = value(inSlot: slot)
            guard !value.isNull else { return nil }
            let text = value.text(isCoded: attribute.type == .codable, naming: \.description)
            return "\(property.name): \(attribute.isConfidential ? "…" : text)"
        }
    }
}
