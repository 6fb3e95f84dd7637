/// Gives out names that SQL tells apart.
///
/// SQLite makes no difference between small letters and capitals in names. Of several that are one
/// for it, the first keeps its name and the others get a number: `name`, `Name_2`.
struct DistinctNames {
    private var taken: Set<String>

    /// - Parameter reserved: What nothing may be called.
    init(reserved: [String] = []) {
        taken = Set(reserved.map { $0.lowercased() })
    }

    /// The name, or one like it that nobody has.
    mutating func give(_ name: String) -> String {
        var given = name
        var number = 2
        while !taken.insert(given.lowercased()).inserted {
            given = "\(name)_\(number)"
            number += 1
        }
        return given
    }
}
