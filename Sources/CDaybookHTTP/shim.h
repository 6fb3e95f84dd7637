// What Swift cannot call itself: functions with a variable number of arguments, and macros with casts.

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>

/// Begins to serve this machine alone, with a thread for each connection. One that says nothing for so many seconds, or
/// is one too many, is closed. NULL with 'errno' when the port cannot be had.
static inline struct MHD_Daemon *daybook_http_start(
    uint16_t port, unsigned int connections, unsigned int seconds, MHD_AccessHandlerCallback answer, void *context)
{
    struct sockaddr_in address = {0};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL, answer, context,
        MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, seconds, MHD_OPTION_END);
}

/// Waits so many seconds for a client that takes nothing of its answer.
static inline void daybook_http_wait(struct MHD_Connection *connection, unsigned int seconds)
{
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/// The port that is served; the one that the system has chosen if none was asked for.
static inline uint16_t daybook_http_port(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

/// The end of a stream.
static inline ssize_t daybook_http_end(void) { return MHD_CONTENT_READER_END_OF_STREAM; }
