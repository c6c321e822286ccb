import { FakeClock } from '../../../src/testing/fake-clock.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../src/transports/smpp/pdu/pdu.js';
import type { SessionHandlers } from '../../../src/transports/smpp/session/session-deliveries.js';
import {
  SMPP_SESSION_DEFAULTS,
  type SmppSessionSettings,
} from '../../../src/transports/smpp/session/session-settings.js';
import { SmppSession } from '../../../src/transports/smpp/session/smpp-session.js';

/** What a test session is opened with, each with a default. */
export interface OpenSessionOptions {
  readonly settings?: Partial<SmppSessionSettings>;
  readonly handlers?: Partial<SessionHandlers>;
  readonly clock?: FakeClock;
  readonly signal?: AbortSignal;
}

/** Binds as the `client` of a test SMSC. Time stands still unless the clock is turned. */
export function openSession(port: number, options: OpenSessionOptions = {}): Promise<SmppSession> {
  return SmppSession.open(
    { ...SMPP_SESSION_DEFAULTS, host: '127.0.0.1', port, systemId: 'client', password: 'secret', ...options.settings },
    { deliver: async () => {}, ...options.handlers },
    options.clock ?? new FakeClock(),
    options.signal,
  );
}

/** A short text; `number` makes it tell apart. */
export function aMessage(number = 0): ShortMessage {
  return {
    ...PLAIN_SHORT_MESSAGE,
    source: { ton: 5, npi: 0, address: 'Acme' },
    destination: { ton: 1, npi: 1, address: String(33_600_000_000 + number) },
    registeredDelivery: 1,
    shortMessage: Buffer.from(`message ${number}`),
  };
}
