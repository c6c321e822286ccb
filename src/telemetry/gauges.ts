import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { type RoundReport, Rounds } from '../common/concurrency/rounds.js';
import { type FaultLog, faultCode, faultLog, reasonOf } from '../common/log.js';
import { Channels } from '../outbox/channel.js';
import { Outbox } from '../outbox/outbox.js';
import { PRIORITIES } from '../outbox/queue/priority.api.js';
import type { RouteState } from '../sms/carrier-state.js';
import { SmsChannel } from '../sms/sms-channel.js';
import { StartedStorage } from '../storage/messaging-storage.js';
import { Instruments } from './instruments.js';
import { type StorageMeasures, StorageMeter } from './storage-meter.js';
import { LedgerFindings } from './store-probes.js';

/**
 * The time between two readings of the database for gauges, and the time without an answer after which the storage
 * counts as down, in milliseconds.
 */
const EVERY_MS = 10_000;
const PATIENCE_MS = 5000;

/**
 * Provides the gauges. Those of the database are read in the background every ten seconds, so that a scrape is answered from
 * memory. While the database is down, the last values are shown.
 */
@Injectable()
export class Gauges implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly warnings: FaultLog;
  private measures: StorageMeasures | undefined;
  /** When the gauges were last read, in milliseconds since the epoch. */
  private measuredAt = 0;
  private isUp = false;
  /** When the present round began, by the clock's `elapsed`. */
  private begun: number | undefined;
  private round: RoundReport | undefined;
  private cancel: () => void = () => undefined;
  private stopped = false;

  constructor(
    private readonly storage: StartedStorage,
    private readonly outbox: Outbox,
    private readonly channels: Channels,
    private readonly instruments: Instruments,
    private readonly books: LedgerFindings,
    private readonly rounds: Rounds,
    private readonly clock: Clock,
  ) {
    this.warnings = faultLog('Telemetry', clock);
  }

  onApplicationBootstrap(): void {
    if (!this.instruments.isOn) return;
    this.ofTheProcess();
    this.ofCarriers();
    this.ofTheDatabase();
    this.round = this.rounds.start('gauges', { everyMs: EVERY_MS, isUpkeep: true });
    void this.measure();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    this.cancel();
    this.round?.stopped();
  }

  private async measure(): Promise<void> {
    const { clock, storage, instruments } = this;
    const began = clock.elapsed();
    this.begun = began;
    try {
      const now = clock.now();
      const channels = this.channels.all().map(({ name }) => name);
      this.measures = await storage.store(StorageMeter).measure({ now, channels });
      this.measuredAt = now;
      this.isUp = true;
      instruments.record('gauges_duration_seconds', (clock.elapsed() - began) / 1000);
      this.round?.ended();
    } catch (error) {
      this.isUp = false;
      if (!this.stopped) {
        const fields = { code: faultCode(error) };
        this.warnings.warn('The gauges could not be read from the storage.', fields, ` ${reasonOf(error)}`);
      }
    }
    this.begun = undefined;
    if (!this.stopped) this.cancel = clock.after(EVERY_MS, () => void this.measure());
  }

  private ofTheProcess(): void {
    const { instruments, outbox, storage, clock, rounds, books } = this;
    instruments.observe('accept_waiting', (observe) => observe(outbox.waiting));
    instruments.observe('storage_pool_waiting', (observe) => observe(storage.waiting()));
    instruments.observe('storage_up', (observe) => {
      const isStuck = this.begun !== undefined && clock.elapsed() - this.begun > PATIENCE_MS;
      observe(this.isUp && !isStuck ? 1 : 0);
    });
    instruments.observe('gauges_timestamp_seconds', (observe) => {
      if (this.measuredAt > 0) observe(this.measuredAt / 1000);
    });
    instruments.observe('worker_last_round_timestamp_seconds', (observe) => {
      for (const { worker, lastRound } of rounds.all()) if (lastRound !== undefined) observe(lastRound / 1000, worker);
    });
    instruments.observe('worker_round_interval_seconds', (observe) => {
      for (const { worker, everyMs } of rounds.all()) observe(everyMs / 1000, worker);
    });
    instruments.observe('ledger_findings', (observe) => {
      if (books.last) observe(books.last.findings);
    });
    instruments.observe('ledger_check_timestamp_seconds', (observe) => {
      if (books.last) observe(books.last.at / 1000);
    });
  }

  private ofCarriers(): void {
    const { instruments } = this;
    instruments.observe('route_usable', (observe) => {
      for (const { name, usable } of this.routes) observe(usable ? 1 : 0, name);
    });
    instruments.observe('route_breaker_open', (observe) => {
      for (const { name, breaker } of this.routes) {
        if (breaker !== undefined) observe(breaker === 'open' ? 1 : 0, name);
      }
    });
    instruments.observe('route_links', (observe) => {
      for (const { name, links } of this.routes) {
        if (links.length === 0) continue;
        const up = links.filter(({ state }) => state === 'up').length;
        observe(up, name, 'up');
        observe(links.length - up, name, 'down');
      }
    });
    instruments.observe('route_interruptions', (observe) => {
      for (const { name, interruptions } of this.routes) {
        if (!interruptions) continue;
        observe(interruptions.bind, name, 'bind');
        observe(interruptions.route, name, 'route');
      }
    });
    const total = (of: 'window' | 'inFlight') => (observe: (value: number, route: string) => void) => {
      for (const { name, links } of this.routes) {
        const bound = links.filter(({ state }) => state === 'up');
        if (links.length > 0)
          observe(
            bound.reduce((sum, link) => sum + link[of], 0),
            name,
          );
      }
    };
    instruments.observe('route_window_used', total('inFlight'));
    instruments.observe('route_window_size', total('window'));
  }

  private ofTheDatabase(): void {
    const { instruments, clock } = this;
    const seconds = (since: number) => Math.max(0, clock.now() - since) / 1000;
    const of = (
      name: Parameters<Instruments['observe']>[0],
      read: (measures: StorageMeasures, observe: Parameters<Parameters<Instruments['observe']>[1]>[0]) => void,
    ) =>
      instruments.observe(name, (observe) => {
        if (this.measures) read(this.measures, observe);
      });
    of('open_deliveries', ({ open }, observe) => {
      for (const { channel, status, count } of open) observe(count, channel, status);
    });
    of('scheduled', ({ scheduled }, observe) => {
      for (const { channel, count } of scheduled) observe(count, channel);
    });
    of('oldest_due_seconds', ({ due }, observe) => {
      for (const { name } of this.channels.all()) {
        for (const priority of PRIORITIES) {
          const oldest = due.find((each) => each.channel === name && each.priority === priority);
          observe(oldest ? seconds(oldest.since) : 0, name, priority);
        }
      }
    });
    of('low_accounts', ({ lowAccounts }, observe) => observe(lowAccounts));
    of('parked_receipts', ({ parkedReceipts }, observe) => observe(parkedReceipts));
    of('sessions', ({ sessions }, observe) => {
      for (const { channel, state, count } of sessions) observe(count, channel, state);
    });
    of('webhook_endpoints', ({ endpoints }, observe) => {
      for (const { state, count } of endpoints) observe(count, state);
    });
    of('campaigns', ({ campaigns }, observe) => {
      for (const { state, count } of campaigns) observe(count, state);
    });
    of('webhook_lag_seconds', ({ uncalledSince }, observe) =>
      observe(uncalledSince === undefined ? 0 : seconds(uncalledSince)),
    );
    of('storage_dead_rows', ({ deadRows }, observe) => {
      for (const { table, rows } of deadRows) observe(rows, table);
    });
    of('storage_oldest_snapshot_seconds', ({ oldestSnapshot }, observe) => {
      if (oldestSnapshot !== undefined) observe(oldestSnapshot);
    });
  }

  /** The present routes of SMS. A transport without `state` has none here. */
  private get routes(): readonly RouteState[] {
    return this.channels.ofType(SmsChannel).flatMap(({ carriers }) => carriers);
  }
}
