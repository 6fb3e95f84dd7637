import DaybookObjectModel

/// What one property of a record holds.
enum Cell: Equatable, CustomStringConvertible {
    case value(Value)
    case one(ObjectID?)
    case many([ObjectID])

    var destinations: [ObjectID] {
        switch self {
        case .value: []
        case .one(let id): id.map { [$0] } ?? []
        case .many(let ids): ids
        }
    }

    init(_ ids: [ObjectID], _ kind: Field.Kind) {
        switch kind {
        case .toOne: self = .one(ids.first)
        case .toMany: self = .many(ids.sorted())
        default: self = .many(ids)
        }
    }

    func removing(_ id: ObjectID) -> Cell {
        switch self {
        case .value: self
        case .one(let other): .one(other == id ? nil : other)
        case .many(let ids): .many(ids.filter { $0 != id })
        }
    }

    var description: String {
        switch self {
        case .value(let value): "\(value)"
        case .one(let id): id.map { "\($0)" } ?? "none"
        case .many(let ids): "\(ids)"
        }
    }
}

/// The stored properties of an object by name.
typealias Record = [String: Cell]
/// All objects at one time.
typealias World = [ObjectID: Record]

/// The rules of the graph on plain dictionaries, found by asking all objects.
struct ReferenceOffice {
    /// The name of an object's entity.
    let entity: (ObjectID) -> String

    func fields(_ id: ObjectID) -> [Field] { Office.fields[entity(id)] ?? [] }

    static func empty(_ entity: String) -> Record {
        var record: Record = [:]
        for field in Office.fields[entity] ?? [] where field.isStored {
            switch field.kind {
            case .text: record[field.name] = .value(entity == "Team" ? .null : .string(""))
            case .number: record[field.name] = .value(entity == "Team" ? .int(0) : .null)
            case .sum: record[field.name] = .value(.int(0))
            case .toOne: record[field.name] = .one(nil)
            case .toMany, .list: record[field.name] = .many([])
            }
        }
        return record
    }

    /// What a property leads to, whichever side holds it.
    func related(_ id: ObjectID, _ field: Field, in world: World) -> [ObjectID] {
        if field.isStored { return world[id]?[field.name]?.destinations ?? [] }
        guard let inverse = field.inverse else { return [] }
        return world.filter { other, record in
            entity(other) == field.destination
                && record[inverse]?.destinations.contains(id) == true
        }.keys.sorted()
    }

    /// What a property leads to as a context shows it: the record here and, at the other side, what
    /// was read of it.
    typealias Shown = (ObjectID, Field) -> [ObjectID]

    /// Makes a property lead to some objects. The other side follows by the difference from what the
    /// property showed; who holds what only one may hold is who that shows.
    func relate(
        _ id: ObjectID, _ field: Field, to targets: [ObjectID], in world: inout World,
        shown: Shown
    ) {
        let inverse = field.inverse.map { Office.field(field.destination, $0) }
        guard !field.isStored else {
            if let inverse, inverse.kind == .toOne {
                let had = world[id]?[field.name]?.destinations ?? []
                for target in targets where !had.contains(target) {
                    for other in shown(target, inverse) where other != id {
                        let cell = world[other]?[field.name]
                        world[other]?[field.name] = cell?.removing(target)
                    }
                }
            }
            world[id]?[field.name] = Cell(targets, field.kind)
            return
        }
        guard let inverse else { return }
        let had = shown(id, field)
        for other in had where !targets.contains(other) {
            let cell = world[other]?[inverse.name]
            world[other]?[inverse.name] = cell?.removing(id)
        }
        for other in targets where !had.contains(other) {
            guard let cell = world[other]?[inverse.name], !cell.destinations.contains(id)
            else { continue }
            let joined = inverse.kind == .toOne ? [id] : cell.destinations + [id]
            world[other]?[inverse.name] = Cell(joined, inverse.kind)
        }
    }

    /// Deletes objects and carries out the delete rules, on what is shown.
    func delete(_ ids: [ObjectID], from world: inout World, shown: Shown) {
        var queue = ids
        while let id = queue.first {
            queue.removeFirst()
            guard world[id] != nil else { continue }
            for field in fields(id) where !field.isAttribute {
                guard field.rule == .cascade || field.rule == .nullify else { continue }
                let destinations = shown(id, field)
                if field.rule == .cascade { queue += destinations }
                guard let name = field.inverse, Office.field(field.destination, name).isStored
                else { continue }
                for other in destinations {
                    let cell = world[other]?[name]
                    world[other]?[name] = cell?.removing(id)
                }
            }
            world[id] = nil
        }
    }

