/*
 * The engines that are built in. Only store.c looks here.
 */
#ifndef LEDGER_STORE_ENGINES_H
#define LEDGER_STORE_ENGINES_H

#include "ledger/store/store.h"

extern const struct store_engine sqlite_engine;
extern const struct store_engine memory_engine;

#endif
