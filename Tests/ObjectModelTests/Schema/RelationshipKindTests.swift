import Testing

@testable import DaybookObjectModel

/// Each kind of relationship, seen from both of its ends.
struct RelationshipKindTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        var isExclusive = false
        var isOneWay = false
        var isSelfInverse = false
        var opposite: String?
        var leavesDangling = false

        var testDescription: String { name }
    }

    @Test(arguments: [
        Kind(name: "Player.club", opposite: "players"),
        Kind(name: "Club.players", isExclusive: true, opposite: "club"),
        Kind(name: "Player.locker", isExclusive: true, opposite: "player"),
        Kind(name: "Locker.player", isExclusive: true, opposite: "locker"),
        Kind(name: "Player.partner", isExclusive: true, isSelfInverse: true),
        Kind(name: "Player.friends", isSelfInverse: true),
        Kind(name: "Player.idol", isOneWay: true),
        Kind(name: "Player.rivals", isOneWay: true),
        Kind(name: "Player.trophies", isExclusive: true, opposite: "winner", leavesDangling: true),
        Kind(name: "Trophy.winner", opposite: "trophies"),
        Kind(name: "Player.lineups", opposite: "players"),
        Kind(name: "Lineup.players", opposite: "lineups"),
        Kind(name: "Player.name"),
    ])
    func `both ends of a relationship decide what may hold what`(kind: Kind) throws {
        let schema = try Schema(RandomObject.model)
        let names = kind.name.split(separator: ".").map(String.init)
        let property = try #require(schema.entity(named: names[0])?.property(named: names[1]))

        #expect(property.isExclusive == kind.isExclusive)
        #expect(property.isOneWay == kind.isOneWay)
        #expect(property.isSelfInverse == kind.isSelfInverse)
        let destination = property.end.flatMap { schema.entity($0.destination) }
        #expect(property.opposite.flatMap { destination?.property($0)?.name } == kind.opposite)
        #expect(schema.leavesDangling(property) == kind.leavesDangling)
    }
}
