import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { LedgerProgress } from '../../../billing/ledger-entry.js';
import { LedgerService } from '../../../billing/ledger-service.js';
import { Clock } from '../../../common/clock.js';
import { within } from '../../../common/concurrency/async.js';
import { MessagingError } from '../../../common/errors.js';
import { IdGenerator } from '../../../common/ids.js';
import { faultCode, faultLog, reasonOf } from '../../../common/log.js';
import { isoOf } from '../../../common/phone-numbers/iso.js';
import { MINUTE_MS } from '../../../common/time.js';
import { Idempotency } from '../../../outbox/idempotency.js';
import type { Acceptance } from '../../../outbox/outbox.js';
import type { LedgerCheckView } from '../operations.api.js';
import { type OperatorCallOptions, operatorCall } from '../operator-call.js';
import { type CheckRun, CheckRunStore } from './check-run-store.js';

/** For how long a check that reports no progress counts as running, in milliseconds. */
const LEASE_MS = MINUTE_MS;

/** The shortest time between two stored steps, in milliseconds. */
const STEP_MS = 1000;

/** How long a shutdown waits for a check to break off, in milliseconds. */
const STOP_MS = 5000;

/**
 * Checks the books in the background. Over all processes only one check runs at a time. Its result is kept until the next check
 * begins. The check goes on even if the client that asked for it has left.
 */
@Injectable()
export class LedgerChecks implements BeforeApplicationShutdown {
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly store: CheckRunStore,
    private readonly ledger: LedgerService,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** Begins a check. @throws MessagingError `error.check_running`, `error.storage_unavailable` */
  start(options: OperatorCallOptions = {}): Promise<Acceptance> {
    const { by, once, scope } = operatorCall('a check of the ledger', options);
    return this.idempotency.keeping(scope, 'manage/ledger/check', once, async () => {
      const [id, at] = [this.ids.next(), this.clock.now()];
      const entry = { accountId: undefined, at, by, action: 'ledger.checked', target: id } as const;
      if (!(await this.store.begin({ id, at, leaseUntil: at + LEASE_MS }, entry))) {
        throw new MessagingError('error.check_running');
      }
      this.running = this.run(id);
      return { id, state: 'running' };
    });
  }

  /** Returns the last check, whatever process ran it. @throws StorageUnavailableError */
  async last(): Promise<LedgerCheckView> {
    const run = await this.store.last(this.clock.now());
    return run ? checkView(run) : NONE;
  }

  /** Breaks off a running check, which then counts as failed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await within(this.clock, STOP_MS, this.running);
  }

  private async run(id: string): Promise<void> {
    let state: 'done' | 'failed' = 'failed';
    let findings: readonly string[] = [];
    try {
      findings = await this.check(id);
      state = 'done';
    } catch (error) {
      if (!(error instanceof Stopped)) {
        const sentence = `The check of the ledger broke off: ${reasonOf(error)}`;
        faultLog('LedgerChecks', this.clock).warn(sentence, { code: faultCode(error) });
      }
    }
    try {
      await this.store.end({ id, state, findings, at: this.clock.now() });
    } catch (error) {
      // The check counts as broken off when its lease is over.
      const sentence = `The result of the check could not be stored: ${reasonOf(error)}`;
      faultLog('LedgerChecks', this.clock).warn(sentence, { code: faultCode(error) });
    }
  }

  private async check(id: string): Promise<readonly string[]> {
    let reached: Pick<LedgerProgress, 'part' | 'checked'> | undefined;
    let storing: Promise<unknown> = Promise.resolve();
    let cancel: () => void = () => undefined;
    let reported: typeof reached;
    const reportProgress = () => {
      reported = reached;
      const { part, checked = 0 } = reached ?? {};
      return this.store.step({ id, part, checked, leaseUntil: this.clock.now() + LEASE_MS });
    };
    // A part may take longer than the lease, so a timer renews the lease.
    const beat = (age: number) => {
      cancel = this.clock.after(STEP_MS, () => {
        const isDue = reached !== reported || age >= LEASE_MS / 3;
        // An error is ignored, because the next step reports the progress again. If no step succeeds, the lease ends.
        if (isDue) storing = storing.then(reportProgress).catch(() => undefined);
        beat(isDue ? 0 : age + STEP_MS);
      });
    };
    beat(0);
    try {
      return await this.ledger.checkLedger({
        onProgress: (progress) => {
          if (this.stopped) throw new Stopped();
          reached = progress;
        },
      });
    } finally {
      cancel();
      await storing;
      if (reached !== reported) await reportProgress().catch(() => undefined);
    }
  }
}

/** Thrown to break off a check. */
class Stopped extends Error {}

const NONE: LedgerCheckView = {
  id: null,
  state: 'none',
  part: null,
  checked: 0,
  findings: [],
  started_at: null,
  ended_at: null,
};

function checkView({ id, state, part, checked, findings, startedAt, endedAt }: CheckRun): LedgerCheckView {
  return {
    id,
    state,
    part: part ?? null,
    checked,
    findings,
    started_at: isoOf(startedAt),
    ended_at: isoOf(endedAt),
  };
}
