import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';

/**
 * Whether this process should receive requests: from the start of the application until its shutdown begins. It becomes false
 * before the first request is refused. So a host's health route that reads it takes the process out of a load balancer in time.
 *
 * @example
 * ```ts
 * if (!readiness.isReady) throw new ServiceUnavailableException();
 * ```
 */
@Injectable()
export class MessagingReadiness implements OnApplicationBootstrap {
  private ready = false;

  get isReady(): boolean {
    return this.ready;
  }

  onApplicationBootstrap(): void {
    this.ready = true;
  }

  /**
   * Called when the shutdown begins.
   * @internal
   */
  end(): void {
    this.ready = false;
  }
}
