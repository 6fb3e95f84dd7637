// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Daybook",
    // What other packages are offered. The tools of this one are built by their names all the same.
    products: [
        .library(name: "Daybook", targets: ["Daybook"]),
        .library(name: "DaybookAudit", targets: ["DaybookAudit"]),
        .executable(name: "daybook", targets: ["daybook"]),
    ],
    targets: [
        // System libraries.
        .systemLibrary(
            name: "CLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CCrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        // For an export and for the benchmark's peer; the library Daybook never links it.
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        // Only the command edits lines.
        .systemLibrary(
            name: "CEdit",
            pkgConfig: "libedit",
            providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),
        .target(name: "CTerminal", dependencies: ["CEdit"]),
        // Declares what every Swift program is linked with already.
        .systemLibrary(name: "CObjectLiveness"),
        // Reads what the runtime keeps of a key path.
        .systemLibrary(name: "CKeyPathSteps"),

        // How every layer stops a program that cannot go on.
        .target(name: "Stopping"),

        // The layers, bottom first. A target may use only what stands in its list.
        .target(name: "NewFiles"),
        .target(name: "LMDB", dependencies: ["CLMDB", "Stopping"]),
        .target(name: "JournalLog", dependencies: ["LMDB", "CCrypto", "Stopping"]),
        .target(name: "ObjectModel", dependencies: ["Stopping"]),
        .target(
            name: "SnapshotStore",
            dependencies: ["ObjectModel", "JournalLog", "LMDB", "NewFiles", "Stopping"]),
        .target(
            name: "ObjectGraph",
            dependencies: [
                "SnapshotStore", "ObjectModel", "JournalLog", "CObjectLiveness", "CKeyPathSteps",
                "Stopping",
            ]),
        .target(name: "SQLite", dependencies: ["CSQLite"]),
        // The report's script and style, the tables of an export: files, compiled in as texts.
        .target(name: "CDaybookAuditFiles", exclude: ["report", "sqlite"]),
        .target(
            name: "DaybookAudit",
            dependencies: [
                "SnapshotStore", "ObjectModel", "JournalLog", "SQLite", "NewFiles",
                "CDaybookAuditFiles", "Stopping",
            ]),
        .target(
            name: "Daybook",
            dependencies: ["ObjectGraph", "SnapshotStore", "ObjectModel", "JournalLog"]),

        // The tools.
        .executableTarget(
            name: "daybook",
            dependencies: [
                "Daybook", "DaybookAudit", "SnapshotStore", "ObjectModel", "JournalLog", "NewFiles",
                "CTerminal",
            ],
            path: "Tools/daybook"),
        .executableTarget(
            name: "daybook-benchmark",
            dependencies: [
                "Daybook", "DaybookAudit", "SnapshotStore", "ObjectModel", "JournalLog", "CLMDB",
                "CSQLite",
            ],
            path: "Tools/daybook-benchmark",
            resources: [.embedInCode("Peers/contacts.sql"), .embedInCode("chart.css")]),
        // Counts calls; nothing that is measured with a clock links it.
        .target(name: "CallCounts", path: "Tools/CallCounts"),
        .executableTarget(
            name: "daybook-counts",
            dependencies: ["Daybook", "CallCounts"],
            path: "Tools/daybook-counts"),
        .executableTarget(
            name: "daybook-demo",
            dependencies: ["Daybook"],
            path: "Tools/daybook-demo"),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: ["SnapshotStore", "ObjectModel", "JournalLog"],
            path: "Tests/TestSupport"),
        .testTarget(name: "LMDBTests", dependencies: ["LMDB", "TestSupport"]),
        .testTarget(name: "JournalLogTests", dependencies: ["JournalLog", "LMDB", "TestSupport"]),
        .testTarget(name: "ObjectModelTests", dependencies: ["ObjectModel", "TestSupport"]),
        .testTarget(
            name: "SnapshotStoreTests",
            dependencies: ["SnapshotStore", "ObjectModel", "JournalLog", "LMDB", "TestSupport"]),
        .testTarget(
            name: "ObjectGraphTests",
            dependencies: [
                "ObjectGraph", "SnapshotStore", "ObjectModel", "JournalLog", "LMDB", "Stopping",
                "TestSupport",
            ]),
        .testTarget(
            name: "DaybookAuditTests",
            dependencies: [
                "DaybookAudit", "SnapshotStore", "ObjectModel", "JournalLog", "SQLite",
                "TestSupport",
            ]),
        .testTarget(
            name: "DaybookTests", dependencies: ["Daybook", "DaybookAudit", "TestSupport"]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "ObjectGraph", "SnapshotStore", "ObjectModel", "JournalLog", "TestSupport",
            ]),
        .testTarget(name: "ToolTests", dependencies: ["TestSupport", "daybook"]),
        .testTarget(
            name: "RecoveryTests",
            dependencies: [
                "SnapshotStore", "ObjectModel", "JournalLog", "LMDB", "TestSupport", "daybook",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        // Existentials cost; the word `any` makes them visible.
        .enableUpcomingFeature("ExistentialAny"),
        // A file names every module whose members it uses, so its imports tell its dependencies.
        .enableUpcomingFeature("MemberImportVisibility"),
        // An import leaks into a module's interface only where it says `public import`.
        .enableUpcomingFeature("InternalImportsByDefault"),
        // A warning left standing hides the next one.
        .treatAllWarnings(as: .error),
    ]
}
