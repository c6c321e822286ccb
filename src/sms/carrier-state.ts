/** A connection to a carrier, as it is now. */
export interface LinkState {
  readonly name: string;
  readonly state: 'up' | 'down';
  /** When that began, milliseconds since the epoch. */
  readonly since: number;
  /** The most parts that may be unanswered at a time, as the carrier and its answers allow now. */
  readonly window: number;
  /** Parts that were submitted and not answered yet. */
  readonly inFlight: number;
}

/** A route to a carrier, as it is now. */
export interface RouteState {
  /** The name in attempts: that of a routed transport's route, or the transport's own. */
  readonly name: string;
  /** The name of the transport that carries for it. */
  readonly transport: string;
  /** Whether it takes SMS now. */
  readonly usable: boolean;
  /** Of a routed transport's route with a breaker: `open` takes none, `probing` one at a time. */
  readonly breaker?: 'closed' | 'open' | 'probing';
  /** Of a transport that keeps connections; otherwise empty. */
  readonly links: readonly LinkState[];
  /**
   * Of an SMPP route, since the start. `bind`: how often the carrier refused a bind, or a submit because of its bind, so that
   * the link bound again. `route`: how often it refused the whole route, so that the route rested.
   */
  readonly interruptions?: { readonly bind: number; readonly route: number };
  /** Of a routed transport's route: its limit in segments per second. */
  readonly pace?: number;
  /** Of a routed transport's route: how many SMS it was given since the start, and the error of the last that failed. */
  readonly submits?: number;
  readonly lastError?: string;
}

/** Counts what was submitted, and remembers the last error. */
export class SubmitTally {
  submits = 0;
  lastError: string | undefined;

  take({ kind, error, away }: TalliedResult): void {
    if (kind === 'postponed') {
      // The carrier is failing, though it was given nothing.
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
