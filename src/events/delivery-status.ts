export type DeliveryStage = 'waiting' | 'handed over' | 'reached' | 'not reached' | 'unsure';

/** The properties of one state of a delivery. */
interface DeliveryState {
  /**
   * States move forward, to a higher rank. See `nextState` for the exceptions. A state that is only shown and never
   * stored has the rank of the state that is stored for it.
   */
  readonly rank: number;
  /**
   * `waiting`: no carrier has it yet. `handed over`: a report of the carrier may follow. A delivery in any other stage
   * is complete, and no further attempt is made. `reached`: it reached the phone. `not reached`: it did not. `unsure`:
   * nobody knows whether it did. Each state after `waiting` has an event `message.<state>` and is counted in
   * `messaging_deliveries_total`.
   */
  readonly stage: DeliveryStage;
  /** Whether only messaging apps report this state. */
  readonly appsOnly: boolean;
  /** Whether carriers or apps report this state. The others are only set by this service. */
  readonly isReported: boolean;
  /** Whether the units of a recipient that reaches this state are refunded. */
  readonly isRefunded: boolean;
  /** The meaning of the state, as documents describe it. */
  readonly meaning: string;
  /** The name of the state on the pages of the dashboard and of the sandbox. */
  readonly name: { readonly en: string; readonly fr: string };
}

/**
 * The states of one recipient's delivery, in the order in which documents list them. The types, lists of SQL, OpenAPI,
 * events, metrics and the words and colours of the pages are derived from this table. What leads to a state is not: see
 * `nextState`, and for a state of the stage `waiting` also the queues (CONTRIBUTING.md, "A state before the carrier").
 */
export const DELIVERY_STATES = {
  queued: {
    rank: 0,
    stage: 'waiting',
    appsOnly: false,
    isReported: false,
    isRefunded: false,
    meaning: 'The message waits for its first attempt.',
    name: { en: 'Queued', fr: 'En file' },
  },
  sending: {
    rank: 1,
    stage: 'waiting',
    appsOnly: false,
    isReported: false,
    isRefunded: false,
    meaning: 'An attempt is in progress, or has failed and will be repeated. `error` gives the reason.',
    name: { en: 'Sending', fr: 'En cours d’envoi' },
  },
  sent: {
    rank: 2,
    stage: 'handed over',
    appsOnly: false,
    isReported: true,
    isRefunded: false,
    meaning: 'A carrier or a messaging app has accepted the message.',
    name: { en: 'Sent', fr: 'Envoyé' },
  },
  delivered: {
    rank: 4,
    stage: 'reached',
    appsOnly: false,
    isReported: true,
    isRefunded: false,
    meaning: 'The message reached the phone.',
    name: { en: 'Delivered', fr: 'Remis' },
  },
  read: {
    rank: 5,
    stage: 'reached',
    appsOnly: true,
    isReported: true,
    isRefunded: false,
    meaning: 'The recipient has read the message; messaging apps only.',
    name: { en: 'Read', fr: 'Lu' },
  },
  undelivered: {
    rank: 5,
    stage: 'not reached',
    appsOnly: false,
    isReported: true,
    isRefunded: false,
    meaning: 'The carrier could not deliver the message.',
    name: { en: 'Undelivered', fr: 'Non remis' },
  },
  failed: {
    rank: 5,
    stage: 'not reached',
    appsOnly: false,
    isReported: true,
    isRefunded: true,
    meaning: 'The message was refused for good, or all its attempts failed. Its units are refunded.',
    name: { en: 'Failed', fr: 'Échoué' },
  },
  canceled: {
    rank: 5,
    stage: 'not reached',
    appsOnly: false,
    isReported: false,
    isRefunded: true,
    meaning: 'The account canceled the message before it was handed over. Its units are refunded.',
    name: { en: 'Canceled', fr: 'Annulé' },
  },
  unknown: {
    rank: 3,
    stage: 'unsure',
    appsOnly: false,
    isReported: true,
    isRefunded: false,
    meaning: 'There is no reliable result. A later report may still decide it.',
    name: { en: 'Unknown', fr: 'Inconnu' },
  },
} as const satisfies Readonly<Record<string, DeliveryState>>;

type States = typeof DELIVERY_STATES;

/**
 * The state of one recipient's delivery: `queued → sending → sent → delivered → read`, or `undelivered`, `failed`,
 * `canceled`, `unknown`.
 * `DELIVERY_STATES` says what each means.
 */
export type DeliveryStatus = keyof States;

type StatusWith<Property> = { [S in DeliveryStatus]: States[S] extends Property ? S : never }[DeliveryStatus];

/** The states of a delivery that has not been handed over to a carrier yet. */
export type WaitingStatus = StatusWith<{ readonly stage: 'waiting' }>;

/** The state in which an accepted delivery begins. */
export const FIRST_STATUS = 'queued' satisfies WaitingStatus;

/** The states that have an event, so that the account learns of them. */
export type PublishedStatus = Exclude<DeliveryStatus, WaitingStatus>;

/** The states of an SMS. */
export type SmsStatus = StatusWith<{ readonly appsOnly: false }>;

/** The states that carriers of SMS report. */
export type ReportedStatus = Extract<SmsStatus, StatusWith<{ readonly isReported: true }>>;

function statusesWith<S extends DeliveryStatus>(has: (state: DeliveryState) => boolean): readonly S[] {
  const all = Object.entries<DeliveryState>(DELIVERY_STATES);
  // The compiler cannot know this: the caller's condition must match the type S.
  return all.filter(([, state]) => has(state)).map(([status]) => status as S);
}

export const DELIVERY_STATUSES = statusesWith<DeliveryStatus>(() => true);
export const WAITING_STATUSES = statusesWith<WaitingStatus>(({ stage }) => stage === 'waiting');
export const PUBLISHED_STATUSES = statusesWith<PublishedStatus>(({ stage }) => stage !== 'waiting');
export const SMS_STATUSES = statusesWith<SmsStatus>(({ appsOnly }) => !appsOnly);
export const REPORTED_STATUSES = statusesWith<ReportedStatus>(({ isReported, appsOnly }) => isReported && !appsOnly);

/** The states that complete a recipient: it needs no further attempt, and nothing is waited for. */
export const COMPLETE_STATUSES = statusesWith<DeliveryStatus>(
  ({ stage }) => stage !== 'waiting' && stage !== 'handed over',
);

/** The states whose units are refunded. */
export const REFUNDED_STATUSES = statusesWith<DeliveryStatus>(({ isRefunded }) => isRefunded);

export function isComplete(status: DeliveryStatus): boolean {
  return COMPLETE_STATUSES.includes(status);
}

/** Whether a delivery that reaches this state has an event. */
export function isPublished(status: DeliveryStatus): status is PublishedStatus {
  return DELIVERY_STATES[status].stage !== 'waiting';
}

/** States with what they mean, for documents: `` `queued`: It waits for its first attempt. `` and so on. */
export function meaningsOf(statuses: readonly DeliveryStatus[]): string {
  return statuses.map((status) => `\`${status}\`: ${DELIVERY_STATES[status].meaning}`).join(' ');
}

/** States as a list of SQL: `'queued', 'sending'`. */
export function sqlListOf(statuses: readonly DeliveryStatus[]): string {
  return statuses.map((status) => `'${status}'`).join(', ');
}
