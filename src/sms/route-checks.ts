import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MINUTE_MS } from '../common/time.js';
import { type CheckResult, HealthChecks } from '../health/health-checks.js';
import { DispatchSettings, roleDelivers } from '../outbox/delivery/dispatch-options.js';
import { SmsTransport } from './sms-transport.js';

/**
 * How long routes may be unusable before they count as away, in milliseconds. Links usually reconnect, and breakers close, by
 * themselves.
 */
const GRACE_MS = MINUTE_MS;

/** Checks whether there is a route that takes SMS, in a process that delivers SMS. */
@Injectable()
export class RouteChecks implements OnModuleInit {
  constructor(
    private readonly checks: HealthChecks,
    private readonly transport: SmsTransport,
    private readonly settings: DispatchSettings,
  ) {}

  onModuleInit(): void {
    if (roleDelivers(this.settings.role, 'no lanes')) this.checks.add({ check: 'routes', run: () => [this.routes()] });
  }

  private routes(): CheckResult {
    const routes = this.transport.state?.() ?? [];
    const away = routes.filter(({ usable }) => !usable).map(({ name }) => name);
    if (away.length === 0) return { check: 'routes', state: 'ok', text: 'Every route takes SMS.' };
    const state = away.length < routes.length ? 'warning' : 'failed';
    const text = `${state === 'failed' ? 'No route takes SMS' : 'Some routes take no SMS'}: ${away.join(', ')}.`;
    return { check: 'routes', state, text, graceMs: GRACE_MS };
  }
}
