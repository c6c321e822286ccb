/** A message of any channel in the list. */
export interface Row {
  readonly channel: string;
  readonly id: string;
  readonly at: string;
  readonly to: string;
  /** How many further recipients there are. */
  readonly others: number;
  readonly from: string;
  /** Null when it was removed. */
  readonly text: string | null;
  /** A file's kind, on messaging apps. */
  readonly media: string | undefined;
  readonly units: number;
  readonly refunded: number;
  /** Undefined on SMS, where each recipient has its own. */
  readonly status: string | undefined;
}
