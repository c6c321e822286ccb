import type { SmsReport } from '../../../sms/sms-transport.js';

/** The meaning of a receipt's state for the SMS. `sent`: the state is not final, and another receipt reports the end. */
export type ReceiptStatus = SmsReport['status'];

/**
 * The states that carriers document, by their meaning.
 *
 * The difference between `undelivered` and `failed` is money: `failed` is refunded. A state is `failed` only if the carrier
 * itself did not let the SMS through, before any network or phone had it. Its reasons are a lack of credit, a missing route, or
 * one of its own rules. If a network or a phone may have refused the SMS, the state is `undelivered`, because the carrier has
 * done its work by then. A state that does not say who refused is `undelivered` too.
 */
const DOCUMENTED: Readonly<Record<ReceiptStatus, readonly string[]>> = {
  sent: [
    // SMPP 3.4 section 5.2.28 and 5.0 section 4.7.15, with their short forms.
    'SCHEDULED',
    'ENROUTE',
    'ACCEPTED',
    'ACCEPTD',
    // The SMS waits at the carrier, or the carrier has passed it on.
    'SUBMITTED',
    'SUBMITD',
    'SUBMIT',
    'BUFFERED',
    'BUFFRED',
    'BUFFERD',
    'QUEUED',
    'ENQUEUE',
    'ENQUEUED',
    'PENDING',
    'STAGED',
    'WAITING',
    'PROCESSING',
    'PROCESSED',
    'INPROGRESS',
    'DISPATCHED',
    'FORWARDED',
    'ROUTED',
    'SENDING',
    'SENT',
    'RECEIVED',
    'ACK',
    'ACKED',
    'DELAYED',
    'DEFERRED',
    'RETRY',
    'RETRYING',
    'AWAITEDDLR',
  ],
  delivered: ['DELIVERED', 'DELIVRD', 'DELIVERD', 'DELIVRED', 'DLVRD', 'READ', 'SEEN', 'DISPLAYED'],
  undelivered: [
    // SMPP 3.4 and 5.0. SKIPPED is message_state 9.
    'EXPIRED',
    'DELETED',
    'UNDELIVERABLE',
    'UNDELIV',
    'SKIPPED',
    // These are in no standard, and they do not say who refused.
    'FAILED',
    'FAIL',
    'ERROR',
    'UNDELIVERED',
    'UNDELIVRD',
    'UNDLVRD',
    'NOTDELIVERED',
    'SYSERR',
    'SERVERERR',
    'SYSTEMERROR',
    'TIMEOUT',
    'ABORTED',
    // The network or the phone refused.
    'ABSENT',
    'ABSENTSUB',
    'ABSENTSUBSCRIBER',
    'INVALIDSUB',
    'UNKNOWNSUB',
    'UNKNOWNSUBSCRIBER',
    'BARRED',
    'BARREDA',
    'MOBOFF',
    'HANDSETERR',
    'HANDSETBUSY',
    'MEMEXEC',
    'MEMFULL',
    'INBOXFULL',
    'NETERR',
    'NETWORKERROR',
    'ROAMING',
    // A premium SMS to a phone without credit.
    'ZEROBAL',
  ],
  failed: [
    // SMPP 3.4: the carrier accepted the SMS and refused it later.
    'REJECTED',
    'REJECTD',
    'REJECT',
    'REJECTEDMULTIPART',
    'REFUSED',
    // Our own account at the carrier has no credit.
    'NOCRED',
    'NOCREDIT',
    'NOCREDITS',
    'NOBALANCE',
    'INSUFFICIENTCREDIT',
    'INSUFFICIENTCREDITS',
    'NOFUNDS',
    // The carrier has no route to this number, or cannot read it as a number.
    'NOROUTE',
    'NOTROUTABLE',
    'UNROUTABLE',
    'UNROUTED',
    'INVNUMBER',
    'INVALIDNUMBER',
    'INVALIDNUM',
    'INVNUM',
    // The carrier's own rules refused: its lists, its filters, its register of senders and templates.
    'BLACKLISTED',
    'BLACKLIST',
    'BLACKLST',
    'BLIST',
    'BLOCKED',
    'FILTERED',
    'SPAM',
    'DND',
    'DNDNUMB',
    'OPTOUT',
    'OPTOUTREJ',
    'NOTOPTIN',
    'NOTALLOWED',
    'PROHIBITED',
    'SERIESBLK',
    'SERIESBLOCK',
    'SNDRIDNOTALLOTED',
    'SENDERIDNOTFOUND',
    'TEMPLATENOTFOUND',
    'INVTEMPLATEMATCH',
    // Nothing was sent.
    'CANCELLED',
    'CANCELED',
    'NOTSENT',
    'UNSENT',
  ],
  unknown: ['UNKNOWN', 'UNKNOWNSTATE', 'NULL', 'NONE', 'NODLR', 'NODLROPTR', 'UNCONFIRMED'],
};

