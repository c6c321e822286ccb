import type { BreakerState, LINK_STATES } from './carrier-state.api.js';
/** The current state of a connection to a carrier. */
export interface LinkState {
  readonly name: string;
  readonly state: (typeof LINK_STATES)[number];
  /** When this state began, in milliseconds since the epoch. */
  readonly since: number;
  /** How many parts may be unanswered at a time. The carrier's limit and its recent answers decide it. */
  readonly window: number;
  /** How many parts were submitted and are not answered yet. */
  readonly inFlight: number;
}

/** The current state of a route to a carrier. */
export interface RouteState {
  /** The name that attempts show: the name of a routed transport's route, or the transport's own name. */
  readonly name: string;
  /** The name of the transport that submits the route's SMS. */
  readonly transport: string;
  /** Whether the route takes SMS now. */
  readonly usable: boolean;
  /** Only for a routed transport's route with a breaker. `open`: it takes no SMS. `probing`: it takes one at a time. */
  readonly breaker?: BreakerState;
  /** The connections of a transport that keeps connections. Otherwise empty. */
  readonly links: readonly LinkState[];
  /**
   * Only for an SMPP route: counts since the start. `bind`: how often the carrier refused a bind, or refused a submit because of
   * the bind, so that the link bound again. `route`: how often the carrier refused the whole route, so that the route rested.
   */
  readonly interruptions?: { readonly bind: number; readonly route: number };
  /** Only for a routed transport's route: its limit in segments per second. */
  readonly pace?: number;
  /** Only for a routed transport's route: how many SMS it was given since the start, and the error of the last failed SMS. */
  readonly submits?: number;
  readonly lastError?: string;
}

/** Counts the submitted SMS, and remembers the last error. */
export class SubmitTally {
  submits = 0;
  lastError: string | undefined;

  take({ kind, error, away }: TalliedResult): void {
    if (kind === 'postponed') {
      // The carrier is failing, although it was given no SMS.
      if (away) this.lastError = error;
      return;
    }
    this.submits++;
    if (kind !== 'sent') this.lastError = error;
  }
}

interface TalliedResult {
  readonly kind: string;
  readonly error?: string | undefined;
  readonly away?: boolean | undefined;
}
