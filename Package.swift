// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Daybook",
    // The products for other packages. The tools of this package are still built by their names.
    products: [
        .library(name: "Daybook", targets: ["Daybook"]),
        .library(name: "DaybookAudit", targets: ["DaybookAudit"]),
        .library(name: "DaybookSearch", targets: ["DaybookSearch"]),
        .library(name: "DaybookPostgres", targets: ["DaybookPostgres"]),
        .executable(name: "daybook", targets: ["daybook"]),
        .plugin(name: "DaybookModelPlugin", targets: ["DaybookModelPlugin"]),
    ],
    targets: [
        // System libraries.
        .systemLibrary(
            name: "CDaybookLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CDaybookCrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        // For an export, for searching and for the benchmark's peer; the library Daybook never links it.
        .systemLibrary(
            name: "CDaybookSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        // For stores that are shared; the library Daybook never links it.
        .systemLibrary(
            name: "CDaybookPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // Only the command edits lines.
        .systemLibrary(
            name: "CDaybookEdit",
            pkgConfig: "libedit",
            providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),
        // Takes the whole screen by ncurses (libncurses-dev), whose settings for compilers SwiftPM refuses.
        .target(
            name: "CDaybookTerminal", dependencies: ["CDaybookEdit"],
            linkerSettings: [
                .linkedLibrary("ncursesw", .when(platforms: [.linux])),
                .linkedLibrary("ncurses", .when(platforms: [.macOS])),
            ]),
        // Only the command serves a page.
        .systemLibrary(
            name: "CDaybookHTTP",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        // The check of records, by the processor's instruction.
        .target(name: "CDaybookChecks"),
        // Declares functions of the runtime that every Swift program already links.
        .systemLibrary(name: "CDaybookObjectLiveness"),
        // Reads the runtime's data of a key path.
        .systemLibrary(name: "CDaybookKeyPathSteps"),

        // The way in which every layer stops a program that cannot continue.
        .target(name: "DaybookStopping"),

        // The layers, bottom first. A target may use only the targets in its list.
        .target(name: "DaybookNewFiles"),
        .target(
            name: "DaybookLMDB",
            dependencies: [
                "CDaybookLMDB", "CDaybookChecks", "DaybookNewFiles", "DaybookStopping",
            ]),
        .target(name: "DaybookDigest", dependencies: ["CDaybookCrypto", "DaybookStopping"]),
        .target(
            name: "DaybookJournalLog",
            dependencies: ["DaybookLMDB", "DaybookDigest", "CDaybookCrypto", "DaybookStopping"]),
        .target(name: "DaybookObjectModel", dependencies: ["DaybookDigest", "DaybookStopping"]),
        .target(
            name: "DaybookSnapshotStore",
            dependencies: [
                "DaybookObjectModel", "DaybookJournalLog", "DaybookLMDB", "DaybookNewFiles",
                "DaybookStopping",
            ]),
        .target(
            name: "DaybookObjectGraph",
            dependencies: [
                "DaybookSnapshotStore", "DaybookObjectModel", "DaybookJournalLog",
                "CDaybookObjectLiveness", "CDaybookKeyPathSteps",
                "DaybookStopping",
            ]),
        // Reads models of Xcode. It links an XML parser, which no program that keeps a store needs: only
        // the command uses it.
        .target(name: "DaybookModelFiles", dependencies: ["DaybookObjectModel"]),
        .target(name: "DaybookSQLite", dependencies: ["CDaybookSQLite"]),
        // The report's script and style, the tables of an export: files, compiled in as texts.
        .target(name: "CDaybookAuditFiles", exclude: ["report", "sqlite"]),
        .target(
            name: "DaybookAudit",
            dependencies: [
                "DaybookSnapshotStore", "DaybookObjectModel", "DaybookJournalLog", "DaybookSQLite",
                "DaybookNewFiles",
                "CDaybookAuditFiles", "DaybookStopping",
            ]),
        // Words in the values of attributes. It links SQLite, for its full-text search.
        .target(
            name: "DaybookSearch",
            dependencies: [
                "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "DaybookSQLite",
            ]),
        // Stores that are shared through PostgreSQL: the way to its servers, the tables there, as SQL, and the
        // journal in them.
        .target(name: "DaybookPQ", dependencies: ["CDaybookPQ"]),
        .target(name: "CDaybookPostgresFiles", exclude: ["schema"]),
        .target(
            name: "DaybookPostgres",
            dependencies: [
                "DaybookPQ", "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "CDaybookPostgresFiles", "DaybookStopping",
            ]),
        .target(
            name: "Daybook",
            dependencies: [
                "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog",
            ]),

        // The tools.
        .executableTarget(
            name: "daybook",
            dependencies: [
                "Daybook", "DaybookAudit", "DaybookSearch", "DaybookSnapshotStore",
                "DaybookObjectModel", "DaybookJournalLog", "DaybookNewFiles", "DaybookModelFiles",
                "DaybookPostgres", "DaybookPQ", "CDaybookTerminal", "CDaybookHTTP",
            ],
            path: "Tools/daybook"),
        .executableTarget(
            name: "daybook-benchmark",
            dependencies: [
                "Daybook", "DaybookAudit", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "DaybookLMDB", "CDaybookLMDB",
                "CDaybookSQLite",
            ],
            path: "Tools/daybook-benchmark",
            resources: [
                .embedInCode("Peers/contacts.sql"), .embedInCode("Past/past.sql"),
                .embedInCode("SaveCosts/orders.sql"), .embedInCode("SaveCosts/laws.sql"),
                .embedInCode("chart.css"),
            ]),
        // Measures stores that are shared; the other benchmark links no libpq.
        .executableTarget(
            name: "daybook-shared-benchmark",
            dependencies: [
                "Daybook", "DaybookPostgres", "DaybookPQ", "DaybookSnapshotStore",
                "DaybookJournalLog",
            ],
            path: "Tools/daybook-shared-benchmark"),
        // Counts calls; no program measured with a clock links it.
        .target(name: "CDaybookCallCounts", path: "Tools/CDaybookCallCounts"),
        .executableTarget(
            name: "daybook-counts",
            dependencies: ["Daybook", "CDaybookCallCounts"],
            path: "Tools/daybook-counts"),
        .executableTarget(
            name: "daybook-release-checks",
            dependencies: ["Daybook"],
            path: "Tools/daybook-release-checks"),
        // Reads damaged stores through the library.
        .executableTarget(
            name: "daybook-readings",
            dependencies: ["Daybook"],
            path: "Tools/daybook-readings"),
        .executableTarget(
            name: "daybook-demo",
            dependencies: ["Daybook"],
            path: "Tools/daybook-demo"),

        // 'swift package daybook-model' in other packages. It builds the command when it is used; as a
        // dependency the command and all under it would be built twice, for the host and the target.
        .plugin(
            name: "DaybookModelPlugin",
            capability: .command(
                intent: .custom(
                    verb: "daybook-model",
                    description: "Makes a model, or the classes of one, from a model of Xcode."),
                permissions: [
                    .writeToPackageDirectory(reason: "It writes the model or its classes there.")
                ])),

        // Tests.
        .target(
            name: "DaybookTestSupport",
            dependencies: [
                "DaybookSnapshotStore", "DaybookObjectModel", "DaybookJournalLog",
                "DaybookPostgres", "DaybookPQ",
            ],
            path: "Tests/DaybookTestSupport"),
        .target(
            name: "DaybookGraphTestSupport",
            dependencies: [
                "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "DaybookTestSupport",
            ],
            path: "Tests/DaybookGraphTestSupport"),
        .testTarget(
            name: "LMDBTests",
            dependencies: [
                "DaybookLMDB", "DaybookNewFiles", "CDaybookLMDB", "CDaybookChecks",
                "DaybookTestSupport",
            ]),
        .testTarget(
            name: "JournalLogTests",
            dependencies: ["DaybookJournalLog", "DaybookLMDB", "DaybookTestSupport"]),
        .testTarget(
            name: "ObjectModelTests",
            dependencies: ["DaybookObjectModel", "DaybookDigest", "DaybookTestSupport"]),
        .testTarget(
            name: "ModelFilesTests",
            dependencies: ["DaybookModelFiles", "DaybookObjectModel", "DaybookTestSupport"]),
        .testTarget(
            name: "SnapshotStoreTests",
            dependencies: [
                "DaybookSnapshotStore", "DaybookObjectModel", "DaybookJournalLog", "DaybookLMDB",
                "DaybookSQLite", "DaybookTestSupport",
            ]),
        .testTarget(
            name: "ObjectGraphTests",
            dependencies: [
                "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "DaybookLMDB", "DaybookStopping",
                "DaybookTestSupport", "DaybookGraphTestSupport",
            ]),
        .testTarget(
            name: "DaybookAuditTests",
            dependencies: [
                "DaybookAudit", "DaybookSnapshotStore", "DaybookObjectModel", "DaybookJournalLog",
                "DaybookSQLite",
                "DaybookTestSupport",
            ]),
        .testTarget(
            name: "DaybookSearchTests",
            dependencies: [
                "DaybookSearch", "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "DaybookTestSupport",
            ]),
        .testTarget(
            name: "DaybookPostgresTests",
            dependencies: [
                "DaybookPostgres", "DaybookPQ", "DaybookObjectGraph", "DaybookSnapshotStore",
                "DaybookObjectModel", "DaybookJournalLog", "DaybookTestSupport",
                "DaybookGraphTestSupport",
            ]),
        .testTarget(
            name: "DaybookTests",
            dependencies: [
                "Daybook", "DaybookAudit", "DaybookModelFiles", "DaybookObjectModel",
                "DaybookSearch", "DaybookTestSupport",
            ]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "DaybookTestSupport", "DaybookGraphTestSupport",
            ]),
        .testTarget(
            name: "ToolTests", dependencies: ["DaybookSQLite", "DaybookTestSupport", "daybook"]),
        .testTarget(
            name: "RecoveryTests",
            dependencies: [
                "DaybookObjectGraph", "DaybookSnapshotStore", "DaybookObjectModel",
                "DaybookJournalLog", "DaybookLMDB",
                "DaybookTestSupport", "daybook",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// A build with other settings, such as Thread Sanitizer's, needs only the tests that it will run: folders and files
// of 'Tests', whose first folder is the target. SwiftPM warns of the files that are left out.
if let chosen = Context.environment["DAYBOOK_TESTS"]?.split(separator: ",") {
    var sources: [String: [String]] = [:]
    for path in chosen {
        let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
        sources[parts[0], default: []] += parts.dropFirst()
    }
    package.products = []
    package.targets.removeAll { target in
        [.test, .executable].contains(target.type) && sources[target.name] == nil
    }
    for target in package.targets where target.type == .test && sources[target.name] != [] {
        target.sources = sources[target.name]
    }
}

// What 'Tools/fuzz' builds; libFuzzer brings the function that a program begins with.
if Context.environment["DAYBOOK_FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "daybook-fuzz",
            dependencies: [
                "DaybookAudit", "DaybookSnapshotStore", "DaybookObjectModel", "DaybookJournalLog",
                "DaybookModelFiles", "DaybookPQ", "DaybookDigest", "DaybookStopping",
            ],
            path: "Tools/daybook-fuzz"))
}

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        // Existentials cost; the word `any` makes them visible.
        .enableUpcomingFeature("ExistentialAny"),
        // A file names every module whose members it uses, so its imports tell its dependencies.
        .enableUpcomingFeature("MemberImportVisibility"),
        // An import leaks into a module's interface only where it says `public import`.
        .enableUpcomingFeature("InternalImportsByDefault"),
        // An ignored warning hides the next one.
        .treatAllWarnings(as: .error),
    ]
}

// 'Tools/test' has the layers in which its tests spend their time optimized, checks included. A package that sets
// such flags cannot be depended on, so nobody else does.
if Context.environment["DAYBOOK_OPTIMIZED"] != nil {
    let layers = [
        "DaybookLMDB", "DaybookJournalLog", "DaybookObjectModel", "DaybookSnapshotStore",
        "DaybookObjectGraph",
    ]
    for target in package.targets where layers.contains(target.name) {
        target.swiftSettings?.append(
            .unsafeFlags([
                "-O", "-whole-module-optimization", "-num-threads", "2", "-assert-config", "Debug",
            ]))
    }
}
