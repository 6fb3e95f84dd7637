/// Gives out names that SQL tells apart.
///
/// SQLite makes no difference between small letters and capitals in names. Of several that are one
/// for it, the first keeps its name and the others get a number: `name`, `Name_2`. A number makes no
/// name that another has by itself.
struct DistinctNames {
    private var taken: Set<String>

    /// - Parameter reserved: What nothing may be called.
    init(reserved: [String] = []) {
        taken = Set(reserved.map { $0.lowercased() })
    }

    /// For each name itself, or one like it that nobody has.
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
