import { MINUTE_MS } from '../../common/time.js';
import type { SendPriority } from '../../outbox/queue/priority.api.js';
import type { SmsToSend } from '../../sms/sms-service.js';
import { TOLD_BITS } from './kannel-call.js';
import type { KannelQuery } from './kannel-query.js';
import { KannelRefusal } from './kannel-refusal.js';
import { textIn } from './kannel-text.js';

/** What a `sendsms` query asks for. */
export interface KannelOrder {
  readonly sms: SmsToSend;
  /** The URL that wants to know the status. A mask of 0: no status is told. */
  readonly dlr: { readonly url: string; readonly mask: number } | undefined;
}

/** Fields that would change what is sent, and that this service cannot do. */
const REFUSED = ['udh', 'mclass', 'flash', 'mwi', 'pid', 'alt-dcs'];

/** A year. The service itself has narrower ranges. */
const MAX_MINUTES = 525_600;

/** All bits that Kannel knows. */
const MAX_MASK = 63;

/** Our priorities of Kannel's 0 to 3. Undefined: as without one. */
const PRIORITIES: readonly (SendPriority | undefined)[] = [undefined, 'normal', 'high', 'high'];

/**
 * @param now milliseconds since the epoch
 * @throws KannelRefusal
 */
export function orderIn(query: KannelQuery, now: number): KannelOrder {
  for (const field of REFUSED) {
    if (query.bytes(field)) throw new KannelRefusal(400, `${field} is not supported, rejected`);
  }
  const number = recipientsIn(query);
  const signature = query.text('from');
  if (signature === undefined) throw new KannelRefusal(400, 'Sender missing and no global set, rejected');
  const url = query.text('dlr-url');
  const mask = (query.integer('dlr-mask', MAX_MASK) ?? 0) & TOLD_BITS;
  return {
    sms: {
      signature: numberOf(signature),
      content: textIn(query),
      number,
      priority: PRIORITIES[query.integer('priority', PRIORITIES.length - 1) ?? 0],
      ...scheduleIn(query, now),
    },
    dlr: url === undefined ? undefined : { url, mask },
  };
}

function recipientsIn(query: KannelQuery): readonly string[] {
  if (!query.has('to')) throw new KannelRefusal(400, 'Missing receiver number, rejected');
  const numbers = (query.text('to') ?? '').split(/\s+/).filter((number) => number !== '');
  if (numbers.length === 0) throw new KannelRefusal(400, 'Empty receiver number not allowed, rejected');
  return numbers.map(numberOf);
}

/** Numbers may have a plus sign, or 00, in Kannel's shape. */
function numberOf(text: string): string {
  return text.replace(/^(?:\+|00)(?=\d)/, '');
}

/** In Kannel, both fields count from now. With us, the validity counts from `send_at`. */
function scheduleIn(query: KannelQuery, now: number): Pick<SmsToSend, 'send_at' | 'valid_for'> {
  const deferred = query.integer('deferred', MAX_MINUTES) ?? 0;
  const validity = query.integer('validity', MAX_MINUTES);
  if (validity !== undefined && validity <= deferred) {
    throw new KannelRefusal(400, 'validity must be later than deferred, rejected');
  }
  return {
    send_at: deferred === 0 ? undefined : new Date(now + deferred * MINUTE_MS).toISOString(),
    valid_for: validity === undefined ? undefined : (validity - deferred) * 60,
  };
}
