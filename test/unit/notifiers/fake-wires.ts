import { UuidGenerator } from '../../../src/common/ids.js';
import type { Wire } from '../../../src/notifiers/wire-connection.js';
import { WireNotifier } from '../../../src/notifiers/wire-notifier.js';
import type { FakeClock } from '../../../src/testing/fake-clock.js';

/** What all processes of a test are connected by, and what goes wrong with it. */
export class FakeCarrier {
  /** What was sent, probes aside. */
  readonly payloads: string[] = [];
  readonly wires = new Set<FakeWire>();
  opened = 0;
  closed = 0;
  probes = 0;
  /** What is sent is taken when this is over. */
  taking: Promise<void> = Promise.resolve();
  /** `refuses`: no connection comes about; `hangs`: nothing is answered; `deaf`: what is taken does not come back. */
  state: 'up' | 'refuses' | 'hangs' | 'deaf' = 'up';

  /** To every wire, whoever sent it. */
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

/** No pause before connecting again is random. */
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
