import { MessagingError } from '../common/errors.js';
import { checkInput, checkText, hasCodePoints, invalidField } from '../common/inputs.js';
import { momentOf } from '../common/listing/list-query.js';
import { DAY_MS, MINUTE_MS } from '../common/time.js';
import type { Metadata } from '../events/events.api.js';
import { metadataOf } from '../outbox/metadata.js';
import { readValidFor } from '../outbox/schedule/read-schedule.js';
import { chosenWindow } from '../outbox/windows/send-window.js';
import type { DeliveryWindow, WindowInput } from '../outbox/windows/window.api.js';
import type { StoredTemplate } from '../sms/templates/template-store.js';
import { MAX_NAME, MAX_PER_MINUTE } from './campaign.api.js';
import type { CampaignDefinition } from './campaign.js';

/** A request for a campaign. Null counts as absent. */
export interface CampaignDraft {
  /** A name for people, 1 to 128 characters. */
  readonly name: string;
  /** The sender name. Default: the signature of the template. */
  readonly signature?: string | null | undefined;
  /** The text. `{name}` stands for a variable of each recipient, `{{` and `}}` for braces. */
  readonly content?: string | null | undefined;
  /** The name of a template (`TemplateService`), in place of `content`. The campaign keeps the text that it has now. */
  readonly template?: string | null | undefined;
  /** When it starts at the earliest: ISO 8601 with its zone, at most 180 days ahead. */
  readonly send_at?: string | null | undefined;
  /** The maximum number of SMS per minute, 1 to 1 000 000. Default: as fast as the carriers take them. */
  readonly per_minute?: number | null | undefined;
  /**
   * Seconds from the acceptance of each SMS, 5 to 2 592 000. An SMS that is not handed over by then fails with the error
   * `expired`, and its units are refunded. Default: no limit.
   */
  readonly valid_for?: number | null | undefined;
  /**
   * The times of day and the weekdays at which SMS may be handed over. Null: at any time. Default: the option
   * `sms.windows.bulk`, as it is when the campaign is made.
   */
  readonly window?: WindowInput | null | undefined;
  /** Whether numbers of the home market may be given in national form. Default false. */
  readonly national?: boolean | null | undefined;
  /** The metadata of each SMS. At most 16 keys, 512 characters (code points) in all. */
  readonly metadata?: Metadata | null | undefined;
}

/** How far in the past and in the future a start may be. */
const MAX_PAST_MS = MINUTE_MS;
const MAX_AHEAD_MS = 180 * DAY_MS;

/** What a request for a campaign leaves to the service and to the account. */
export interface CampaignDefaults {
  readonly now: number;
  /** The window of bulk SMS. */
  readonly window: DeliveryWindow | undefined;
  /** Finds a template. @throws MessagingError `error.template_not_found` */
  readonly find: (template: string) => Promise<StoredTemplate>;
}

/**
 * Checks a request for a campaign, except for its text and its signature.
 * @throws MessagingError `error.body_not_object`, `error.field_missing`, `error.field_invalid`, `error.field_not_string`,
 * `error.field_not_integer`, `error.fields_exclusive`, `error.template_not_found`, `error.valid_for_invalid`,
 * `error.window_invalid`, and the errors of metadata
 */
export async function definitionOf(
  draft: CampaignDraft,
  { now, window: defaultWindow, find }: CampaignDefaults,
): Promise<CampaignDefinition> {
  checkInput(draft);
  const { send_at, per_minute, valid_for, window, national, metadata } = draft;
  const name = given('name', draft.name);
  if (!hasCodePoints(name, 1, MAX_NAME)) throw invalidField('name');
  const checked = {
    sendAt: startOf(send_at, now),
    perMinute: perMinuteOf(per_minute),
    validFor: readValidFor(valid_for ?? undefined),
    window: chosenWindow(window, defaultWindow),
    national: flagOf('national', national),
    metadata: metadataOf(metadata),
  };
  return { name, ...(await textOf(draft, find)), ...checked };
}

/** The text and the sender name that a campaign has from now on. */
async function textOf(
  { signature, content, template }: CampaignDraft,
  find: CampaignDefaults['find'],
): Promise<Pick<CampaignDefinition, 'signature' | 'content' | 'template'>> {
  if (isAbsent(template)) {
    return { signature: given('signature', signature), content: given('content', content), template: undefined };
  }
  if (!isAbsent(content)) throw new MessagingError('error.fields_exclusive', { field: 'content', other: 'template' });
  checkText('template', template);
  const named = await find(template);
  return { signature: given('signature', signature ?? named.signature), content: named.content, template };
}

function given(field: string, value: string | null | undefined): string {
  if (isAbsent(value)) throw new MessagingError('error.field_missing', { field });
  checkText(field, value);
  return value;
}

/** Null counts as absent, as it does in bodies of requests. */
function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function startOf(given: unknown, now: number): number | undefined {
  if (isAbsent(given)) return undefined;
  const moment = momentOf('send_at', given);
  const hasZone = typeof given === 'string' && given.includes('T');
  if (moment === undefined || !hasZone || moment < now - MAX_PAST_MS || moment > now + MAX_AHEAD_MS) {
    throw invalidField('send_at');
  }
  return moment;
}

function perMinuteOf(given: unknown): number | undefined {
  if (isAbsent(given)) return undefined;
  const isOne = typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= MAX_PER_MINUTE;
  if (!isOne) throw new MessagingError('error.field_not_integer', { field: 'per_minute', min: 1, max: MAX_PER_MINUTE });
  return given;
}

function flagOf(field: string, given: unknown): boolean {
  if (isAbsent(given)) return false;
  if (typeof given !== 'boolean') throw invalidField(field);
  return given;
}
