/** Texts of phones that a route dropped, because the number of the phone cannot be read. */
export interface UnreadNumberView {
  readonly route: string;
  readonly count: number;
  /** Masked. */
  readonly last: string;
  readonly last_at: string;
}

/** A connection to a carrier. */
export interface LinkView {
  readonly name: string;
  readonly state: string;
  readonly since: string;
  readonly window: number;
  readonly in_flight: number;
}

/** A route to a carrier, as the answering process sees it. */
export interface RouteView {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly breaker: string | null;
  readonly links: readonly LinkView[];
  /** Segments a second; null: no limit. */
  readonly pace: number | null;
  /** Messages since the start of the process. */
  readonly submits: number;
  readonly last_error: string | null;
}
