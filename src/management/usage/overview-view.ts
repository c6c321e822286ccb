/** Something that somebody should look at. */
export interface AttentionView {
  readonly kind: 'balance_low' | 'signature_rejected' | 'endpoint_disabled' | 'number_lost' | 'key_expiring';
  /** A name, the id of an endpoint or a key, a number; of a balance the threshold in units. */
  readonly target: string;
  /** When it happened or will; null where that is not known. */
  readonly at: string | null;
}

/** What an account's people look at first. */
export interface OverviewView {
  readonly balance: number;
  /** Since when the message waits that waits the longest; null: none does. */
  readonly oldest_waiting: string | null;
  /** How many recipients are in each state, of messages of today (UTC) and of the same hours a week ago. */
  readonly today: Readonly<Record<string, number>>;
  readonly last_week: Readonly<Record<string, number>>;
  /** Whether more was sent than is counted: the newest 10 000 recipients of each channel and kind. */
  readonly capped: { readonly today: boolean; readonly last_week: boolean };
  readonly attention: readonly AttentionView[];
}
