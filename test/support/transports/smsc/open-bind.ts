import { FakeClock } from '../../../../src/testing/fake-clock.js';
import type { BindHandlers } from '../../../../src/transports/smpp/bind/bind-deliveries.js';
import { SMPP_BIND_DEFAULTS, type SmppBindSettings } from '../../../../src/transports/smpp/bind/bind-settings.js';
import { SmppBind } from '../../../../src/transports/smpp/bind/smpp-bind.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../../src/transports/smpp/pdu/pdu.js';

/** The options of a test bind, each with a default. */
export interface OpenBindOptions {
  readonly settings?: Partial<SmppBindSettings>;
  readonly handlers?: Partial<BindHandlers>;
  readonly clock?: FakeClock;
  readonly signal?: AbortSignal;
}

/** Binds as the `client` of a test SMSC. Time stands still unless the test advances the clock. */
export function openBind(port: number, options: OpenBindOptions = {}): Promise<SmppBind> {
  return SmppBind.open(
    { ...SMPP_BIND_DEFAULTS, host: '127.0.0.1', port, systemId: 'client', password: 'secret', ...options.settings },
    { deliver: async () => {}, ...options.handlers },
    options.clock ?? new FakeClock(),
    options.signal,
  );
}

/** A short text. `number` makes it different from others. */
export function aMessage(number = 0): ShortMessage {
  return {
    ...PLAIN_SHORT_MESSAGE,
    source: { ton: 5, npi: 0, address: 'Acme' },
    destination: { ton: 1, npi: 1, address: String(33_600_000_000 + number) },
    registeredDelivery: 1,
    shortMessage: Buffer.from(`message ${number}`),
  };
}
