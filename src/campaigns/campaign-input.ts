import { MessagingError } from '../common/errors.js';
import { checkInput, checkText, hasCodePoints } from '../common/inputs.js';
import { momentOf } from '../common/listing/list-query.js';
import { DAY_MS, MINUTE_MS } from '../common/time.js';
import type { Metadata } from '../events/events.api.js';
import { metadataOf } from '../outbox/metadata.js';
import { MAX_NAME, MAX_PER_MINUTE } from './campaign.api.js';
import type { CampaignDefinition } from './campaign.js';

/** A request for a campaign. Null counts as absent. */
export interface CampaignDraft {
  /** A name for people, 1 to 128 characters. */
  readonly name: string;
  /** The sender name. */
  readonly signature: string;
  /** The text. `{name}` stands for a variable of each recipient, `{{` and `}}` for braces. */
  readonly content: string;
  /** When it starts at the earliest: ISO 8601 with its zone, at most 180 days ahead. */
  readonly send_at?: string | null | undefined;
  /** The maximum number of SMS per minute, 1 to 1 000 000. Default: as fast as the carriers take them. */
  readonly per_minute?: number | null | undefined;
  /** Whether numbers of the home market may be given in national form. Default false. */
  readonly national?: boolean | null | undefined;
  /** The metadata of each SMS. At most 16 keys, 512 characters (code points) in all. */
  readonly metadata?: Metadata | null | undefined;
}

/** How far in the past and in the future a start may be. */
const MAX_PAST_MS = MINUTE_MS;
const MAX_AHEAD_MS = 180 * DAY_MS;

/**
 * Checks a request for a campaign, except for its text and its signature.
 * @throws MessagingError `error.body_not_object`, `error.field_missing`, `error.field_invalid`, `error.field_not_string`,
 * `error.field_not_integer`, and the errors of metadata
 */
export function definitionOf(draft: CampaignDraft, now: number): CampaignDefinition {
  checkInput(draft);
  const { name, signature, content, send_at, per_minute, national, metadata } = draft;
  for (const [field, value] of Object.entries({ name, signature, content })) {
    if (value === undefined || value === null) throw new MessagingError('error.field_missing', { field });
    checkText(field, value);
  }
  if (!hasCodePoints(name, 1, MAX_NAME)) throw invalid('name');
  return {
    name,
    signature,
    content,
    sendAt: startOf(send_at, now),
    perMinute: perMinuteOf(per_minute),
    national: flagOf('national', national),
    metadata: metadataOf(metadata),
  };
}

function startOf(given: unknown, now: number): number | undefined {
  if (given === undefined || given === null) return undefined;
  const moment = momentOf('send_at', given);
  const hasZone = typeof given === 'string' && given.includes('T');
  if (moment === undefined || !hasZone || moment < now - MAX_PAST_MS || moment > now + MAX_AHEAD_MS) {
    throw invalid('send_at');
  }
  return moment;
}

function perMinuteOf(given: unknown): number | undefined {
  if (given === undefined || given === null) return undefined;
  const isOne = typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= MAX_PER_MINUTE;
  if (!isOne) throw new MessagingError('error.field_not_integer', { field: 'per_minute', min: 1, max: MAX_PER_MINUTE });
  return given;
}

function flagOf(field: string, given: unknown): boolean {
  if (given === undefined || given === null) return false;
  if (typeof given !== 'boolean') throw invalid(field);
  return given;
}

function invalid(field: string): MessagingError {
  return new MessagingError('error.field_invalid', { field });
}
