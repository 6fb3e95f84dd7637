import Foundation

extension ToolError {
    /// The reason of a Foundation error, in the system's own words if there are any, such as "No
    /// space left on device"; without a full stop.
    static func words(for failure: any Error) -> String {
        let error = failure as NSError
        if error.domain == NSPOSIXErrorDomain {
            return SystemCall.message(for: Int32(clamping: error.code))
        }
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error {
            return words(for: cause)
        }
        let description = error.localizedDescription
        return description.hasSuffix(".") ? String(description.dropLast()) : description
    }
}
