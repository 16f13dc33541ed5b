/*
 * Memory for jansson: each thread has a block from which trees are cut, and which is whole again when the last of them is
 * gone. A tree is made and freed by the same thread. What does not fit comes from malloc().
 */
#ifndef SERVER_JSON_ARENA_H
#define SERVER_JSON_ARENA_H

/** Make jansson use it; once, before there are threads. */
void json_arena_install(void);

#endif
