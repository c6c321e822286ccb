import type { EventType } from '../../events/event-types.js';
import type { EndpointOrdering, EndpointView, WebhookSignature } from './endpoint.api.js';

/** Why an endpoint is disabled: by `disable`, after 72 hours in which all calls failed, or after a 410. */
export type DisabledReason = NonNullable<EndpointView['reason']>;

/** How many events one call may have, and how long its first event waits for others. */
export interface EndpointBatch {
  /** 1 to 100. 1: each call has one event. */
  readonly max: number;
  /** Milliseconds, 0 to 5000. */
  readonly waitMs: number;
}

/** A version of an endpoint's secret. The secret itself is derived and never stored. */
export interface SecretVersion {
  /** Counts the versions from 1. */
  readonly number: number;
  /** The name of the pepper that the secret is derived from. */
  readonly pepper: string;
  /** When it stops signing, in milliseconds since the epoch. Null for the newest version. */
  readonly endsAt: number | null;
}

/** The values of an endpoint that its owner decides. */
export interface EndpointDefinition {
  /** The URL as the URL standard serialises it, at most 2048 characters. */
  readonly url: string;
  /** The types that the endpoint receives. Null: all. Never empty. */
  readonly types: readonly EventType[] | null;
  readonly ordering: EndpointOrdering;
  readonly batch: EndpointBatch;
  readonly description: string | null;
}

/** An endpoint before it is stored. Times are in milliseconds since the epoch. */
export interface NewEndpoint extends EndpointDefinition {
  readonly id: string;
  readonly accountId: string;
  readonly signature: WebhookSignature;
  /** The newest first. */
  readonly versions: readonly SecretVersion[];
  readonly createdAt: number;
}

/** An endpoint of an account. The service calls it with the account's events. */
export interface Endpoint extends NewEndpoint {
  readonly status: EndpointView['status'];
  /** Null while enabled. */
  readonly reason: DisabledReason | null;
  /** The sequence number up to which events have been called or are being tried again. */
  readonly cursor: number;
  /** Since when all calls have failed. Null: the last call was answered with 2xx. */
  readonly failingSince: number | null;
  /** Until when no calls are made, because the endpoint asked for a pause (`Retry-After`). */
  readonly restsUntil: number | null;
  readonly updatedAt: number;
}

/** A call of an endpoint. Its request is rendered from the log. */
export interface EndpointAttempt {
  readonly id: string;
  /** The sequence numbers of its events. Empty for `test.ping` and `endpoint.gap`. */
  readonly sequences: readonly number[];
  readonly at: number;
  readonly ms: number;
  /** Whether the answer was 2xx. */
  readonly ok: boolean;
  /** The status of the response. Undefined: there was no response. */
  readonly status: number | undefined;
  /** Why there was no response, in a short word. */
  readonly error: string | undefined;
  /** The first bytes of the response's body. */
  readonly reply: string | undefined;
}
