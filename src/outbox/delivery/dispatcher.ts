import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Rounds } from '../../common/concurrency/rounds.js';
import { IdGenerator } from '../../common/ids.js';
import { Notifier } from '../../common/notifier.js';
import { Channels } from '../channel.js';
import { OperatingSwitches } from '../operating-state.js';
import { Outbox } from '../outbox.js';
import { OutboxStore } from '../outbox-store.js';
import { DispatchSettings, roleDelivers } from './dispatch-options.js';
import { ChannelWorker } from './worker.js';

/** How long the storing of results may take after the channels have stopped, in milliseconds. */
const SETTLE_MS = 5000;

/**
 * Starts a worker for each channel of the process's role when the application has started, and stops them before it shuts
 * down.
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly workers = new Map<string, ChannelWorker>();
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly channels: Channels,
    private readonly store: OutboxStore,
    private readonly outbox: Outbox,
    private readonly settings: DispatchSettings,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly rounds: Rounds,
    private readonly switches: OperatingSwitches,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    for (const channel of this.channels.all()) {
      if (!roleDelivers(this.settings.role, channel.lanes() ? 'lanes' : 'no lanes')) continue;
      await channel.start(() => this.workers.get(channel.name)?.notify());
      const { store, outbox, settings, clock, ids, rounds, switches } = this;
      const observed = this.channels.observed(channel);
      const worker = new ChannelWorker(observed, store, outbox, settings, clock, ids, rounds, switches);
      this.workers.set(channel.name, worker);
      if (worker.direct) outbox.deliverDirectly(channel.name, worker.direct);
      worker.start();
    }
    this.stopListening = this.notifier.listen('due', (channel) => this.workers.get(channel)?.notify());
  }

  /**
   * Finishes the deliveries in flight and stores their results. Sends that are accepted from now on are stored, and are
   * delivered after the next start.
   */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopListening();
    await Promise.all([...this.workers.values()].map((worker) => worker.stop()));
    await Promise.all([...this.workers.keys()].map((name) => this.channels.find(name)?.stop()));
    // A stopping channel returns its last results. They must be stored before the storage closes.
    await Promise.all([...this.workers.values()].map((worker) => worker.settled(SETTLE_MS)));
    this.workers.clear();
  }
}
