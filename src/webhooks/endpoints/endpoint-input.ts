import { MessagingError } from '../../common/errors.js';
import {
  checkInput,
  checkString,
  checkText,
  choiceOf,
  hasCodePoints,
  integerOf,
  invalidField,
} from '../../common/inputs.js';
import { momentOf } from '../../common/listing/list-query.js';
import { isRecord } from '../../common/options.js';
import { HOUR_MS } from '../../common/time.js';
import type { EventType } from '../../events/event-types.js';
import type { ReplayWindow } from '../calls/endpoint-calls.js';
import { eventTypesOf } from '../event-filter.js';
import {
  type EndpointOrdering,
  MAX_BATCHED,
  MAX_DESCRIPTION,
  MAX_WAIT_MS,
  ORDERINGS,
  WEBHOOK_SIGNATURES,
  type WebhookSignature,
} from './endpoint.api.js';
import type { EndpointBatch, EndpointDefinition } from './endpoint.js';

/** A request to create an endpoint. Null counts as absent. */
export interface EndpointDraft extends EndpointChanges {
  /** https at a public address, at most 2048 characters, without credentials. */
  readonly url: string;
  /** Default `hmac`. It cannot be changed later. */
  readonly signature?: WebhookSignature | null | undefined;
}

/** Changes of an endpoint. Fields that are absent or null stay as they are. */
export interface EndpointChanges {
  readonly url?: string | null | undefined;
  /** The types of events that the endpoint receives, `*` for all. Default `["*"]`. */
  readonly types?: readonly string[] | null | undefined;
  /** Default `none`. */
  readonly ordering?: EndpointOrdering | null | undefined;
  /** Default: one event per call. */
  readonly batch?:
    | { readonly max?: number | null | undefined; readonly wait_ms?: number | null | undefined }
    | null
    | undefined;
  /** At most 256 characters. '' for no description. */
  readonly description?: string | null | undefined;
}

/** The events to call again. */
export interface ReplayDraft {
  /** Only events with a higher sequence. */
  readonly after?: number | null | undefined;
  /** Only events from this moment on: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | null | undefined;
  /** Only events before this moment. */
  readonly until?: string | null | undefined;
  /** Only these types, out of those that the endpoint receives. */
  readonly types?: readonly string[] | null | undefined;
  /** Only events whose last call failed. Default false. */
  readonly only_failed?: boolean | null | undefined;
}

/** The longest time that an old secret signs together with its successor, in hours, and the default. */
export const MAX_KEEP_HOURS = 168;
const KEEP_HOURS = 24;

/** The default values of an endpoint. */
export const NEW_DEFINITION: Omit<EndpointDefinition, 'url'> = {
  types: null,
  ordering: 'none',
  batch: { max: 1, waitMs: 0 },
  description: null,
};

/**
 * Returns a definition with the changes, except for the URL, which has its own check.
 *
 * @throws MessagingError `error.body_not_object`, `error.event_type_unknown`, `error.field_invalid`, `error.field_not_list`,
 * `error.field_not_integer`, `error.field_not_string`
 */
export function changed<D extends Omit<EndpointDefinition, 'url'>>(before: D, changes: EndpointChanges): D {
  checkInput(changes);
  const { types, ordering, batch, description } = changes;
  return {
    ...before,
    types: types == null ? before.types : typesOf(types),
    ordering: ordering == null ? before.ordering : choiceOf('ordering', ordering, ORDERINGS),
    batch: batch == null ? before.batch : batchOf(before.batch, batch),
    description: description == null ? before.description : descriptionOf(description),
  };
}

/** @throws MessagingError `error.field_invalid` */
export function webhookSignatureOf(given: unknown): WebhookSignature {
  return given == null ? 'hmac' : choiceOf('signature', given, WEBHOOK_SIGNATURES);
}

/**
 * Returns how long the old secret goes on signing after a rotation, in milliseconds. @throws MessagingError
 * `error.field_not_integer`
 */
export function keepMsOf(hours: unknown): number {
  return (hours == null ? KEEP_HOURS : integerOf('keep_hours', hours, 0, MAX_KEEP_HOURS)) * HOUR_MS;
}

/** @throws MessagingError the errors of `changed`, and `error.field_invalid` for a malformed moment */
export function windowOf(draft: ReplayDraft): ReplayWindow {
  checkInput(draft);
  const { after, since, until, types, only_failed } = draft;
  if (only_failed != null && typeof only_failed !== 'boolean') throw invalidField('only_failed');
  return {
    after: after == null ? undefined : integerOf('after', after, 0, Number.MAX_SAFE_INTEGER),
    since: momentOf('since', since ?? undefined),
    until: momentOf('until', until ?? undefined),
    types: types == null ? undefined : (typesOf(types) ?? undefined),
    onlyFailed: only_failed ?? false,
  };
}

function typesOf(given: unknown): readonly EventType[] | null {
  if (!Array.isArray(given) || given.length === 0 || !given.every((each) => typeof each === 'string')) {
    throw new MessagingError('error.field_not_list', { field: 'types' });
  }
  return eventTypesOf(given) ?? null;
}

function batchOf(before: EndpointBatch, given: unknown): EndpointBatch {
  if (!isRecord(given)) throw invalidField('batch');
  const { max, wait_ms } = given;
  return {
    max: max == null ? before.max : integerOf('batch.max', max, 1, MAX_BATCHED),
    waitMs: wait_ms == null ? before.waitMs : integerOf('batch.wait_ms', wait_ms, 0, MAX_WAIT_MS),
  };
}

function descriptionOf(given: unknown): string | null {
  checkString('description', given);
  if (given === '') return null;
  checkText('description', given);
  if (!hasCodePoints(given, 1, MAX_DESCRIPTION)) throw invalidField('description');
  return given;
}
