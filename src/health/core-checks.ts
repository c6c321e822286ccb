import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Rounds } from '../common/concurrency/rounds.js';
import { HealthSettings } from '../core/health-options.js';
import { type Channel, Channels } from '../outbox/channel.js';
import { OperatingSwitches } from '../outbox/operating-state.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import { StartedStorage } from '../storage/messaging-storage.js';
import { type CheckResult, HealthChecks } from './health-checks.js';

/** A worker counts as silent if it has missed this many rounds and its last round is at least `MIN_SILENT_MS` old. */
const ROUNDS_MISSED = 3;
const MIN_SILENT_MS = 30_000;

/** The checks of every application: the storage, the background workers, and how long deliveries wait. */
@Injectable()
export class CoreChecks implements OnModuleInit {
  constructor(
    private readonly checks: HealthChecks,
    private readonly storage: StartedStorage,
    private readonly rounds: Rounds,
    private readonly channels: Channels,
    private readonly switches: OperatingSwitches,
    private readonly settings: HealthSettings,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.checks.add({ check: 'storage', run: () => this.storageResults() });
    this.checks.add({ check: 'workers', run: () => [this.workers()] });
    this.checks.add({ check: 'queue', run: () => this.queues() });
  }

  private async storageResults(): Promise<readonly CheckResult[]> {
    const answers: CheckResult = { check: 'storage', state: 'ok', text: 'The storage answers.' };
    const { lacks, warnings = [], disk } = await this.storage.health();
    const storage: CheckResult =
      warnings.length === 0 ? answers : { ...answers, state: 'warning', text: `${answers.text} ${warnings.join(' ')}` };
    const schema: CheckResult =
      lacks.length === 0
        ? { check: 'schema', state: 'ok', text: 'The schema is current.' }
        : { check: 'schema', state: 'failed', text: `The schema lacks ${lacks.join(', ')}.` };
    if (!disk) return [storage, schema];
    const { diskFreeBytes } = this.settings;
    const state = disk.freeBytes >= diskFreeBytes ? 'ok' : 'failed';
    const text = `${mebibytes(disk.freeBytes)} are free where the database is; ${mebibytes(diskFreeBytes)} must be.`;
    return [storage, schema, { check: 'disk', state, text }];
  }

  private workers(): CheckResult {
    const silent = this.rounds
      .all()
      .filter(({ ageMs, everyMs }) => ageMs > Math.max(MIN_SILENT_MS, ROUNDS_MISSED * everyMs));
    if (silent.length === 0) return { check: 'workers', state: 'ok', text: 'Every worker had a round lately.' };
    // Nobody waits for workers that only remove expired data.
    const state = silent.every(({ isUpkeep }) => isUpkeep) ? 'warning' : 'failed';
    const named = silent.map(({ worker, ageMs }) => `${worker} (for ${Math.round(ageMs / 1000)} s)`);
    return { check: 'workers', state, text: `No successful round of: ${named.join(', ')}.` };
  }

  /**
   * Checks each channel's queue, except those of linked numbers: their deliveries wait for their number, whose session is
   * checked.
   */
  private queues(): Promise<readonly CheckResult[]> {
    return Promise.all(
      this.channels
        .all()
        .filter((channel) => !channel.lanes())
        .map((channel) => this.queue(channel)),
    );
  }

  /**
   * Checks one queue. A long wait is a failure only if readiness depends on this check and nothing is paused, because
   * deliveries may wait on purpose. Otherwise it is a warning.
   */
  private async queue({ name }: Channel): Promise<CheckResult> {
    const [due, paused] = await Promise.all([
      this.storage.store(OutboxStore).nextDue(name),
      this.switches.pausedOf(name),
    ]);
    const ageMs = due === undefined ? 0 : Math.max(0, this.clock.now() - due);
    const isLate = ageMs > this.settings.oldestDueMs;
    const late = paused === undefined && this.settings.ready.includes('queue') ? 'failed' : 'warning';
    const age = `The oldest delivery has been due for ${Math.round(ageMs / 1000)} s.`;
    const text = paused === undefined ? age : `${age} ${pauseText(paused)}`;
    return { check: 'queue', subject: name, state: isLate ? late : 'ok', text };
  }
}

function pauseText(paused: 'all' | readonly string[]): string {
  if (paused === 'all') return 'The queue is paused.';
  return `The queue is paused for ${paused.length} account${paused.length === 1 ? '' : 's'}.`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