/** All statuses that a state may mean. */
export const RECEIPT_STATUSES = Object.keys(DOCUMENTED) as readonly ReceiptStatus[];

/** The states by the value of the parameter message_state, starting with 0 (SMPP 3.4 section 5.2.28, SMPP 5.0 for 0 and 9). */
const BY_NUMBER = [
  'SCHEDULED',
  'ENROUTE',
  'DELIVRD',
  'EXPIRED',
  'DELETED',
  'UNDELIV',
  'ACCEPTD',
  'UNKNOWN',
  'REJECTD',
  'SKIPPED',
] as const;

/** Some carriers cut a state to the length of the standard's states. */
const CUT_LENGTH = 7;

/** The meanings of the states in receipts of one link. */
export class ReceiptStates {
  private readonly statuses: ReadonlyMap<string, ReceiptStatus>;
  private readonly own: ReadonlySet<string>;

  /**
   * @param own the host's meanings of its carrier's states, by the state in upper or lower case. They take precedence over our
   * table
   */
  constructor(own: Readonly<Record<string, ReceiptStatus>> = {}) {
    const documented = RECEIPT_STATUSES.flatMap((status) =>
      DOCUMENTED[status].map((state): [string, ReceiptStatus] => [keyOf(state), status]),
    );
    const hosts = Object.entries(own).map(([state, status]): [string, ReceiptStatus] => [keyOf(state), status]);
    this.statuses = new Map([...documented, ...hosts]);
    this.own = new Set(hosts.map(([state]) => state));
  }

  /**
   * Returns the status of a state, which may be in upper or lower case, with or without separators, or a number. Undefined: not
   * known.
   */
  statusOf(state: string): ReceiptStatus | undefined {
    const key = keyOf(state);
    return this.statuses.get(key) ?? this.ofNumber(key) ?? this.ofCut(key);
  }

  /** Whether the host says what the state means. */
  isOwn(state: string): boolean {
    return this.own.has(keyOf(state));
  }

  private ofNumber(key: string): ReceiptStatus | undefined {
    const state = /^0{0,2}\d$/.test(key) ? stateByNumber(Number(key)) : undefined;
    return state === undefined ? undefined : this.statuses.get(state);
  }

  /** Returns the status of the states that begin with this text, if they all have the same status. */
  private ofCut(key: string): ReceiptStatus | undefined {
    if (key.length !== CUT_LENGTH) return undefined;
    const found = new Set([...this.statuses].filter(([state]) => state.startsWith(key)).map(([, status]) => status));
    const [status, ...others] = found;
    return others.length === 0 ? status : undefined;
  }
}

/** Returns the state of a message_state. Undefined for a value that is in no standard. */
export function stateByNumber(messageState: number): string | undefined {
  return BY_NUMBER[messageState];
}

/** Returns the key of a state. Example: `No-Credits` is `NOCREDITS`. */
function keyOf(state: string): string {
  return state.toUpperCase().replace(/[\s_.-]/g, '');
}
