import { MessagingError } from '../../common/errors.js';
import { checkText, hasCodePoints, integerOf, invalidField } from '../../common/inputs.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { isInvisible } from '../../common/text/visible-text.js';
import type { KeyDefinition } from '../account-records.js';
import { addressRangeOf } from '../address-ranges.js';
import { MAX_CIDRS, MAX_NAME, MAX_RECIPIENTS } from './key.api.js';
import { KEY_SCOPES, type KeyScope } from './permissions.js';

/** What a new key may be used for. An option that is left out does not restrict the key. */
export interface KeyDraft {
  /** A name that people recognise: 1 to 128 characters, not blank. */
  readonly name?: string | null | undefined;
  /** The scopes of the key, at least one. Default: all. */
  readonly scopes?: readonly KeyScope[] | null | undefined;
  /** The addresses from which the key may be used: IPv4 and IPv6, single or in CIDR notation, 1 to 50. Default: all. */
  readonly cidrs?: readonly string[] | null | undefined;
  /** When the key expires, in milliseconds since the epoch; a time in the future. Default: never. */
  readonly expiresAt?: number | null | undefined;
  /**
   * The maximum number of units that the key and the keys that replace it may spend together in a UTC day: 1 to 10^12. Default: no
   * cap.
   */
  readonly dailyUnits?: number | null | undefined;
  /** The maximum number of requests per minute, counted in each process: 1 to 1 000 000. Default: no limit. */
  readonly perMinute?: number | null | undefined;
  /** The only numbers that the key may send to, E.164 digits without the plus sign: 1 to 100. Default: all. */
  readonly recipients?: readonly string[] | null | undefined;
  /**
   * A send that costs more units than this is refused until it is confirmed (docs/mcp.md): 0 to 10^12. Default: no send needs a
   * confirmation.
   */
  readonly confirmAbove?: number | null | undefined;
}

export const MAX_DAILY_UNITS = 1e12;
export const MAX_PER_MINUTE = 1_000_000;
/** The latest time that a `Date` can represent, in milliseconds since the epoch. */
const LAST_MOMENT = 8.64e15;

/**
 * Checks the definition of a new key.
 * @param now milliseconds since the epoch
 * @param wordOf the name of a field in errors. Default: the name of the option
 * @throws MessagingError `error.field_invalid`, `error.field_not_string`, `error.field_not_list`, `error.field_not_integer`
 */
export function keyDefinitionOf(
  { name, scopes, cidrs, expiresAt, dailyUnits, perMinute, recipients, confirmAbove }: KeyDraft,
  now: number,
  wordOf: (field: keyof KeyDraft) => string = (field) => field,
): KeyDefinition & { readonly expiresAt: number | undefined } {
  return {
    name: name == null ? undefined : nameOf(name, wordOf('name')),
    scopes: scopes == null ? undefined : scopesOf(scopes, wordOf('scopes')),
    cidrs: cidrs == null ? undefined : cidrsOf(cidrs, wordOf('cidrs')),
    expiresAt: expiresAt == null ? undefined : endOf(expiresAt, now, wordOf('expiresAt')),
    dailyUnits: dailyUnits == null ? undefined : integerOf(wordOf('dailyUnits'), dailyUnits, 1, MAX_DAILY_UNITS),
    perMinute: perMinute == null ? undefined : integerOf(wordOf('perMinute'), perMinute, 1, MAX_PER_MINUTE),
    recipients: recipients == null ? undefined : recipientsOf(recipients, wordOf('recipients')),
    confirmAbove:
      confirmAbove == null ? undefined : integerOf(wordOf('confirmAbove'), confirmAbove, 0, MAX_DAILY_UNITS),
  };
}

function nameOf(name: unknown, field: string): string {
  checkText(field, name);
  if (isInvisible(name) || !hasCodePoints(name, 1, MAX_NAME)) throw invalidField(field);
  return name;
}

/** Returns the scopes in the order of `KEY_SCOPES`, each once. */
function scopesOf(scopes: unknown, field: string): readonly KeyScope[] {
  const given = listOf(scopes, field);
  if (!given.every((scope) => KEY_SCOPES.some((known) => known === scope))) throw invalidField(field);
  return KEY_SCOPES.filter((scope) => given.includes(scope));
}

function cidrsOf(cidrs: unknown, field: string): readonly string[] {
  const given = listOf(cidrs, field);
  if (given.length > MAX_CIDRS) throw invalidField(field);
  return given.map((cidr) => {
    if (typeof cidr !== 'string' || addressRangeOf(cidr) === undefined) throw invalidField(field);
    return cidr;
  });
}

/** Returns the numbers, each once. */
function recipientsOf(recipients: unknown, field: string): readonly string[] {
  const given = listOf(recipients, field);
  if (given.length > MAX_RECIPIENTS || !given.every(isPhoneNumber)) throw invalidField(field);
  return [...new Set(given)];
}

/**
 * Reads a list that must not be empty. An empty list would make a key that nobody can use, or would be mistaken for "no
 * restriction".
 */
function listOf(list: unknown, field: string): readonly unknown[] {
  if (Array.isArray(list) && list.length > 0) return list;
  throw new MessagingError('error.field_not_list', { field });
}

function endOf(end: unknown, now: number, field: string): number {
  if (typeof end === 'number' && Number.isInteger(end) && end > now && end <= LAST_MOMENT) return end;
  throw invalidField(field);
}
