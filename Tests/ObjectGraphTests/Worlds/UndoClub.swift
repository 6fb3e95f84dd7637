import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A model with every kind of relationship, for undo.
final class Club: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(.cascade, inverse: \Player.club) var players: Set<Player>
}

final class Player: ManagedObject {
    @Attribute var name: String = ""
    @Attribute var shirt: Int?
    @Transient var mood: String?
    @Relationship var club: Club?
    @Relationship var locker: Locker?
    @Relationship(inverse: Player.partners) var partner: Player?
    @Relationship(inverse: Player.friendships) var friends: Set<Player>
    @Relationship(inverse: \Lineup.players) var lineups: Set<Lineup>
    @Relationship var idol: Player?
    @Relationship var rivals: Set<Player>
    // A relationship that is its own inverse cannot be named by a key path in its own declaration.
    static var partners: PartialKeyPath<Player> { \.partner }
    static var friendships: PartialKeyPath<Player> { \.friends }

    /// The number of times that the accessor below has set the name.
    var namings = 0

    /// The class's own accessor.
    var shownName: String {
        get { name }
        set {
            namings += 1
            name = newValue
        }
    }
}

final class Locker: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(inverse: \Player.locker) var player: Player?
}

final class Lineup: ManagedObject {
    @Attribute var name: String = ""
    @Relationship var players: [Player]
    @Relationship(.cascade, inverse: \Round.lineup) var rounds: [Round]
}

final class Round: ManagedObject {
    @Attribute var name: String = ""
    @Relationship var lineup: Lineup?
}

/// An object that records what its undo manager does when it is read.
final class Noticing: ManagedObject {
    @Attribute var name: String = ""
    var seen: [String] = []

    override func awakeFromFetch() {
        guard let manager = managedObjectContext?.undoManager else { return }
        if manager.isUndoing { seen.append("undoing") }
        if manager.isRedoing { seen.append("redoing") }
    }
}

/// An object that calls for undo when it is read.
final class Meddling: ManagedObject {
    @Attribute var name: String = ""

    override func awakeFromFetch() {
        managedObjectContext?.undo()
    }
}

/// The view of a context: for each object by name, its properties as text.
typealias Picture = [String: [String: String]]

/// A store of clubs in a temporary folder.
final class ClubStore: Sendable {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    convenience init() throws {
        try self.init(in: try TemporaryDirectory())
    }

    /// Opens another instance's store again, as after a restart.
    convenience init(_ other: ClubStore) throws {
        try self.init(in: other.folder)
    }

    private init(in folder: TemporaryDirectory) throws {
        self.folder = folder
        container = try TestContainer.make(
            folder.url.appendingPathComponent("club.daybook"),
            model: [
                Club.self, Player.self, Locker.self, Lineup.self, Round.self, Noticing.self,
                Meddling.self,
            ])
    }

    /// Runs `body` in a new context on its queue.
    func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = container.newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }

    /// What the store holds.
    func picture() throws -> Picture { try inContext { try $0.picture() } }

    /// How many entries the journal has.
    func entryCount() throws -> UInt64 {
        try container.persistentStoreCoordinator.persistentStores[0].store.head().rawValue
    }
}

/// Two clubs with four players who are related in every possible way.
struct Season {
    let context: ManagedObjectContext
    let home: Club
    let away: Club
    let ann: Player
    let bob: Player
    let cleo: Player
    let dan: Player
    let locker: Locker
    let spare: Locker
    let first: Lineup
    let second: Lineup

    init(in context: ManagedObjectContext) {
        self.context = context
        (home, away) = (Club(context: context), Club(context: context))
        (home.name, away.name) = ("home", "away")
        let players = ["ann", "bob", "cleo", "dan"].map { name in
            let player = Player(context: context)
            player.name = name
            return player
        }
        (ann, bob, cleo, dan) = (players[0], players[1], players[2], players[3])
        (locker, spare) = (Locker(context: context), Locker(context: context))
        (locker.name, spare.name) = ("locker", "spare")
        (first, second) = (Lineup(context: context), Lineup(context: context))
        (first.name, second.name) = ("first", "second")
        home.players = [ann, bob, cleo]
        dan.club = away
        ann.locker = locker
        bob.locker = spare
        ann.partner = bob
        cleo.partner = dan
        ann.friends = [bob, cleo]
        ann.idol = cleo
        bob.idol = cleo
        ann.rivals = [bob, dan]
        first.players = [cleo, ann, bob]
        second.players = [bob, ann]
        first.rounds = ["one", "two", "three"].map { name in
            let round = Round(context: context)
            round.name = name
            return round
        }
    }

    var objects: [ManagedObject] {
        [home, away, ann, bob, cleo, dan, locker, spare, first, second] + first.rounds
    }
}

extension ManagedObjectContext {
    /// The context's view of a club's objects.
    func picture() throws -> Picture {
        var picture: Picture = [:]
        func names(_ objects: some Sequence<ManagedObject>) -> [String] {
            objects.map { $0.value(forKey: "name") as? String ?? "nameless" }
        }
        // A relationship without inverse leads to a deleted object until the delete is saved.
        func isHere(_ object: ManagedObject) -> Bool {
            object.managedObjectContext != nil && !object.isDeleted
        }
        for club in try fetch(FetchRequest<Club>()) {
            picture[club.name] = ["players": "\(names(club.players).sorted())"]
        }
        for player in try fetch(FetchRequest<Player>()) {
            picture[player.name] = [
                "shirt": "\(player.shirt ?? 0)", "club": player.club?.name ?? "none",
                "locker": player.locker?.name ?? "none", "partner": player.partner?.name ?? "none",
                "friends": "\(names(player.friends).sorted())",
                "lineups": "\(names(player.lineups).sorted())",
                "idol": names([player.idol].compactMap(\.self).filter(isHere)).first ?? "none",
                "rivals": "\(names(player.rivals.filter(isHere)).sorted())",
            ]
        }
        for locker in try fetch(FetchRequest<Locker>()) {
            picture[locker.name] = ["player": locker.player?.name ?? "none"]
        }
        for lineup in try fetch(FetchRequest<Lineup>()) {
            picture[lineup.name] = [
                "players": "\(names(lineup.players))", "rounds": "\(names(lineup.rounds))",
            ]
        }
        for round in try fetch(FetchRequest<Round>()) {
            picture[round.name] = ["lineup": round.lineup?.name ?? "none"]
        }
        return picture
    }

    /// The manager that a context has from the start.
    var manager: UndoManager { get throws { try #require(undoManager) } }
}
