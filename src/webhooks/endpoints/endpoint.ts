import type { EventType } from '../../events/event-types.js';

/** `none`: a failed call is tried again by itself and the others go on. `strict`: one call under way, nothing overtakes. */
export type EndpointOrdering = 'none' | 'strict';

/** How calls are signed (Standard Webhooks): HMAC-SHA256 (`v1`), or Ed25519 (`v1a`). */
export type EndpointSignature = 'hmac' | 'ed25519';

/** Why an endpoint is not called: by `disable`, after 72 hours of nothing but failures, or after a 410. */
export type DisabledReason = 'requested' | 'failures' | 'gone';

/** How many events one call may carry, and how long the first of them waits for others. */
export interface EndpointBatch {
  /** 1 to 100; 1: each call is one event. */
  readonly max: number;
  /** Milliseconds, 0 to 5000. */
  readonly waitMs: number;
}

/** A version of an endpoint's secret, which is derived and stored nowhere. */
export interface SecretVersion {
  /** Counts from 1. */
  readonly number: number;
  /** The name of the pepper that it is derived from. */
  readonly pepper: string;
  /** From when on it does not sign, milliseconds since the epoch; null for the newest. */
  readonly endsAt: number | null;
}

/** What the owner of an endpoint decides. */
export interface EndpointDefinition {
  /** As the URL standard serialises it; at most 2048 characters. */
  readonly url: string;
  /** Null: all. Not empty. */
  readonly types: readonly EventType[] | null;
  readonly ordering: EndpointOrdering;
  readonly batch: EndpointBatch;
  readonly description: string | null;
}

/** An endpoint before it is stored. Times in milliseconds since the epoch. */
export interface NewEndpoint extends EndpointDefinition {
  readonly id: string;
  readonly accountId: string;
  readonly signature: EndpointSignature;
  /** The newest first. */
  readonly versions: readonly SecretVersion[];
  readonly createdAt: number;
}

/** An endpoint of an account, which is called with its events. */
export interface Endpoint extends NewEndpoint {
  readonly status: 'enabled' | 'disabled';
  /** Null while enabled. */
  readonly reason: DisabledReason | null;
  /** The number up to which events have been called or are tried again. */
  readonly cursor: number;
  /** Since when there was nothing but failures; null: the last call was answered with yes. */
  readonly failingSince: number | null;
  /** Until when it asked to be left alone (`Retry-After`). */
  readonly restsUntil: number | null;
  readonly updatedAt: number;
}

/** A call of an endpoint. Its request is rendered from the log. */
export interface EndpointAttempt {
  readonly id: string;
  /** The numbers of its events; empty for `test.ping` and `endpoint.gap`. */
  readonly sequences: readonly number[];
  readonly at: number;
  readonly ms: number;
  /** Whether the answer was 2xx. */
  readonly ok: boolean;
  /** The status of the answer; undefined: there was none. */
  readonly status: number | undefined;
  /** Why there was no answer, a short word. */
  readonly error: string | undefined;
  /** The answer's body, cut. */
  readonly reply: string | undefined;
}
