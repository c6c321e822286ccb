/** What `GET /sms` lists. */
export interface SmsSummary {
  readonly smsID: string;
  readonly signature: string;
  /** The first 100. */
  readonly number: readonly string[];
  readonly sms_units: number;
  readonly date_sent: string;
  /** Null when it was removed. */
  readonly content: string | null;
  readonly segments: number | null;
  readonly recipients_count: number;
  readonly refunded_units: number;
  readonly metadata: Readonly<Record<string, string>> | null;
}

export interface Attempt {
  readonly at: string;
  readonly route: string;
  readonly status: string;
  readonly error: string | null;
  readonly segments: number | null;
}

export interface Recipient {
  readonly number: string;
  readonly status: string;
  readonly units: number;
  readonly refunded_units: number;
  readonly error: string | null;
  readonly updated_at: string;
  /** The newest 10, oldest first. */
  readonly attempts: readonly Attempt[];
  readonly attempts_count: number;
}

/** What `GET /<channel>/messages` lists. */
export interface AppMessage {
  readonly messageID: string;
  readonly from: string;
  readonly to: string;
  readonly body: string | null;
  readonly media: {
    readonly type: string;
    readonly mimetype: string;
    readonly size: number;
    readonly caption: string | null;
  } | null;
  readonly status: string;
  readonly error: string | null;
  readonly units: number;
  readonly refunded_units: number;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly queued_at: string;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
  readonly updated_at: string;
}

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
