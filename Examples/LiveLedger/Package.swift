// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "LiveLedger",
    dependencies: [.package(name: "Daybook", path: "../..")],
    targets: [
        .executableTarget(
            name: "LiveLedger",
            dependencies: [.product(name: "Daybook", package: "Daybook")])
    ])
