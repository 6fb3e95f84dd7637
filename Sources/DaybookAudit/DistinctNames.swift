/// Makes names that are distinct in SQL.
///
/// SQLite ignores case in names. Of several that are the same to it, the first keeps its name and
/// the others get a number: `name`, `Name_2`. A name with a number never equals another original
/// name.
struct DistinctNames {
    private var taken: Set<String>

    /// - Parameter reserved: Names that must not be used.
    init(reserved: [String] = []) {
        taken = Set(reserved.map { $0.lowercased() })
    }

    /// Each name itself, or a similar one that is free.
    mutating func give(_ names: [String]) -> [String] {
        let areFree = names.map { taken.insert($0.lowercased()).inserted }
        return zip(names, areFree).map { name, isFree in isFree ? name : numbered(name) }
    }

    private mutating func numbered(_ name: String) -> String {
        var number = 2
        while !taken.insert("\(name)_\(number)".lowercased()).inserted { number += 1 }
        return "\(name)_\(number)"
    }
}
