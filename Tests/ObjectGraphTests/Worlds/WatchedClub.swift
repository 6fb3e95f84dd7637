import DaybookObjectModel
import Foundation

@testable import DaybookObjectGraph

/// A company whose lists depend on relationships of every kind, with a superclass, so that there are subentities.
class WatchedPerson: ManagedObject {
    @Attribute var name: String?
    @Attribute(.indexed) var points: Int = 0
    @Attribute var pay: Decimal?
    /// Of numbers whose rounded sum depends on the order.
    @Attribute var weight: Double?
    @Relationship(inverse: \WatchedTeam.members) var team: WatchedTeam?
    @Relationship(inverse: \WatchedPerson.pupils) var mentor: WatchedPerson?
    @Relationship var pupils: Set<WatchedPerson>
    /// Nobody leads back.
    @Relationship var guest: WatchedTeam?
}

final class WatchedManager: WatchedPerson {
    @Attribute var bonus: Int = 0
}

final class WatchedTeam: ManagedObject {
    @Attribute var city: String?
    @Relationship(inverse: \WatchedLeague.teams) var league: WatchedLeague?
    @Relationship var members: Set<WatchedPerson>
}

final class WatchedLeague: ManagedObject {
    @Attribute var title: String = ""
    @Relationship var teams: Set<WatchedTeam>
}

let watchedClasses: [ManagedObject.Type] = [
    WatchedPerson.self, WatchedManager.self, WatchedTeam.self, WatchedLeague.self,
]
