/*
 * Currencies: ISO 4217 codes and how many decimals their minor unit has.
 *
 * Active codes only, plus those withdrawn so lately that refunds still come in them (ANG, BGN).
 * Codes without a minor unit (XAU, XDR, XXX …) are no money here.
 */
#ifndef CHANNEL_CURRENCY_H
#define CHANNEL_CURRENCY_H

#include <stdbool.h>

/* True and the exponent (0…4) for a known code in upper case; false otherwise. */
bool currency_find(const char *code, int *exponent_out);

#endif
