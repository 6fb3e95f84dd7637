// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "WhoChangedWhat",
    dependencies: [.package(name: "Daybook", path: "../..")],
    targets: [
        .executableTarget(
            name: "WhoChangedWhat",
            dependencies: [.product(name: "DaybookAudit", package: "Daybook")])
    ])
