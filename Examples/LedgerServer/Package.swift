// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "LedgerServer",
    dependencies: [.package(name: "Daybook", path: "../..")],
    targets: [
        .systemLibrary(
            name: "CMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .executableTarget(
            name: "LedgerServer",
            dependencies: ["CMicroHTTPD", .product(name: "Daybook", package: "Daybook")]),
    ])
