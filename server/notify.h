/* Word to systemd (sd_notify): one datagram to NOTIFY_SOCKET; nothing without one. */
#ifndef SERVER_NOTIFY_H
#define SERVER_NOTIFY_H

/** Send "READY=1", "STOPPING=1" and so on; lines joined by \n. Failures do not matter. */
void notify_send(const char *state);

#endif
