/** A message of any channel in the list. */
export interface Row {
  readonly channel: string;
  readonly id: string;
  readonly at: string;
  readonly to: string;
  /** How many more recipients there are. */
  readonly others: number;
  readonly from: string;
  /** Null if the text was removed. */
  readonly text: string | null;
  /** Messaging apps: the kind of the file. */
  readonly media: string | undefined;
  readonly units: number;
  readonly refunded: number;
  /** Undefined for an SMS, because each of its recipients has its own status. */
  readonly status: string | undefined;
}
