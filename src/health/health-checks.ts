import { Injectable } from '@nestjs/common';
import type { HealthCheckName } from '../core/health-check.api.js';
import type { HealthState } from './health.api.js';

/** A result of a check. */
export interface CheckResult {
  readonly check: HealthCheckName;
  /** The checked part, if the check has several, for example the name of a channel. */
  readonly subject?: string;
  readonly state: HealthState;
  /** One sentence, without phone numbers, secrets and texts. */
  readonly text: string;
  /** How long the check may fail before it counts as failed, in milliseconds. Until then it is a warning. Default 0. */
  readonly graceMs?: number;
}

/** One check. */
export interface HealthCheck {
  readonly check: HealthCheckName;
  readonly subject?: string;
  /** Called at most once a second, and given up after 800 ms. An error that it throws counts as a failure. */
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
