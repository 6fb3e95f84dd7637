import DaybookObjectModel

extension MembershipEdit {
    /// An edit that leads where this one leads, from the members there are now.
    func starting(from current: [ObjectID: Double]) -> MembershipEdit {
        let wanted = Dictionary(
            removed.map { ($0.object, Double?.none) } + added.map { ($0.object, $0.order) },
            uniquingKeysWith: { _, later in later })
        var added: [Member] = []
        var removed: [Member] = []
        for (member, order) in wanted where current[member] != order {
            if let old = current[member] { removed.append(Member(object: member, order: old)) }
            if let order { added.append(Member(object: member, order: order)) }
        }
        return MembershipEdit(property: property, added: added, removed: removed)
    }

    /// This edit and then another, keeping what comes back to where it was.
    fileprivate func then(_ later: MembershipEdit) -> MembershipEdit {
        var moves = moves
        for (member, move) in later.moves {
            moves[member] = (
                moves[member]?.old ?? (moves[member] == nil ? move.old : nil), move.new
            )
        }
        return MembershipEdit(property: property, moves)
    }

    private init(
        property: PropertyNumber, _ moves: [ObjectID: (old: Double?, new: Double?)]
    ) {
        self.init(
            property: property,
            added: moves.compactMap { member, move in
                move.new.map { Member(object: member, order: $0) }
            },
            removed: moves.compactMap { member, move in
                move.old.map { Member(object: member, order: $0) }
            })
    }

    /// Where the members were that this edit moves, and where it puts them.
    private var moves: [ObjectID: (old: Double?, new: Double?)] {
        var moves: [ObjectID: (old: Double?, new: Double?)] = [:]
        for member in removed { moves[member.object] = (member.order, nil) }
        for member in added {
            moves[member.object] = (moves[member.object]?.old, member.order)
        }
        return moves
    }

    fileprivate func rebased(onto theirs: MembershipEdit, leavingAll: Bool) -> MembershipEdit {
        var moves = moves
        for (member, their) in theirs.moves where leavingAll || moves[member] != nil {
            moves[member] = (their.new, moves[member]?.new)
        }
        return MembershipEdit(property: property, moves.filter { $0.value.old != $0.value.new })
    }
}

extension [MembershipEdit] {
    /// These edits and then others, one for each relationship.
    func then(_ later: [MembershipEdit]) -> [MembershipEdit] {
        var edits = self
        for edit in later {
            if let index = edits.firstIndex(where: { $0.property == edit.property }) {
                edits[index] = edits[index].then(edit)
            } else {
                edits.append(edit)
            }
        }
        return edits
    }

    /// These edits as they stand after others have made theirs; with `leavingAll` they are a
    /// delete's, which takes every member out.
    func rebased(onto theirs: [MembershipEdit], leavingAll: Bool = false) -> [MembershipEdit] {
        var rebased = self
        for their in theirs {
            if let index = rebased.firstIndex(where: { $0.property == their.property }) {
                rebased[index] = rebased[index].rebased(onto: their, leavingAll: leavingAll)
            } else if leavingAll {
                rebased.append(
                    MembershipEdit(property: their.property, added: [], removed: [])
                        .rebased(onto: their, leavingAll: true))
            }
        }
        return rebased.filter { !$0.isEmpty }.sorted { $0.property < $1.property }
    }
}
