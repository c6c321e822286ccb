import type { SessionStatus } from './session-store.js';

/** A code to scan. It is as good as a key to the account of whoever scans it: never to be logged or kept. */
export interface LinkCode {
  readonly qr: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What somebody who waits for a session to be linked is told. */
export type LinkNews =
  | ({ readonly kind: 'qr' } & LinkCode)
  | {
      readonly kind: 'status';
      readonly sessionId: string;
      readonly status: SessionStatus;
      /** E.164 digits without the plus sign. */
      readonly number?: string;
      readonly reason?: string;
    };
