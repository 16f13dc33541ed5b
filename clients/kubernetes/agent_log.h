/*
 * One line an event on standard error: time, level, event and what belongs to it as key=value. Values with spaces or quotes
 * are quoted. No token, no key material. Safe in any thread: a line is one write.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_AGENT_LOG_H
#define COREHOUR_CLIENTS_KUBERNETES_AGENT_LOG_H

/*
 * level: "info", "warning" or "error". event: one word. pairs: key, value, key, value ..., NULL; a NULL value is left out.
 */
void agent_log(const char *level, const char *event, ...) __attribute__((sentinel));

#endif
