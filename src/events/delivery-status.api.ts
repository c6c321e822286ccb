/** What the rest of the module has to know of one state of a delivery. */
interface DeliveryState {
  /** States move forward, to a higher rank. See `nextState` for the exceptions. */
  readonly rank: number;
  /**
   * `waiting`: not handed over to a carrier yet. `handed over`: a report of the carrier may follow. `complete`: it needs no
   * further attempt, and nothing is waited for. Each state after `waiting` has an event `message.<state>` and is counted in
   * `messaging_deliveries_total`.
   */
  readonly stage: 'waiting' | 'handed over' | 'complete';
  /** Whether only messaging apps report it. */
  readonly appsOnly: boolean;
}

/**
 * The states of one recipient's delivery, in the order of the documents. Types, checks, SQL, OpenAPI's lists, events and metrics
 * are derived from this table.
 */
export const DELIVERY_STATES = {
  queued: { rank: 0, stage: 'waiting', appsOnly: false },
  sending: { rank: 1, stage: 'waiting', appsOnly: false },
  sent: { rank: 2, stage: 'handed over', appsOnly: false },
  delivered: { rank: 4, stage: 'complete', appsOnly: false },
  read: { rank: 5, stage: 'complete', appsOnly: true },
  /** The carrier could not deliver it. */
  undelivered: { rank: 5, stage: 'complete', appsOnly: false },
  /** Refused for good, or all attempts failed. It is refunded. */
  failed: { rank: 5, stage: 'complete', appsOnly: false },
  /** There is no reliable result. A later report may still decide it. */
  unknown: { rank: 3, stage: 'complete', appsOnly: false },
} as const satisfies Readonly<Record<string, DeliveryState>>;

type States = typeof DELIVERY_STATES;

/**
 * The state of one recipient's delivery: `queued → sending → sent → delivered → read`, or `undelivered` (the carrier could not
 * deliver it), `failed` (refused for good or all attempts failed, and refunded), `unknown` (no reliable result; a later report
 * may still decide it).
 */
export type DeliveryStatus = keyof States;

type StatusWith<Property> = { [S in DeliveryStatus]: States[S] extends Property ? S : never }[DeliveryStatus];

/** The states of a delivery that is not handed over to a carrier yet. */
export type WaitingStatus = StatusWith<{ readonly stage: 'waiting' }>;

/** The states that have an event, because the account is to know of them. */
export type PublishedStatus = Exclude<DeliveryStatus, WaitingStatus>;

/** The states that carriers of SMS report. Only messaging apps report `read`. */
export type SmsStatus = StatusWith<{ readonly appsOnly: false }>;

function statusesWith<S extends DeliveryStatus>(has: (state: DeliveryState) => boolean): readonly S[] {
  const all = Object.entries<DeliveryState>(DELIVERY_STATES);
  // The caller's condition is the one of the type S.
  return all.filter(([, state]) => has(state)).map(([status]) => status as S);
}

export const DELIVERY_STATUSES: readonly DeliveryStatus[] = statusesWith(() => true);
export const WAITING_STATUSES = statusesWith<WaitingStatus>(({ stage }) => stage === 'waiting');
export const PUBLISHED_STATUSES = statusesWith<PublishedStatus>(({ stage }) => stage !== 'waiting');
export const SMS_STATUSES = statusesWith<SmsStatus>(({ appsOnly }) => !appsOnly);

/** The states that complete a recipient: it needs no further attempt, and nothing is waited for. */
export const COMPLETE_STATUSES: readonly DeliveryStatus[] = statusesWith(({ stage }) => stage === 'complete');

export function isComplete(status: DeliveryStatus): boolean {
  return DELIVERY_STATES[status].stage === 'complete';
}

/** Whether a delivery that reaches this state has an event. */
export function isPublished(status: DeliveryStatus): status is PublishedStatus {
  return DELIVERY_STATES[status].stage !== 'waiting';
}

/** States as a list of SQL: `'queued', 'sending'`. */
export function sqlListOf(statuses: readonly DeliveryStatus[]): string {
  return statuses.map((status) => `'${status}'`).join(', ');
}
