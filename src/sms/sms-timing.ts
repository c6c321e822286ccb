import { DEFAULT_TIMING, type DeliveryTiming } from '../outbox/hand-off.js';
import type { SmsSettings } from './sms-options.js';
import type { SmsTransport } from './sms-transport.js';

/** How long and how often on this channel: what the host says, else the transport, else the default. */
export function smsTiming({ timing }: Pick<SmsTransport, 'timing'>, { delivery }: SmsSettings): DeliveryTiming {
  return { ...DEFAULT_TIMING, ...timing, ...delivery };
}
