import { UuidGenerator } from '../../../src/common/ids.js';
import type { Wire } from '../../../src/notifiers/wire-connection.js';
import { WireNotifier } from '../../../src/notifiers/wire-notifier.js';
import type { FakeClock } from '../../../src/testing/fake-clock.js';

/** The connection between all processes of a test, and its faults. */
export class FakeCarrier {
  /** The payloads that were sent, without probes. */
  readonly payloads: string[] = [];
  readonly wires = new Set<FakeWire>();
  opened = 0;
  closed = 0;
  probes = 0;
  /** A payload is accepted once this promise has resolved. */
  taking: Promise<void> = Promise.resolve();
  /** `refuses`: connections fail; `hangs`: nothing is answered; `deaf`: payloads are accepted and never come back. */
  state: 'up' | 'refuses' | 'hangs' | 'deaf' = 'up';

  /** Delivers to every wire, whoever sent it. */
  carry(payload: unknown): void {
    for (const wire of this.wires) wire.received(payload);
  }

  cut(error: Error = new Error('cut')): void {
    for (const wire of [...this.wires]) wire.lost(error);
  }
}

class FakeWire implements Wire {
  constructor(
    private readonly carrier: FakeCarrier,
    readonly received: (payload: unknown) => void,
    readonly lost: (error?: unknown) => void,
  ) {
    carrier.wires.add(this);
  }

  async send(payload: string): Promise<void> {
    const { carrier } = this;
    if (payload.split(' ').length > 2) carrier.payloads.push(payload);
    else carrier.probes++;
    if (carrier.state === 'hangs') return new Promise(() => undefined);
    if (carrier.state === 'up') setImmediate(() => carrier.carry(payload));
    await carrier.taking;
  }

  close(): void {
    if (this.carrier.wires.delete(this)) this.carrier.closed++;
  }
}

/** The pause before a new connection is not random. */
class EvenIds extends UuidGenerator {
  override random(): number {
    return 1;
  }
}

/** A process on a fake carrier. */
export class FakeNotifier extends WireNotifier {
  constructor(
    private readonly carrier: FakeCarrier,
    clock: FakeClock,
  ) {
    super(clock, new EvenIds(), 'Nothing comes back.');
  }

  override async onModuleInit(): Promise<void> {}

  protected override async open(received: (payload: unknown) => void, lost: (error?: unknown) => void): Promise<Wire> {
    this.carrier.opened++;
    if (this.carrier.state === 'refuses') throw Object.assign(new Error('no: secret'), { code: 'ECONNREFUSED' });
    return new FakeWire(this.carrier, received, lost);
  }
}
