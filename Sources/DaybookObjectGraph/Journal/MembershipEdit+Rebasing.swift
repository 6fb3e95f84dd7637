import DaybookObjectModel

extension MembershipEdit {
    /// An edit that leads where this one leads, from the members there are now. One that is only moved
    /// and is no member any more stays out.
    func starting(from current: [ObjectID: Double]) -> MembershipEdit {
        var added: [Member] = []
        var removed: [Member] = []
        for (member, move) in moves where current[member] != move.new {
            guard let old = current[member] else {
                if let new = move.new, move.old == nil {
                    added.append(Member(object: member, order: new))
                }
                continue
            }
            removed.append(Member(object: member, order: old))
            if let new = move.new { added.append(Member(object: member, order: new)) }
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
            // What is only moved here goes where they take it out.
            let isTakenOut = their.new == nil && moves[member]?.old != nil
            moves[member] = (their.new, isTakenOut ? nil : moves[member]?.new)
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
