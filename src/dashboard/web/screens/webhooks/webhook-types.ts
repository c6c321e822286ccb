import type { LoggedEvent } from '../shared/event.js';

export interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly ordering: string;
  readonly batch: { readonly max: number; readonly wait_ms: number };
  readonly signature: string;
  readonly description: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly last_sequence: number;
  readonly failing_since: string | null;
  readonly rests_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The answer that has the secret, once. */
export type EndpointWithSecret = EndpointView & { readonly secret?: string; readonly public_key?: string };

export interface AttemptView {
  readonly id: string;
  readonly sequence: number | null;
  readonly sequences: readonly number[];
  readonly status: string;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly ms: number;
  readonly at: string;
  readonly request: LoggedEvent | { readonly events: readonly LoggedEvent[] } | null;
  readonly response: string | null;
}

export interface PingResult {
  readonly status: number | null;
  /** Null for an origin that the host has allowed. */
  readonly ms: number | null;
  readonly response: string | null;
}
