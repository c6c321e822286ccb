import { Injectable } from '@nestjs/common';
import type { HealthCheckName } from '../core/health-options.js';

/** `warning`: somebody should look, and requests are answered all the same. */
export type HealthState = 'ok' | 'warning' | 'failed';

/** What a check has found. */
export interface CheckResult {
  readonly check: HealthCheckName;
  /** What is checked where there are several, for instance a channel. */
  readonly subject?: string;
  readonly state: HealthState;
  /** One sentence, without numbers of phones, secrets and texts. */
  readonly text: string;
  /** How long it may have failed before that counts, in milliseconds; a warning until then. Default 0. */
  readonly graceMs?: number;
}

/** One thing that is checked. */
export interface HealthCheck {
  readonly check: HealthCheckName;
  readonly subject?: string;
  /** Asked once a second at most, and given up on after 800 ms. What it throws counts as a failure. */
  run(): readonly CheckResult[] | Promise<readonly CheckResult[]>;
}

/** The checks of an application. Capabilities add theirs before the application has started. */
@Injectable()
export class HealthChecks {
  private readonly checks: HealthCheck[] = [];

  add(check: HealthCheck): void {
    this.checks.push(check);
  }

  all(): readonly HealthCheck[] {
    return this.checks;
  }
}
