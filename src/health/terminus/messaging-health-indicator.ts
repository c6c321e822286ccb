import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { HealthIndicatorResult } from '@nestjs/terminus';
import { loadPeer } from '../../common/load-peer.js';
import { HealthService } from '../health-service.js';

/** The data that the indicator adds to Terminus' result: the state of each check, by its name. */
export interface MessagingHealthData {
  readonly checks: Readonly<Record<string, string>>;
}

/**
 * Runs the checks of `GET …/health/ready` for a host that uses Terminus. List this class in the host's providers. It
 * needs the optional peer dependency `@nestjs/terminus`.
 *
 * @example
 * ```ts
 * @Get('healthz')
 * @HealthCheck()
 * check() {
 *   return this.health.check([() => this.messaging.isHealthy()]);
 * }
 * ```
 */
@Injectable()
export class MessagingHealthIndicator implements OnModuleInit {
  constructor(private readonly health: HealthService) {}

  /** @throws MessagingOptionsError that says what to install, if Terminus is missing */
  async onModuleInit(): Promise<void> {
    await loadPeer('MessagingHealthIndicator', '@nestjs/terminus', () => import('@nestjs/terminus'));
  }

  /**
   * Returns `down` if the process is not ready. Warnings are in the data and do not make it `down`.
   * @param key the name in the result
   */
  async isHealthy<const Key extends string = 'messaging'>(
    key: Key = 'messaging' as Key,
  ): Promise<HealthIndicatorResult<Key, 'up' | 'down', MessagingHealthData>> {
    const { status, checks } = await this.health.report();
    const states = checks.map(({ check, subject, state }) => [subject === null ? check : `${check} ${subject}`, state]);
    const result = { status: status === 'ok' ? 'up' : 'down', checks: Object.fromEntries(states) };
    return { [key]: result } as HealthIndicatorResult<Key, 'up' | 'down', MessagingHealthData>;
  }
}
