import { MessagingError } from '../common/errors.js';
import { checkInput, checkString, checkText, choiceOf, inNfc, integerOf, invalidField } from '../common/inputs.js';
import { isRecord } from '../common/options.js';
import { HOUR_MS } from '../common/time.js';
import { pointerNames } from './kinds/fields.js';
import { HOOK_KINDS } from './kinds/index.js';
import {
  CODE_SEGMENTS,
  GENERIC_PROOFS,
  HMAC_ENCODINGS,
  LOGIN_HOOK_KINDS,
  type LoginHookKind,
  MAX_CODE_SEGMENTS,
  MAX_DAILY_UNITS,
  MAX_LOGIN_HOOK_NAME,
} from './login-hook.api.js';
import type { HookMapping, HookProof, LoginHookDefinition } from './login-hook.js';

/** A hook to make. Null counts as absent. */
export interface LoginHookDraft {
  readonly kind: LoginHookKind;
  /** The sender name of the codes: a default signature, or one verified for the account. */
  readonly signature: string;
  /** The service that texts name, at most 64 characters. Default: none. */
  readonly name?: string | null | undefined;
  /** Default `sms`. */
  readonly channel?: string | null | undefined;
  /** The secret of the log-in system, if that makes it. Default: we make one. */
  readonly secret?: string | null | undefined;
  readonly limits?:
    | {
        /** 1 to 10. Default 2. */
        readonly max_segments?: number | null | undefined;
        /** 1 to 1 000 000 000. Default: no limit. */
        readonly daily_units?: number | null | undefined;
      }
    | null
    | undefined;
  /** For `generic` only, which needs it. */
  readonly mapping?: HookMapping | null | undefined;
  /** For `generic` only. Default: the header `Authorization`. */
  readonly proof?: HookProof | null | undefined;
}

/** A new secret. */
export interface LoginHookRotation {
  /** The secret of the log-in system, if that makes it. Default: we make one. */
  readonly secret?: string | null | undefined;
  /** How many hours the old secret still proves calls, 0 to 168. Default 24. */
  readonly keep_hours?: number | null | undefined;
}

/** The longest time that an old secret is valid together with its successor, in hours, and the default. */
export const MAX_KEEP_HOURS = 168;
const KEEP_HOURS = 24;

const DEFAULT_PROOF: HookProof = { kind: 'header', header: 'Authorization' };

/**
 * Reads a draft, except for its secret.
 * @throws MessagingError `error.body_not_object`, `error.field_missing`, `error.field_invalid`, `error.field_not_string`,
 * `error.field_not_integer`
 */
export function definitionOf(draft: LoginHookDraft): LoginHookDefinition {
  checkInput(draft);
  const kind = choiceOf('kind', draft.kind, LOGIN_HOOK_KINDS);
  const { limits, channel } = draft;
  if (limits != null && !isRecord(limits)) throw invalidField('limits');
  if (channel != null) checkString('channel', channel);
  const isGeneric = kind === 'generic';
  if (!isGeneric && draft.mapping != null) throw invalidField('mapping');
  if (!isGeneric && draft.proof != null) throw invalidField('proof');
  checkString('signature', draft.signature);
  return {
    kind,
    name: nameOf(draft.name),
    signature: draft.signature,
    channel: channel == null ? 'sms' : channel.toLowerCase() === 'sms' ? 'sms' : channel,
    maxSegments:
      limits?.max_segments == null
        ? CODE_SEGMENTS
        : integerOf('limits.max_segments', limits.max_segments, 1, MAX_CODE_SEGMENTS),
    dailyUnits:
      limits?.daily_units == null ? null : integerOf('limits.daily_units', limits.daily_units, 1, MAX_DAILY_UNITS),
    mapping: isGeneric ? mappingOf(draft.mapping) : null,
    proof: isGeneric ? proofOf(draft.proof) : null,
  };
}

/**
 * Returns the secret that the owner gives; undefined if we make one.
 * @throws MessagingError `error.field_not_string`, and `error.field_invalid` if the kind cannot use it
 */
export function givenSecret(kind: LoginHookKind, secret: unknown): string | undefined {
  if (secret == null) return undefined;
  checkString('secret', secret);
  if (!HOOK_KINDS[kind].isSecret(secret)) throw invalidField('secret');
  return secret;
}

/** How long the old secret still proves calls, in milliseconds. @throws MessagingError `error.field_not_integer` */
export function keepMsOf(hours: unknown): number {
  return (hours == null ? KEEP_HOURS : integerOf('keep_hours', hours, 0, MAX_KEEP_HOURS)) * HOUR_MS;
}

function nameOf(given: unknown): string | null {
  if (given == null || given === '') return null;
  checkText('name', given);
  const name = inNfc(given, 1, MAX_LOGIN_HOOK_NAME);
  if (name === undefined || /\p{Cc}/u.test(name)) throw invalidField('name');
  return name;
}

const POINTERS = ['number', 'code', 'text', 'id', 'valid_for'] as const;

function mappingOf(given: unknown): HookMapping {
  if (given == null) throw new MessagingError('error.field_missing', { field: 'mapping' });
  if (!isRecord(given)) throw invalidField('mapping');
  const pointers = Object.fromEntries(
    POINTERS.flatMap((name) => {
      const pointer = given[name];
      if (pointer == null) return [];
      checkString(`mapping.${name}`, pointer);
      if (pointer.length > 256 || pointerNames(pointer) === undefined) throw invalidField(`mapping.${name}`);
      return [[name, pointer]];
    }),
  );
  const { number, code, text } = pointers;
  if (number === undefined) throw new MessagingError('error.field_missing', { field: 'mapping.number' });
  if (code === undefined && text === undefined) {
    throw new MessagingError('error.field_missing', { field: 'mapping.code' });
  }
  return { ...pointers, number };
}

function proofOf(given: unknown): HookProof {
  if (given == null) return DEFAULT_PROOF;
  if (!isRecord(given)) throw invalidField('proof');
  const kind = choiceOf('proof.kind', given.kind, GENERIC_PROOFS);
  const { header = 'Authorization', encoding } = given;
  if (typeof header !== 'string' || !/^[A-Za-z0-9-]{1,64}$/.test(header)) throw invalidField('proof.header');
  if (encoding == null) return kind === 'header' ? { kind, header } : { kind, header, encoding: 'hex' };
  if (kind === 'header') throw invalidField('proof.encoding');
  return { kind, header, encoding: choiceOf('proof.encoding', encoding, HMAC_ENCODINGS) };
}
