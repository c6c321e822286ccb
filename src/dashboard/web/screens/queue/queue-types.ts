export interface Depth {
  readonly channel: string;
  readonly priority: string;
  readonly depth: number;
  readonly oldest_due: string | null;
}

export interface Pause {
  /** Null: all channels. */
  readonly channel: string | null;
  /** Null: all accounts. */
  readonly account: string | null;
  readonly since: string;
}

export interface QueueView {
  readonly items: readonly Depth[];
  readonly paused: readonly Pause[];
}