    /// Whether an object that is gone still has something its rule says to deny.
    func isDenied(_ gone: some Sequence<ObjectID>, in world: World) -> Bool {
        gone.contains { id in
            fields(id).contains { $0.rule == .deny && !related(id, $0, in: world).isEmpty }
        }
    }

    /// Three versions of a cell become one; nil where only a policy can tell.
    static func merge(_ field: Field, base: Cell, ours: Cell, theirs: Cell) -> Cell? {
        if ours == base { return theirs }
        if theirs == base { return ours }
        if field.kind == .sum {
            guard case .value(.int(let base)) = base, case .value(.int(let ours)) = ours,
                case .value(.int(let theirs)) = theirs
            else { return nil }
            return .value(.int(theirs + ours - base))
        }
        if ours == theirs { return theirs }
        guard case .many(let base) = base, case .many(let ours) = ours,
            case .many(let theirs) = theirs
        else { return nil }
        let kept = theirs.filter { ours.contains($0) || !base.contains($0) }
        let joined = ours.filter { !base.contains($0) && !theirs.contains($0) }
        return .many(field.kind == .list ? kept + joined : (kept + joined).sorted())
    }

    /// What a cell leads to that is there.
    static func living(_ cell: Cell, in world: World) -> Cell {
        cell.destinations.filter { world[$0] == nil }.reduce(cell) { $0.removing($1) }
    }

    /// Whether a reference without inverse has been emptied since its object is gone: a delete of what
    /// was never saved does so, and a save does so for what it deletes.
    func isEmptied(_ field: Field, _ want: Cell?, _ have: Cell?, in world: World) -> Bool {
        guard field.isStored, field.kind == .toOne, field.inverse == nil, have == .one(nil),
            case .one(let target?)? = want
        else { return false }
        return world[target] == nil
    }

    /// References to objects that are not there, and objects held by two where one may hold them.
    ///
    /// A reference without inverse is nobody's to take back before a save. In a context that is behind
    /// the end that says who holds an object may have been read before a holder was. What it has not
    /// found to be lost yet is lost to nobody's fault.
    func flaws(
        in world: World, afterSave: Bool, isBehind: Bool = false,
        ignoring: Set<DeleteRule> = [.noAction], lost: Set<ObjectID> = []
    ) -> [String] {
        var flaws: [String] = []
        for (entity, fields) in Office.fields {
            let records = world.filter { self.entity($0.key) == entity }
            for field in fields where field.isStored && !field.isAttribute {
                let opposite = field.inverse.map { Office.field(field.destination, $0) }
                let isLoose = opposite.map { ignoring.contains($0.rule) } ?? !afterSave
                var holders: [ObjectID: ObjectID] = [:]
                for (id, record) in records {
                    for target in record[field.name]?.destinations ?? [] {
                        if world[target] == nil && !isLoose && !lost.contains(target) {
                            flaws.append("\(id).\(field.name) leads to \(target), which is gone")
                        }
                        guard opposite?.kind == .toOne, !isBehind else { continue }
                        if let other = holders.updateValue(id, forKey: target) {
                            flaws.append("\(target) belongs to both \(id) and \(other)")
                        }
                    }
                }
            }
        }
        return flaws.sorted()
    }

    /// Whether an object at the other end may be held by one only.
    func isExclusive(_ field: Field) -> Bool {
        field.isStored && field.inverse.map { Office.field(field.destination, $0).kind } == .toOne
    }

    /// Whether two lists have the same members, and what was put in here and what was there before stand in the same
    /// order among themselves. How they stand among each other only the policy can tell (see Merging).
    func areInterleaved(_ list: Cell, _ other: Cell, base: Cell?) -> Bool {
        let known = Set(base?.destinations ?? [])
        func parts(_ cell: Cell) -> [[ObjectID]] {
            [
                cell.destinations.filter(known.contains),
                cell.destinations.filter { !known.contains($0) },
            ]
        }
        return parts(list) == parts(other)
    }

    /// Names that must be unique and are not.
    func duplicates(in world: World) -> Bool {
        let names = world.filter { entity($0.key) == "Team" }.compactMap { $0.value["name"] }
            .filter { $0 != .value(.null) }.map(\.description)
        return Set(names).count != names.count
    }
}
