// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Ledger",
    dependencies: [.package(name: "Daybook", path: "../..")],
    targets: [
        .executableTarget(
            name: "Ledger",
            dependencies: [.product(name: "Daybook", package: "Daybook")])
    ])
