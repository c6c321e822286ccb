import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { within } from '../common/concurrency/async.js';
import { nameOf } from '../common/log.js';
import { HEALTH_CHECKS } from '../core/health-check.api.js';
import { HealthSettings } from '../core/health-options.js';
import { MessagingReadiness } from '../http/readiness.js';
import type { HealthCheckView, HealthReport, HealthState } from './health.api.js';
import { type CheckResult, type HealthCheck, HealthChecks } from './health-checks.js';

/**
 * How long results are used, in milliseconds. The checks run at most once in this time, however often the health is
 * read.
 */
const FRESH_MS = 1000;

/** How long a check may take, in milliseconds. It keeps every answer below a second. */
const PATIENCE_MS = 800;

/** A check's state and the time of its last change. */
interface Known {
  state: HealthState;
  /** Milliseconds since the epoch. */
  since: number;
  /** When the check began to fail, by the clock's `elapsed`; undefined: it does not fail. */
  failing: number | undefined;
}

/** A check that is running. `since` is its start by the clock's `elapsed`. */
interface Running {
  readonly results: Promise<readonly CheckResult[]>;
  readonly since: number;
}

/**
 * Whether this process can do its work. A host's own health routes can use it too.
 *
 * @example
 * ```ts
 * if (!(await health.isReady())) throw new ServiceUnavailableException();
 * ```
 */
@Injectable()
export class HealthService {
  private readonly known = new Map<string, Known>();
  private readonly running = new Map<HealthCheck, Running>();
  private latest: Promise<readonly HealthCheckView[]> | undefined;
  /** When the latest results were read, by the clock's `elapsed`. */
  private latestAt = 0;

  constructor(
    private readonly checks: HealthChecks,
    private readonly readiness: MessagingReadiness,
    private readonly settings: HealthSettings,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether the process should receive requests. False as soon as the application begins to shut down. Resolves within
   * a second.
   */
  async isReady(): Promise<boolean> {
    if (!this.readiness.isReady) return false;
    return (await this.report()).status === 'ok';
  }

  /** The results of all checks, up to a second old. Resolves within a second, even if a check hangs. */
  async report(): Promise<HealthReport> {
    const views = [...(await this.views()), this.processView()];
    const counts = ({ check }: HealthCheckView) => check === 'process' || this.settings.ready.includes(check);
    const isFine = views.every((view) => view.state !== 'failed' || !counts(view));
    return { status: isFine ? 'ok' : 'unavailable', checks: views };
  }

  private views(): Promise<readonly HealthCheckView[]> {
    const elapsed = this.clock.elapsed();
    if (!this.latest || elapsed - this.latestAt >= FRESH_MS) {
      this.latestAt = elapsed;
      this.latest = this.look();
    }
    return this.latest;
  }

  /** Runs the checks. The results are in the order of `HEALTH_CHECKS`, whatever the order in which modules start. */
  private async look(): Promise<readonly HealthCheckView[]> {
    const results = await Promise.all(this.checks.all().map((check) => this.resultsOf(check)));
    const placeOf = ({ check }: CheckResult) => HEALTH_CHECKS.indexOf(check);
    return results
      .flat()
      .sort((one, other) => placeOf(one) - placeOf(other))
      .map((result) => this.viewOf(result));
  }

  /** The results of a check. A check that hangs is not started a second time. */
  private async resultsOf(check: HealthCheck): Promise<readonly CheckResult[]> {
    const running = this.running.get(check) ?? this.begin(check);
    const leftMs = PATIENCE_MS - (this.clock.elapsed() - running.since);
    const results = leftMs > 0 ? await within(this.clock, leftMs, running.results) : undefined;
    return results ?? [failure(check, 'It does not answer.')];
  }

  private begin(check: HealthCheck): Running {
    const results = (async () => check.run())()
      .catch((error: unknown) => [failure(check, `It failed: ${nameOf(error)}.`)])
      .finally(() => this.running.delete(check));
    const running = { results, since: this.clock.elapsed() };
    this.running.set(check, running);
    return running;
  }

  private viewOf({ check, subject, state, text, graceMs = 0 }: CheckResult): HealthCheckView {
    const key = `${check} ${subject ?? ''}`;
    const elapsed = this.clock.elapsed();
    const known = this.known.get(key) ?? { state, since: this.clock.now(), failing: undefined };
    this.known.set(key, known);
    known.failing = state === 'failed' ? (known.failing ?? elapsed) : undefined;
    const isExcused = known.failing !== undefined && elapsed - known.failing < graceMs;
    const shown = isExcused ? 'warning' : state;
    if (known.state !== shown) Object.assign(known, { state: shown, since: this.clock.now() });
    return { check, subject: subject ?? null, state: shown, since: new Date(known.since).toISOString(), text };
  }

  private processView(): HealthCheckView {
    const { isReady } = this.readiness;
    const text = isReady ? 'The application runs.' : 'The application starts or shuts down.';
    return { check: 'process', subject: null, state: isReady ? 'ok' : 'failed', since: null, text };
  }
}

function failure({ check, subject }: HealthCheck, text: string): CheckResult {
  return { check, ...(subject !== undefined && { subject }), state: 'failed', text };
}
